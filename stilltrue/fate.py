"""What became of a note, in words: whether it holds, what replaced it, why, since when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stilltrue.chain import Chain, Telling
from stilltrue.lifecycle import Member, Status
from stilltrue.note import LinkKind
from stilltrue.voice import Voice, indented


class Fate(NamedTuple):
    """What the log says of a note besides its words. `state` is empty of a note that just holds.

    A line has the state before the words, since that is where a reader is warned in time, and the rest behind them.
    """

    state: str = ""
    remark: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, self))


def fate_of(member: Member, chain: Chain, voice: Voice, above: Sequence[str] = ()) -> Fate:
    """What became of a note: whether it holds, what replaced it, why, since when.

    `above` are the notes that stand right above it: a successor that is the only one there needs no naming.
    """
    why = ""
    match member.status:
        case Status.SUPERSEDED:
            return _superseded(member, chain, voice, above)
        case Status.REVOKED if member.revocation:
            by = f"; replaced by {_ids(member.superseders)}" if member.superseders else ""
            why = f'"{indented(member.revocation.reason)}"{by}'
            return Fate(f"RETRACTED on {voice.day(member.revocation.at)}", why)
        case Status.ERASED if member.erased_at:
            return Fate(f"ERASED on {voice.day(member.erased_at)}", "its words were removed for good")
        case Status.UNSETTLED:
            state, why = "NOT CONFIRMED", _fallen(member, chain, voice)
        case Status.EXPIRED if member.note.valid_until:
            state = f"EXPIRED on {voice.day(member.note.valid_until)}"
        case Status.PENDING if member.note.valid_from:
            state = f"NOT TRUE BEFORE {voice.day(member.note.valid_from)}"
        case _:
            state = ""
    return Fate(state, "; ".join(filter(None, (why, _refines(member, chain, voice)))))


def fates(telling: Telling, voice: Voice) -> dict[str, Fate]:
    """What became of the lead and the rest as they are told and, as of an earlier moment, what is known today."""
    told = {}
    above = telling.chain.lead
    for member in (*telling.lead, *telling.rest):
        fate = fate_of(member, telling.chain, voice, above)
        known = _hindsight(member, telling, voice)
        told[member.id] = Fate(fate.state, "; ".join(filter(None, (fate.remark, known))))
        above = above if member.id in telling.chain.lead else (member.id,)
    return told


def _superseded(member: Member, chain: Chain, voice: Voice, above: Sequence[str] = ()) -> Fate:
    wrong, said = False, []
    for other_id in member.superseders:
        other = chain.members[other_id]
        kind = next((link.kind for link in other.links if link.to == member.id), LinkKind.UPDATE)
        wrong = wrong or kind is LinkKind.CORRECTION
        verb = "corrected by" if kind is LinkKind.CORRECTION else "replaced by"
        by = "" if [*above] == [other_id] else f"{verb} [{other_id}] on {voice.day(other.note.recorded_at)}"
        if other.status is Status.ERASED:
            by = f"{verb} [{other_id}], which was erased"
        why = f'"{indented(other.reason)}"' if other.reason else ""
        said.append(": ".join(filter(None, (by, why))))
    return Fate("WRONG" if wrong else "no longer true", "; ".join(filter(None, said)))


def _fallen(member: Member, chain: Chain, voice: Voice) -> str:
    said = []
    for other_id in member.fallen:
        other = chain.members[other_id]
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
    mark = str(fate_of(now, telling.today, voice))
    if now.status is member.status:
        # The same status can have another cause by now: revoked again, for another reason.
        superseded = now.status is Status.SUPERSEDED
        before = member.superseders if superseded else str(fate_of(member, telling.chain, voice))
        if before == (now.superseders if superseded else mark):
            return ""
    return f"KNOWN TODAY: {mark}" if mark else f"KNOWN TODAY: {now.status}"


def _ids(ids: Iterable[str]) -> str:
    return ", ".join(f"[{note_id}]" for note_id in ids)
