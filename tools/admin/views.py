"""What can be read without calling a tool: a chain, a session, the state of the store, and what needs a review."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stilltrue.chain import Chain, Delivery, chains, deliver
from stilltrue.lifecycle import Status
from stilltrue.note import canonical_subject
from stilltrue.text.render import render_chain
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.lookup import find

_MOST_REVIEWED = 20
_MOST_COMPLETED = 100


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A note that a session has retrieved, with its status as of now."""

    id: str
    text: str
    status: str
    retrieved_session: int
    retrieved_total: int
    last: str


@dataclass(frozen=True, slots=True)
class State:
    """What a store reports of itself. `degraded` says why it is searched by words only, if it is."""

    location: str
    schema_version: int
    fingerprint: str
    degraded: str
    notes: int
    rows: int
    size_bytes: int
    problems: tuple[str, ...]


def chain_page(context: ToolContext, note_id: str) -> str:
    """The whole chain of this note: what holds, and all of its history. Refused if there is no such note."""
    (target,) = validation.note_ids([note_id], context.limits)
    delivery = deliver(find(context, [target]).chain_of(target), [target])
    return _lines(delivery, context)


def session_notes(context: ToolContext, session: str) -> tuple[Retrieved, ...]:
    """The notes that this session has retrieved, the latest first."""
    counts = context.store.usage.retrieved(validation.session(session, context.limits))
    found = {
        member.id: member
        for record in context.store.chains_of(counts)
        for chain in chains(record.events, context.clock())
        for member in chain.members.values()
    }
    latest = sorted(counts, key=lambda each: (counts[each].session_read_at or context.clock(), each), reverse=True)
    return tuple(
        Retrieved(
            id=note_id,
            text=found[note_id].note.text,
            status=found[note_id].status,
            retrieved_session=counts[note_id].session,
            retrieved_total=counts[note_id].total,
            last=context.formatter.time(read_at) if (read_at := counts[note_id].session_read_at) else "",
        )
        for note_id in latest
        if note_id in found
    )


def state(context: ToolContext) -> State:
    """What the store is and contains, and whether it can be searched by meaning now."""
    health = context.store.health()
    _, problem = context.embedder()
    return State(
        location=health.location,
        schema_version=health.schema_version,
        fingerprint=str(health.fingerprint or ""),
        degraded=problem or "",
        notes=health.notes,
        rows=health.rows,
        size_bytes=health.size_bytes,
        problems=health.problems,
    )


def review(context: ToolContext, subjects: str = "", klass: str = "") -> str:
    """The chains in which notes contradict each other or nothing is settled, with instructions to settle them.

    `subjects` (separated by commas) and `klass` restrict them; blank means any.
    """
    named = subjects_in(context, subjects)
    only = validation.klass(klass, context.classes, context.default_class) if klass.strip() else None
    open_ = [
        chain
        for chain in chains(context.store.events(), context.clock())
        if (chain.contested or chain.cyclic or _unsettled(chain))
        and not (named and chain.subjects.isdisjoint(named))
        and (only is None or any(member.note.klass == only for member in chain.members.values()))
    ]
    about = f" about {', '.join(named)}" if named else ""
    if not open_:
        return f"Nothing{about} needs a review: no chain is contested or unsettled. Tell the user so."
    shown = open_[:_MOST_REVIEWED]
    parts = [
        f"{len(open_)} chains of the memory{about} are contested or unsettled; {len(shown)} of them are below. Take "
        "the user through them one at a time: say in plain words what contradicts what, and ask which is true. Then "
        "call supersede with the ids of all that it replaces (relation correction for what was never true), revoke "
        "for what is void, or reinstate for what was revoked by mistake. Change nothing that the user did not decide."
    ]
    for number, chain in enumerate(shown, 1):
        parts.append(f"{number}. {'contested' if chain.contested else 'damaged' if chain.cyclic else 'not settled'}:")
        parts.append(_lines(deliver(chain, chain.lead), context))
    return "\n".join(parts)


def subjects_in(context: ToolContext, text: str) -> tuple[str, ...]:
    """The subjects in a text that separates them by commas, in their canonical spelling."""
    return validation.subjects([each for each in text.split(",") if each.strip()], context.limits)


def subjects_from(context: ToolContext, begun: str) -> tuple[list[str], int]:
    """Up to 100 subjects that complete the last name of the input, and how many there are."""
    before, comma, last = begun.rpartition(",")
    start = canonical_subject(last)
    found = [name for name in context.store.subjects() if name.startswith(start)]
    lead = f"{before}{comma} " if comma else ""
    return [lead + name for name in found[:_MOST_COMPLETED]], len(found)


def ids_from(context: ToolContext, begun: str) -> list[str]:
    """Up to 100 ids of notes that complete the input."""
    start = begun.strip().lower()
    return [each for each in context.store.near_ids(start, _MOST_COMPLETED) if each.startswith(start)]


def around(context: ToolContext, note_ids: Iterable[str]) -> tuple[set[str], set[str]]:
    """The subjects and the ids of all notes in the chains of these notes."""
    found = [
        member.note
        for record in context.store.chains_of(list(note_ids))
        for chain in chains(record.events, context.clock())
        for member in chain.members.values()
    ]
    return {name for note in found for name in note.subjects}, {note.id for note in found}


def _unsettled(chain: Chain) -> bool:
    return any(member.status is Status.UNSETTLED for member in chain.members.values())


def _lines(delivery: Delivery, context: ToolContext) -> str:
    return "\n".join(line.text for line in render_chain(delivery, context.formatter).lines)
