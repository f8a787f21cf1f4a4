"""The status of a note in words: whether it holds, what replaced it, when and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stilltrue.chain import Chain, Delivery
from stilltrue.lifecycle import Member, Status
from stilltrue.note import LinkKind
from stilltrue.text.formatting import Formatter, because

_UNREADABLE = (
    "its stored bytes do not match their checksum: what it says, and what it replaced, is not known. Tell the user "
    "to run stilltrue check"
)


class StatusText(NamedTuple):
    """What a line says of a note besides its text. `state` is empty for a note that holds.

    The state is put before the text, where it warns the reader in time, and the remark after it.
    """

    state: str = ""
    remark: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, self))


def status_text_of(member: Member, chain: Chain, formatter: Formatter, above: Sequence[str] = ()) -> StatusText:
    """The status of a note in words.

    `above` are the notes shown right above it: if its successor is the only one there, it need not be named.
    """
    if member.note.unreadable and member.status is not Status.ERASED:
        return StatusText("DAMAGED", _UNREADABLE)
    why = ""
    match member.status:
        case Status.SUPERSEDED:
            return _superseded(member, chain, formatter, above)
        case Status.REVOKED if member.revocation:
            by = f"; replaced by {_ids(member.superseders)}" if member.superseders else ""
            why = f"{because(member.revocation.reason)}{by}"
            return StatusText(f"RETRACTED on {formatter.day(member.revocation.at)}", why)
        case Status.ERASED if member.erased_at:
            return StatusText(f"ERASED on {formatter.day(member.erased_at)}", "its text was removed for good")
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
    """The status texts of the lead and the rest; for an earlier moment, with what is known today."""
    texts = {}
    above = delivery.chain.lead
    for member in (*delivery.lead, *delivery.rest):
        status_text = status_text_of(member, delivery.chain, formatter, above)
        known = _hindsight(member, delivery, formatter)
        texts[member.id] = StatusText(status_text.state, "; ".join(filter(None, (status_text.remark, known))))
        above = above if member.id in delivery.chain.lead else (member.id,)
    return texts


def _superseded(member: Member, chain: Chain, formatter: Formatter, above: Sequence[str] = ()) -> StatusText:
    wrong, remarks = False, []
    for other_id in member.superseders:
        other = chain.members[other_id]
        kind = next((link.kind for link in other.links if link.to == member.id), LinkKind.UPDATE)
        wrong = wrong or kind is LinkKind.CORRECTION
        verb = "corrected by" if kind is LinkKind.CORRECTION else "replaced by"
        by = "" if [*above] == [other_id] else f"{verb} [{other_id}] on {formatter.day(other.note.recorded_at)}"
        if other.status is Status.ERASED:
            by = f"{verb} [{other_id}], which was erased"
        why = because(other.reason) if other.reason else ""
        remarks.append(": ".join(filter(None, (by, why))))
    return StatusText("WRONG" if wrong else "no longer true", "; ".join(filter(None, remarks)))


def _fallen(member: Member, chain: Chain, formatter: Formatter) -> str:
    """Why an unsettled note is not confirmed: what happened to each successor that is no longer in force."""
    remarks = []
    for other_id in member.fallen:
        other = chain.members[other_id]
        if other.revocation:
            why = f": {because(other.revocation.reason)}" if other.revocation.reason else ""
            remarks.append(f"its successor [{other_id}] was retracted on {formatter.day(other.revocation.at)}{why}")
        elif other.note.valid_until:
            remarks.append(f"its successor [{other_id}] expired on {formatter.day(other.note.valid_until)}")
    return "; ".join(remarks)


def _refines(member: Member, chain: Chain, formatter: Formatter) -> str:
    """That a note adds to others, with the status of each that is not current."""
    remarks = []
    for link in member.links:
        base = chain.members.get(link.to)
        if link.kind is LinkKind.REFINEMENT and base:
            status_text = ""
            if base.status is Status.REVOKED and base.revocation:
                day, why = formatter.day(base.revocation.at), because(base.revocation.reason)
                status_text = f", which was retracted on {day}: {why}"
            elif base.status is Status.SUPERSEDED:
                status_text = f", which is {_superseded(base, chain, formatter)}"
            elif base.status is not Status.CURRENT:
                status_text = f", which is {base.status}"
            remarks.append(f"adds to [{link.to}]{status_text}")
    return "; ".join(remarks)


def _hindsight(member: Member, delivery: Delivery, formatter: Formatter) -> str:
    """What is known today of a note that is shown as of an earlier moment, if that differs."""
    now = delivery.today.members.get(member.id) if delivery.today else None
    if delivery.today is None or now is None:
        return ""
    mark = str(status_text_of(now, delivery.today, formatter))
    if now.status is member.status:
        # The same status can have another cause by now: the note may have been revoked again for another reason.
        superseded = now.status is Status.SUPERSEDED
        before = member.superseders if superseded else str(status_text_of(member, delivery.chain, formatter))
        if before == (now.superseders if superseded else mark):
            return ""
    return f"KNOWN TODAY: {mark}" if mark else f"KNOWN TODAY: {now.status}"


def _ids(ids: Iterable[str]) -> str:
    return ", ".join(f"[{note_id}]" for note_id in ids)
