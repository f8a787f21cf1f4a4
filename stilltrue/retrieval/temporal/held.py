"""What was said or held in a span, on real dates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from stilltrue.lifecycle import Member
from stilltrue.note import RETIRING
from stilltrue.retrieval.temporal.intent import Span


def holding(member: Member, members: Mapping[str, Member]) -> tuple[datetime, datetime | None]:
    """From when until when a note held, the end excluded; None where it still holds.

    It holds from its `valid_from`, or else from when it was recorded, until the first of these: its `valid_until`,
    its revocation, and the start of a note that replaced or corrected it. A revoked successor ends nothing.
    `members` are those of its chain.
    """
    ends = [_start(other) for other in members.values() if other.revocation is None and _replaces(other, member)]
    if member.note.valid_until is not None:
        ends.append(member.note.valid_until)
    if member.revocation is not None:
        ends.append(member.revocation.at)
    return _start(member), min(ends, default=None)


def held_in(member: Member, members: Mapping[str, Member], span: Span) -> bool:
    """Whether the note held at some moment of the span."""
    start, end = holding(member, members)
    return start < span[1] and (end is None or end > max(start, span[0]))


def said_in(member: Member, span: Span) -> bool:
    """Whether the note was recorded in the span."""
    return span[0] <= member.note.recorded_at < span[1]


def leading_in(members: Mapping[str, Member], span: Span) -> tuple[str, ...]:
    """The notes of a chain that were said or held in the span, by id: those that held longest in it first.

    Of two that held equally long the one that began later leads. A note that was only said in the span, and held in
    none of it, comes last.
    """
    found = [each for each in members.values() if said_in(each, span) or held_in(each, members, span)]
    return tuple(each.id for each in sorted(found, key=lambda each: (-_share(each, members, span), -_stamp(each))))


def _share(member: Member, members: Mapping[str, Member], span: Span) -> float:
    """How many seconds of the span the note held."""
    start, end = holding(member, members)
    until = span[1] if end is None else min(end, span[1])
    return max(0.0, (until - max(start, span[0])).total_seconds())


def _stamp(member: Member) -> float:
    return _start(member).timestamp()


def _start(member: Member) -> datetime:
    return member.note.valid_from or member.note.recorded_at


def _replaces(other: Member, member: Member) -> bool:
    return any(link.to == member.id and link.kind in RETIRING for link in other.links)
