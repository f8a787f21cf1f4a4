"""The lines a model reads.

Chains first, each with its current state leading and its history marked as history; the requirements last,
under a heading that says what they are, then nothing: a model obeys what stands last and labelled. The words
of a note are never at the start of a line, so that no note can pass for a heading.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stilltrue.chain import Chain, Delivery
from stilltrue.classes import DEFAULT_CLASS
from stilltrue.lifecycle import Member, Status
from stilltrue.note import USER
from stilltrue.requirements.binding import Requirement
from stilltrue.retrieval.budget import Line, Omitted, Packed
from stilltrue.text.formatting import Formatter, indented, inline
from stilltrue.text.status_text import StatusText, status_text_of, status_texts

REQUIREMENTS_HEADING = "REQUIREMENTS ({count}): rules, not notes. Your answer must respect every line below."
NO_REQUIREMENTS = "REQUIREMENTS: none for {subjects}."


def chain_lines(delivery: Delivery, formatter: Formatter, counts: tuple[int, int] | None = None) -> tuple[Line, ...]:
    """A chain as lines: what holds first, then what came before, newest first, then what is known since.

    `counts` are the retrievals in this session and in all.
    """
    chain, status_text, lines = delivery.chain, status_texts(delivery, formatter), []
    seen = f"recalled before: {counts[0]}x this session, {counts[1]}x in all" if counts and counts[1] else ""
    warning = _warning(chain)
    if warning:
        lines.append(Line(f"* {warning}", True, ""))
    for position, member in enumerate(delivery.lead):
        told = _told(member, status_text[member.id], formatter, seen if position == 0 else "")
        lines.append(Line(f"{'  = ' if warning else '* '}{told}", True, member.id))
    for member in delivery.rest:
        told = _told(member, status_text[member.id], formatter, like=delivery.lead[0], holding="also holds")
        must, wanted = member.id in delivery.must, member.id in delivery.wanted
        lines.append(Line(f"  {told}", must, member.id, wanted))
    for member in delivery.since:
        told = _told(member, status_text_of(member, delivery.today or chain, formatter), formatter)
        lines.append(Line(f"  since then: {told}", True, member.id))
    return tuple(lines)


def retraction_lines(chain: Chain, entered: Iterable[str], formatter: Formatter) -> tuple[Line, ...]:
    """A chain in which nothing holds, in a line for each revoked end, so that it is not learned again.

    The closure of what was entered is told whole. Empty where no end was revoked.
    """
    revoked = [chain.members[note_id] for note_id in chain.lead if chain.members[note_id].revocation]
    if not revoked:
        return ()
    closed = chain.closure([*(entry for entry in entered if entry in chain.members), *chain.lead])
    rest = [
        member
        for member in [*chain.members.values()][::-1]
        if member.id in closed and member.status is not Status.SUPERSEDED and member not in revoked
    ]
    lines: list[Line] = []
    for member in [*revoked, *rest]:
        told = _told(member, status_text_of(member, chain, formatter), formatter)
        lines.append(Line(f"{'  ' if lines else '* '}{told}", True, member.id))
    return tuple(lines)


def requirement_lines(requirement: Requirement, formatter: Formatter) -> tuple[Line, ...]:
    """The notes of a chain that bind, then all that is newer than they are in that chain."""
    chain = requirement.chain
    bound = [member.id for member in requirement.binding]
    lines = []
    if warning := _warning(chain):
        lines.append(Line(f"! {warning}", True, ""))
    for member in requirement.binding:
        doubt = "" if member.note.source == USER else f", NOT said by the user but by {inline(member.note.source)}"
        mark = str(status_text_of(member, chain, formatter))
        subjects = inline(", ".join(member.note.subjects))
        days = "; ".join([formatter.day(member.note.recorded_at), *_validity(member, formatter)])
        said = f"[{member.id}] ({subjects}; {days}{doubt})"
        text = f"! {inline(member.note.klass).upper()}: {indented(member.note.text)} {said}"
        lines.append(Line(f"{text} - {mark}" if mark else text, True, member.id))
    for member in chain.members.values():
        if member.id in chain.closure(bound) and member.id not in bound:
            told = _told(member, status_text_of(member, chain, formatter), formatter, holding="also holds")
            lines.append(Line(f"  {told}", True, member.id))
    return tuple(lines)


def page(
    packed: Sequence[Packed],
    omitted: Sequence[Omitted],
    required: Sequence[Packed],
    subjects: Iterable[str],
    notices: Sequence[str] = (),
    further: int = 0,
) -> str:
    """A whole answer to `recall`. `further` chains matched less well than the most that an answer may hold."""
    parts = [f"({indented(notice)})" for notice in notices]
    if packed:
        what = "1 memory" if len(packed) == 1 else f"{len(packed)} memories"
        more = f" ({further} more matched less well)" if further else ""
        parts.append(f"{what}, best match first{more}. * leads with what holds; indented lines are its history.")
        parts += [each.text for each in packed]
    else:
        parts.append("No memory to tell.")
    if omitted:
        names = ", ".join(f"{each.key} ({each.tokens} tokens)" for each in omitted)
        parts.append(f"Left out for lack of room, raise budget_tokens to see them: {names}.")
    parts.append(requirement_section(required, subjects))
    return "\n".join(parts)


def requirement_section(required: Sequence[Packed], subjects: Iterable[str]) -> str:
    """The requirements under their heading; nothing comes after them."""
    if not required:
        return NO_REQUIREMENTS.format(subjects=inline(", ".join(sorted(subjects))) or "anyone")
    heading = REQUIREMENTS_HEADING.format(count=len(required))
    return "\n".join([heading, *(each.text for each in required)])


def _told(
    member: Member,
    status_text: StatusText,
    formatter: Formatter,
    seen: str = "",
    like: Member | None = None,
    holding: str = "",
) -> str:
    """A note with what is known of it; what it shares with `like`, which stands above it, is not said again.

    Nor is what goes without saying: the user as its source, and the class of plain notes. `holding` stands before
    the words of one that holds.
    """
    note = member.note
    subjects, klass, source = (
        (like.note.subjects, like.note.klass, like.note.source) if like else ((), DEFAULT_CLASS, USER)
    )
    facts = [] if note.subjects == subjects else [inline(", ".join(note.subjects))]
    facts += [] if note.klass == klass else [inline(note.klass)]
    # The day that counts of what was withdrawn is the one in its state.
    days = [] if member.status is Status.REVOKED else [formatter.day(note.recorded_at)]
    said = [] if note.source == source else [f"said by {inline(note.source)}"]
    facts += filter(None, [" on ".join([*said, *days])])
    state = status_text.state or holding
    words = f"{state}: " if state else ""
    words += f"{indented(note.text)} " if note.text else ""
    known = "; ".join([*facts, *_validity(member, formatter), *([seen] if seen else [])])
    told = f"{words}[{note.id}] ({known})" if known else f"{words}[{note.id}]"
    return f"{told} - {status_text.remark}" if status_text.remark else told


def _validity(member: Member, formatter: Formatter) -> list[str]:
    note, said = member.note, []
    if note.valid_from and member.status is not Status.PENDING:
        said.append(f"valid from {formatter.day(note.valid_from)}")
    if note.valid_until and member.status is not Status.EXPIRED:
        said.append(f"valid until {formatter.day(note.valid_until)}")
    return said


def _warning(chain: Chain) -> str:
    if chain.cyclic:
        return "DAMAGED: these notes replace each other in a circle, so none can be called current:"
    if chain.contested:
        return "CONTESTED: these hold at once and none has replaced the other. Ask which is true, then supersede:"
    return ""
