"""The lines that a model reads.

Chains come first, each with its current state leading and its history marked as history. The requirements come last,
under a heading that says what they are, and nothing follows them: a model obeys what is last and labelled. Stored
text never starts a line, so that no note can pass for a heading.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from stilltrue.chain import Chain, Delivery
from stilltrue.classes import DEFAULT_CLASS
from stilltrue.lifecycle import Member, Status
from stilltrue.note import USER
from stilltrue.requirements.binding import Requirement
from stilltrue.text.budget import Line, Omitted, Packed
from stilltrue.text.formatting import Formatter, indented, name, names, stated
from stilltrue.text.status_text import StatusText, status_text_of, status_texts

REQUIREMENTS_HEADING = (
    "REQUIREMENTS ({count}): these are requirements, not notes. Your answer must respect every line below."
)
NO_REQUIREMENTS = "REQUIREMENTS: none for {subjects}."
UNREADABLE_REQUIREMENT = "there is a requirement here that cannot be read. Ask the user what it says."
NONE_LISTED = "REQUIREMENTS: none are listed here."

_NOBODY: Mapping[str, int] = MappingProxyType({})
_NAMED = 8
"""So many subjects are named that have requirements which are not in play."""


@dataclass(frozen=True, slots=True)
class RenderedChain:
    """A chain as lines: what leads, then the rest, newest first, then what was recorded since.

    `status_texts` are those of every note in the delivery, by id.
    """

    delivery: Delivery
    status_texts: Mapping[str, StatusText]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class RenderedRequirement:
    """The notes of a chain that bind, then all of the chain that is newer than they are, as lines.

    `newer` are the latter, and `status_texts` those of both, by id.
    """

    requirement: Requirement
    newer: tuple[Member, ...]
    status_texts: Mapping[str, StatusText]
    lines: tuple[Line, ...]


def render_chain(delivery: Delivery, formatter: Formatter) -> RenderedChain:
    """The whole chain."""
    chain, texts, lines = delivery.chain, status_texts(delivery, formatter), []
    warning = _warning(chain)
    if warning:
        lines.append(Line(f"* {warning}", True, ""))
    for member in delivery.lead:
        line = _note_line(member, texts[member.id], formatter)
        lines.append(Line(f"{'  = ' if warning else '* '}{line}", True, member.id))
    for member in delivery.rest:
        line = _note_line(member, texts[member.id], formatter, above=delivery.lead[0], holding="also holds")
        must, wanted = member.id in delivery.must, member.id in delivery.wanted
        lines.append(Line(f"  {line}", must, member.id, wanted))
    for member in delivery.since:
        texts[member.id] = status_text_of(member, delivery.today or chain, formatter)
        lines.append(Line(f"  since then: {_note_line(member, texts[member.id], formatter)}", True, member.id))
    return RenderedChain(delivery, texts, tuple(lines))


def without_history(rendered: RenderedChain, entered: Iterable[str], formatter: Formatter) -> RenderedChain:
    """The same chain with the lines of `retraction_lines`: nothing in it holds."""
    return replace(rendered, lines=retraction_lines(rendered.delivery.chain, entered, formatter))


def retraction_lines(chain: Chain, entered: Iterable[str], formatter: Formatter) -> tuple[Line, ...]:
    """A chain in which nothing holds, as one line for each revoked end, so that it is not learned again.

    The whole forward closure of `entered` is included. Empty if no end of the chain was revoked.
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
        line = _note_line(member, status_text_of(member, chain, formatter), formatter)
        lines.append(Line(f"{'  ' if lines else '* '}{line}", True, member.id))
    return tuple(lines)


def render_requirement(requirement: Requirement, formatter: Formatter) -> RenderedRequirement:
    """All of the requirement: no budget cuts it."""
    chain = requirement.chain
    bound = [member.id for member in requirement.binding]
    closed = chain.closure(bound).difference(bound)
    newer = tuple(member for member in chain.members.values() if member.id in closed)
    texts = {member.id: status_text_of(member, chain, formatter) for member in (*requirement.binding, *newer)}
    lines = []
    if warning := _warning(chain):
        lines.append(Line(f"! {warning}", True, ""))
    lines += [
        Line(_requirement_line(member, str(texts[member.id]), formatter), True, member.id)
        for member in requirement.binding
    ]
    for member in newer:
        line = _note_line(member, texts[member.id], formatter, holding="not a requirement")
        lines.append(Line(f"  {line}", True, member.id))
    return RenderedRequirement(requirement, newer, texts, tuple(lines))


def _requirement_line(member: Member, mark: str, formatter: Formatter) -> str:
    note = member.note
    doubt = "" if note.source == USER else f", NOT said by the user but by {name(note.source)}"
    subjects = names(note.subjects)
    days = "; ".join([formatter.day(note.recorded_at), *_validity(member, formatter)])
    text = UNREADABLE_REQUIREMENT if note.unreadable else stated(note.text)
    line = f"! {name(note.klass).upper()}: {text} [{note.id}] ({subjects}; {days}{doubt})"
    return f"{line} - {mark}" if mark else line


def page(
    packed: Sequence[Packed],
    omitted: Sequence[Omitted],
    required: Sequence[Packed],
    subjects: Iterable[str],
    notices: Sequence[str] = (),
    further: int = 0,
    withheld: Mapping[str, int] = _NOBODY,
    others: Mapping[str, int] = _NOBODY,
) -> str:
    """A whole answer to `recall`. `further` chains were found beyond the maximum for an answer."""
    parts = [f"({indented(notice)})" for notice in notices]
    if packed:
        what = "1 memory" if len(packed) == 1 else f"{len(packed)} memories"
        more = f" ({further} weaker matches not shown)" if further else ""
        parts.append(f"{what}, best match first{more}. * marks the current state; indented lines are history.")
        parts += [each.text for each in packed]
    else:
        parts.append("No matching memories.")
    if omitted:
        names = ", ".join(f"{each.key} ({each.tokens} tokens)" for each in omitted)
        parts.append(f"Left out for lack of room; raise budget_tokens to see them: {names}.")
    parts.append(requirement_section(required, subjects, withheld, others))
    return "\n".join(parts)


def requirement_section(
    required: Sequence[Packed],
    subjects: Iterable[str],
    withheld: Mapping[str, int] = _NOBODY,
    others: Mapping[str, int] = _NOBODY,
) -> str:
    """The requirements under their heading; nothing comes after them.

    `withheld` are subjects with too many requirements to list. `others` are the subjects that have requirements
    where none is listed, so that "none" never means that there are none at all.
    """
    lines = [
        f"! {count} requirements of {name(subject)} are not listed: before you act for {name(subject)}, call "
        f"constraints(subjects={json.dumps([subject])})."
        for subject, count in sorted(withheld.items())
    ]
    if required or lines:
        heading = REQUIREMENTS_HEADING.format(count=len(required)) if required else NONE_LISTED
        return "\n".join([heading, *(each.text for each in required), *lines])
    nobody = NO_REQUIREMENTS.format(subjects=names(sorted(subjects)) or "anyone")
    if not others:
        return nobody
    whose = ", ".join(f"{name(subject)} {count}" for subject, count in sorted(others.items())[:_NAMED])
    more = f", and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return f"{nobody} Others have some ({whose}{more}): constraints returns them."


def _note_line(
    member: Member,
    status_text: StatusText,
    formatter: Formatter,
    above: Member | None = None,
    holding: str = "",
) -> str:
    """A note with its facts, without those that the note `above` it has shown already.

    Defaults are left out too, to save tokens: the user as the source, and the class of plain notes. `holding` is put
    before the text of a note that holds.
    """
    note = member.note
    subjects, klass, source = (
        (above.note.subjects, above.note.klass, above.note.source) if above else ((), DEFAULT_CLASS, USER)
    )
    facts = [] if note.subjects == subjects else [names(note.subjects)]
    facts += [] if note.klass == klass else [name(note.klass)]
    # For a revoked note the date that matters is that of the revocation, which its state shows.
    days = [] if member.status is Status.REVOKED else [formatter.day(note.recorded_at)]
    by = [] if note.source == source else [f"said by {name(note.source)}"]
    facts += filter(None, [" on ".join([*by, *days])])
    state = status_text.state or holding
    text = f"{state}: " if state else ""
    text += f"{stated(note.text)} " if note.text else ""
    known = "; ".join([*facts, *_validity(member, formatter)])
    line = f"{text}[{note.id}] ({known})" if known else f"{text}[{note.id}]"
    return f"{line} - {status_text.remark}" if status_text.remark else line


def _validity(member: Member, formatter: Formatter) -> list[str]:
    """The bounds of its validity, without the one that its state shows."""
    note, bounds = member.note, []
    if note.valid_from and member.status is not Status.PENDING:
        bounds.append(f"valid from {formatter.day(note.valid_from)}")
    if note.valid_until and member.status is not Status.EXPIRED:
        bounds.append(f"valid until {formatter.last_day(note.valid_until)}")
    return bounds


def _warning(chain: Chain) -> str:
    if chain.cyclic:
        return "DAMAGED: these notes replace each other in a circle, so none of them is known to be current:"
    if chain.contested:
        return "CONTESTED: these notes all hold, and none has replaced another. Ask which is true, then supersede:"
    return ""
