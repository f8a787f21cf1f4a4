"""The lines a model reads.

Chains first, each with its current state leading and its history marked as history; the requirements last,
under a heading that says what they are, then nothing: a model obeys what stands last and labelled. The words
of a note are never at the start of a line, so that no note can pass for a heading.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from types import MappingProxyType

from stilltrue.budget import Line, Omitted, Packed
from stilltrue.chain import Chain, Telling
from stilltrue.lifecycle import Member, Status
from stilltrue.note import USER, LinkKind
from stilltrue.requirement import Requirement

REQUIREMENTS_HEADING = "REQUIREMENTS ({count}): rules, not notes. Your answer must respect every line below."
_STANDS: Mapping[Status, str] = MappingProxyType(
    {
        Status.CURRENT: "",
        Status.SUPERSEDED: "REPLACED: ",
        Status.UNSETTLED: "NOT CONFIRMED: ",
        Status.PENDING: "NOT YET TRUE: ",
        Status.EXPIRED: "EXPIRED: ",
        Status.REVOKED: "RETRACTED: ",
        Status.ERASED: "ERASED: ",
    }
)
"""What stands before a note that leads, by its status."""

NO_REQUIREMENTS = "REQUIREMENTS: none for {subjects}."


@dataclass(frozen=True, slots=True)
class Voice:
    """How times are told: dates in `zone`."""

    zone: tzinfo

    def day(self, moment: datetime) -> str:
        """The date, as 2026-03-04."""
        return moment.astimezone(self.zone).date().isoformat()

    def time(self, moment: datetime) -> str:
        """Date, time and offset, to the second."""
        return moment.astimezone(self.zone).isoformat(timespec="seconds")


def chain_lines(telling: Telling, voice: Voice, counts: tuple[int, int] | None = None) -> tuple[Line, ...]:
    """A chain as lines: what holds first, then what came before, newest first, then what is known since.

    `counts` are the retrievals in this session and in all.
    """
    chain, lines = telling.chain, []
    seen = f"; recalled before: {counts[0]}x this session, {counts[1]}x in all" if counts and counts[1] else ""
    warning = _warning(chain)
    if warning:
        lines.append(Line(f"* {warning}", True, ""))
    for position, member in enumerate(telling.lead):
        told = _told(member, mark_told(member, telling, voice), voice, seen if position == 0 else "")
        lines.append(Line(f"{'  = ' if warning else '* '}{_STANDS[member.status]}{told}", True, member.id))
    for member in telling.rest:
        told = _told(member, mark_told(member, telling, voice), voice, like=telling.lead[0])
        must, wanted = member.id in telling.must, member.id in telling.wanted
        lines.append(Line(f"  {_label(member)}{told}", must, member.id, wanted))
    for member in telling.since:
        mark = mark_of(member, telling.today or chain, voice)
        lines.append(Line(f"  since then: {_told(member, mark, voice)}", True, member.id))
    return tuple(lines)


def retraction_lines(chain: Chain, entered: Iterable[str], voice: Voice) -> tuple[Line, ...]:
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
        told = _told(member, mark_of(member, chain, voice), voice)
        lines.append(Line(f"{'  ' if lines else '* '}{_STANDS[member.status]}{told}", True, member.id))
    return tuple(lines)


def requirement_lines(requirement: Requirement, voice: Voice) -> tuple[Line, ...]:
    """The notes of a chain that bind, then all that is newer than they are in that chain."""
    chain = requirement.chain
    bound = [member.id for member in requirement.binding]
    lines = []
    if warning := _warning(chain):
        lines.append(Line(f"! {warning}", True, ""))
    for member in requirement.binding:
        doubt = "" if member.note.source == USER else f", NOT said by the user but by {_inline(member.note.source)}"
        mark = mark_of(member, chain, voice)
        subjects = _inline(", ".join(member.note.subjects))
        said = f"[{member.id}] ({subjects}; {voice.day(member.note.recorded_at)}{_validity(member, voice)}{doubt})"
        text = f"! {_inline(member.note.klass).upper()}: {indented(member.note.text)} {said}"
        lines.append(Line(f"{text} - {mark}" if mark else text, True, member.id))
    for member in chain.members.values():
        if member.id in chain.closure(bound) and member.id not in bound:
            mark = mark_of(member, chain, voice)
            lines.append(Line(f"  {_label(member)}{_told(member, mark, voice)}", True, member.id))
    return tuple(lines)


def mark_of(member: Member, chain: Chain, voice: Voice, above: Sequence[str] = ()) -> str:
    """What the log says of a note besides its words: what replaced it, why, since when. Empty if it just holds.

    `above` are the leads that stand right above it: a successor that is the only one needs no naming.
    """
    known = chain.members
    match member.status:
        case Status.SUPERSEDED:
            return _superseded(member, chain, voice, above)
        case Status.REVOKED if member.revocation:
            why = indented(member.revocation.reason)
            by = f"; replaced by {_ids(member.superseders)}" if member.superseders else ""
            return f'retracted on {voice.day(member.revocation.at)}: "{why}"{by}'
        case Status.UNSETTLED:
            mark = f"the prior value, not confirmed: {_fallen(member, known, voice)}"
        case Status.EXPIRED if member.note.valid_until:
            mark = f"expired on {voice.day(member.note.valid_until)}"
        case Status.PENDING if member.note.valid_from:
            mark = f"holds from {voice.day(member.note.valid_from)}"
        case Status.ERASED if member.erased_at:
            return f"erased on {voice.day(member.erased_at)}: its words were removed for good"
        case _:
            mark = ""
    return "; ".join(filter(None, (mark, _refines(member, chain, voice))))


def mark_told(member: Member, telling: Telling, voice: Voice) -> str:
    """The mark of a member of the told chain and, as of an earlier moment, what is known of it today."""
    above = () if telling.today else telling.chain.lead
    marks = (mark_of(member, telling.chain, voice, above), _hindsight(member, telling, voice))
    return "; ".join(mark for mark in marks if mark)


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
        return NO_REQUIREMENTS.format(subjects=_inline(", ".join(sorted(subjects))) or "anyone")
    heading = REQUIREMENTS_HEADING.format(count=len(required))
    return "\n".join([heading, *(each.text for each in required)])


def indented(text: str) -> str:
    """The words of a note or a reason, with every further line pushed in, so that none can pass for ours."""
    return "\n      ".join(text.splitlines())


def _inline(text: str) -> str:
    """A name or a word from outside on one line, so that it cannot start one either."""
    return " ".join(text.split())


def _told(member: Member, mark: str, voice: Voice, seen: str = "", like: Member | None = None) -> str:
    """A note with what is known of it; what it shares with `like`, which stands above it, is not said again."""
    note = member.note
    above = like.note if like else None
    facts = [] if above and above.subjects == note.subjects else [_inline(", ".join(note.subjects))]
    facts += [] if above and above.klass == note.klass else [_inline(note.klass)]
    said = "" if above and above.source == note.source else f"said by {_inline(note.source)} on "
    facts.append(f"{said}{voice.day(note.recorded_at)}")
    words = f"{indented(note.text)} " if note.text else ""
    told = f"{words}[{note.id}] ({'; '.join(facts)}{_validity(member, voice)}{seen})"
    return f"{told} - {mark}" if mark else told


def _validity(member: Member, voice: Voice) -> str:
    note, said = member.note, ""
    if note.valid_from and member.status is not Status.PENDING:
        said += f"; valid from {voice.day(note.valid_from)}"
    if note.valid_until and member.status is not Status.EXPIRED:
        said += f"; valid until {voice.day(note.valid_until)}"
    return said


def _label(member: Member) -> str:
    match member.status:
        case Status.PENDING:
            return "to come: "
        case Status.CURRENT:
            return "also holds: "
        case Status.UNSETTLED:
            return "not confirmed: "
    return "history: "


def _warning(chain: Chain) -> str:
    if chain.cyclic:
        return "DAMAGED: these notes replace each other in a circle, so none can be called current:"
    if chain.contested:
        return "CONTESTED: these hold at once and none has replaced the other. Ask which is true, then supersede:"
    return ""


def _superseded(member: Member, chain: Chain, voice: Voice, above: Sequence[str] = ()) -> str:
    said = []
    for other_id in member.superseders:
        other = chain.members[other_id]
        if other.status is Status.ERASED:
            said.append(f"replaced by [{other_id}], which was erased")
            continue
        kind = next((link.kind for link in other.links if link.to == member.id), LinkKind.UPDATE)
        verb = "WRONG, corrected" if kind is LinkKind.CORRECTION else "no longer true, replaced"
        why = f': "{indented(other.reason)}"' if other.reason else ""
        by = "" if [*above] == [other_id] else f" by [{other_id}]"
        said.append(f"{verb}{by} on {voice.day(other.note.recorded_at)}{why}")
    return "; ".join(said)


def _fallen(member: Member, members: Mapping[str, Member], voice: Voice) -> str:
    said = []
    for other_id in member.fallen:
        other = members[other_id]
        if other.revocation:
            why = f': "{indented(other.revocation.reason)}"' if other.revocation.reason else ""
            said.append(f"its successor [{other_id}] was retracted on {voice.day(other.revocation.at)}{why}")
        elif other.note.valid_until:
            said.append(f"its successor [{other_id}] expired on {voice.day(other.note.valid_until)}")
    return "; ".join(said)


def _refines(member: Member, chain: Chain, voice: Voice) -> str:
    """That a note adds to another, and what became of that other where it no longer holds."""
    said = []
    for link in member.links:
        base = chain.members.get(link.to)
        if link.kind is LinkKind.REFINEMENT and base:
            fate = ""
            if base.status is Status.REVOKED and base.revocation:
                fate = (
                    f', which was retracted on {voice.day(base.revocation.at)}: "{indented(base.revocation.reason)}"'
                )
            elif base.status is Status.SUPERSEDED:
                fate = f", which is {_superseded(base, chain, voice)}"
            elif base.status is not Status.CURRENT:
                fate = f", which is {base.status}"
            said.append(f"adds to [{link.to}]{fate}")
    return "; ".join(said)


def _hindsight(member: Member, telling: Telling, voice: Voice) -> str:
    """What is known today of a note that is told as of an earlier moment, where that differs."""
    now = telling.today.members.get(member.id) if telling.today else None
    if telling.today is None or now is None:
        return ""
    mark = mark_of(now, telling.today, voice)
    if now.status is member.status:
        # The same status can have another cause by now: revoked again, for another reason.
        superseded = now.status is Status.SUPERSEDED
        before = member.superseders if superseded else mark_of(member, telling.chain, voice)
        if before == (now.superseders if superseded else mark):
            return ""
    return f"KNOWN TODAY: {mark}" if mark else f"KNOWN TODAY: {now.status}"


def _ids(ids: Iterable[str]) -> str:
    return ", ".join(f"[{note_id}]" for note_id in ids)
