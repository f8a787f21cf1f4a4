"""From exact ids to folded chains, and from a decided event to the entry that is appended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from stilltrue.chain import Chain, causal_past, chains
from stilltrue.errors import Refused
from stilltrue.event import Event
from stilltrue.ids import LENGTH
from stilltrue.lifecycle import STATES, Member, Status, Step, is_legal
from stilltrue.note import Note
from store.port import ChainRecord, Embedded, Entry, Log
from tools.support.context import ToolContext


@dataclass(frozen=True, slots=True)
class Found:
    """The chains that contain the notes of a call, folded as of now, each with its record."""

    pairs: tuple[tuple[Chain, ChainRecord], ...]

    def chain_of(self, note_id: str) -> Chain:
        return next(chain for chain, _ in self.pairs if note_id in chain.members)

    def record_of(self, note_id: str) -> ChainRecord:
        return next(record for chain, record in self.pairs if note_id in chain.members)

    def member(self, note_id: str) -> Member:
        return self.chain_of(note_id).members[note_id]

    @property
    def latest(self) -> datetime | None:
        """When the last of the events was recorded. New events must be later, whatever the clock says."""
        return max((event.at for _, record in self.pairs for event in record.events), default=None)


def find(context: ToolContext, note_ids: Sequence[str]) -> Found:
    """The chains of these notes. Refused if an id is not exactly that of a note."""
    records = context.store.chains_of(note_ids)
    moment = context.clock()
    pairs = tuple((chain, record) for record in records for chain in chains(record.events, moment))
    known = {note_id for chain, _ in pairs for note_id in chain.members}
    for note_id in note_ids:
        if note_id not in known:
            raise _unknown(note_id, context.store)
    return Found(pairs)


def require(step: Step, member: Member, chain: Chain, context: ToolContext, *, allow_fork: bool = False) -> None:
    """Refused if this step is not legal for the note now, saying what its status is and which steps are."""
    if is_legal(step, member):
        return
    status, note_id = member.status, member.id
    if step is Step.SUPERSEDE and allow_fork and status in {Status.SUPERSEDED, Status.REVOKED}:
        return
    what = f"note [{note_id}] is {status}: {STATES[status].meaning}"
    replaced = status is Status.SUPERSEDED or bool(member.superseders)
    if step in {Step.SUPERSEDE, Step.REFINE} and replaced:
        heads = ", ".join(f'[{head}] "{_brief(chain.members[head])}"' for head in chain.lead)
        raise Refused(
            "not_head",
            f"{what}. What holds in its chain now: {heads}.",
            f"If what you know applies to that note, call {step} on it.",
        )
    if step is Step.REINSTATE:
        hint = _instead(member)
        raise Refused("not_revoked", f"{what}. It is not revoked, so there is nothing to reinstate.", hint)
    if step is Step.REVOKE and status is Status.REVOKED and member.revocation:
        raise Refused(
            "already_revoked",
            f"note [{note_id}] was revoked on {context.formatter.time(member.revocation.at)}: "
            f'"{member.revocation.reason}".',
            "Nothing is left to do. To take the revocation back, call reinstate.",
        )
    legal = [each.value for each in Step if is_legal(each, member)]
    may = f"Possible for this note: {', '.join(legal)}." if legal else "Nothing can be done to it."
    raise Refused("illegal_step", f"{what}. {step} is not possible.", f"{may} Or remember a new note.")


def entry(
    event: Event,
    found: Found | None = None,
    embedded: Embedded | None = None,
    digest: str | None = None,
) -> Entry:
    """The entry of an event that bears on the chains of `found`, or that starts a chain of its own.

    It carries the subjects and classes of its whole causal past, see `store.port.Entry`.
    """
    embedded = embedded or Embedded()
    touched: dict[str, list[Note]] = {}
    for chain, record in found.pairs if found else ():
        touched.setdefault(min(record.ids), []).extend(member.note for member in chain.members.values())
    past = causal_past(event, touched)
    return Entry(
        event=event,
        chain=past.chain,
        joins=past.joins,
        subjects=past.subjects,
        klasses=past.klasses,
        digest=digest,
        vector=embedded.vector,
        sketch=embedded.sketch,
        index_entries=embedded.index_entries,
    )


def _unknown(note_id: str, log: Log) -> Refused:
    near = log.near_ids(note_id.lower())
    listed = ", ".join(f"[{each}]" for each in near)
    if near and len(note_id) < LENGTH and all(each.startswith(note_id.lower()) for each in near):
        what = f"{note_id!r} is the beginning of an id, not an id. Notes whose ids begin like this: {listed}."
        return Refused("ambiguous_id" if len(near) > 1 else "short_id", what, "Send the whole id.")
    nearest = f" The nearest ids: {listed}." if near else ""
    return Refused(
        "unknown_note",
        f"there is no note {note_id!r}.{nearest}",
        "Copy the 16-character id from an answer of recall, where it is [id]. Never guess ids.",
    )


def _instead(member: Member) -> str:
    match member.status:
        case Status.SUPERSEDED:
            by = ", ".join(f"[{each}]" for each in member.superseders)
            return f"It was replaced by {by}: revoke that, or supersede that with a note that repeats the old text."
        case Status.UNSETTLED:
            return "To confirm it, supersede it with a note that repeats it."
        case Status.EXPIRED:
            return "To make it hold again, remember it with a new valid_until."
        case Status.ERASED:
            return "What was erased cannot be restored. If it is true, remember it again."
    return "It does not need to be reinstated."


def _brief(member: Member) -> str:
    words = " ".join(member.note.text.split())
    return words if len(words) <= 100 else f"{words[:97]}..."
