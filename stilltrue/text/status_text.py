"""What became of a note, in words: whether it holds, what replaced it, why, since when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stilltrue.chain import Chain, Delivery
from stilltrue.lifecycle import Member, Status
from stilltrue.note import LinkKind
from stilltrue.text.formatting import Formatter, indented


class StatusText(NamedTuple):
    """What the log says of a note besides its words. `state` is empty of a note that just holds.

    A line has the state before the words, since that is where a reader is warned in time, and the rest behind them.
    """

    state: str = ""
    remark: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, self))


def status_text_of(member: Member, chain: Chain, formatter: Formatter, above: Sequence[str] = ()) -> StatusText:
    """What became of a note: whether it holds, what replaced it, why, since when.

    `above` are the notes that stand right above it: a successor that is the only one there needs no naming.
    """
    why = ""
    match member.status:
        case Status.SUPERSEDED:
            return _superseded(member, chain, formatter, above)
        case Status.REVOKED if member.revocation:
            by = f"; replaced by {_ids(member.superseders)}" if member.superseders else ""
            why = f'"{indented(member.revocation.reason)}"{by}'
            return StatusText(f"RETRACTED on {formatter.day(member.revocation.at)}", why)
        case Status.ERASED if member.erased_at:
            return StatusText(f"ERASED on {formatter.day(member.erased_at)}", "its words were removed for good")
        case Status.UNSETTLED:
            state, why = "NOT CONFIRMED", _fallen(member, chain, formatter)
        case Status.EXPIRED if member.note.valid_until:
            state = f"EXPIRED on {formatter.day(member.note.valid_until)}"
        case Status.PENDING if member.note.valid_from:
            state = f"NOT TRUE BEFORE {formatter.day(member.note.valid_from)}"
        case _:
            state = ""
    return StatusText(state, "; ".join(filter(None, (why, _refines(member, chain, formatter)))))


def status_texts(delivery: Delivery, formatter: Formatter) -> dict[str, StatusText]:
    """What became of the lead, the rest and what came since, as they are told; of then, what is known today."""
    told = {}
    above = delivery.chain.lead
    for member in (*delivery.lead, *delivery.rest):
        status_text = status_text_of(member, delivery.chain, formatter, above)
        known = _hindsight(member, delivery, formatter)
        told[member.id] = StatusText(status_text.state, "; ".join(filter(None, (status_text.remark, known))))
        above = above if member.id in delivery.chain.lead else (member.id,)
    for member in delivery.since:
        told[member.id] = status_text_of(member, delivery.today or delivery.chain, formatter)
    return told


def _superseded(member: Member, chain: Chain, formatter: Formatter, above: Sequence[str] = ()) -> StatusText:
    wrong, said = False, []
    for other_id in member.superseders:
        other = chain.members[other_id]
        kind = next((link.kind for link in other.links if link.to == member.id), LinkKind.UPDATE)
        wrong = wrong or kind is LinkKind.CORRECTION
        verb = "corrected by" if kind is LinkKind.CORRECTION else "replaced by"
        by = "" if [*above] == [other_id] else f"{verb} [{other_id}] on {formatter.day(other.note.recorded_at)}"
        if other.status is Status.ERASED:
            by = f"{verb} [{other_id}], which was erased"
        why = f'"{indented(other.reason)}"' if other.reason else ""
        said.append(": ".join(filter(None, (by, why))))
    return StatusText("WRONG" if wrong else "no longer true", "; ".join(filter(None, said)))


def _fallen(member: Member, chain: Chain, formatter: Formatter) -> str:
    said = []
    for other_id in member.fallen:
        other = chain.members[other_id]
        if other.revocation:
            why = f': "{indented(other.revocation.reason)}"' if other.revocation.reason else ""
            said.append(f"its successor [{other_id}] was retracted on {formatter.day(other.revocation.at)}{why}")
        elif other.note.valid_until:
            said.append(f"its successor [{other_id}] expired on {formatter.day(other.note.valid_until)}")
    return "; ".join(said)


def _refines(member: Member, chain: Chain, formatter: Formatter) -> str:
    """That a note adds to another, and what became of that other where it no longer holds."""
    said = []
    for link in member.links:
        base = chain.members.get(link.to)
        if link.kind is LinkKind.REFINEMENT and base:
            status_text = ""
            if base.status is Status.REVOKED and base.revocation:
                day, why = formatter.day(base.revocation.at), indented(base.revocation.reason)
                status_text = f', which was retracted on {day}: "{why}"'
            elif base.status is Status.SUPERSEDED:
                status_text = f", which is {_superseded(base, chain, formatter)}"
            elif base.status is not Status.CURRENT:
                status_text = f", which is {base.status}"
            said.append(f"adds to [{link.to}]{status_text}")
    return "; ".join(said)


def _hindsight(member: Member, delivery: Delivery, formatter: Formatter) -> str:
    """What is known today of a note that is told as of an earlier moment, where that differs."""
    now = delivery.today.members.get(member.id) if delivery.today else None
    if delivery.today is None or now is None:
        return ""
    mark = str(status_text_of(now, delivery.today, formatter))
    if now.status is member.status:
        # The same status can have another cause by now: revoked again, for another reason.
        superseded = now.status is Status.SUPERSEDED
        before = member.superseders if superseded else str(status_text_of(member, delivery.chain, formatter))
        if before == (now.superseders if superseded else mark):
            return ""
    return f"KNOWN TODAY: {mark}" if mark else f"KNOWN TODAY: {now.status}"


def _ids(ids: Iterable[str]) -> str:
    return ", ".join(f"[{note_id}]" for note_id in ids)
