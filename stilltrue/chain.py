"""From a log to its chains: which notes belong together, which of them lead, and what is delivered of a chain.

A chain is the unit of delivery. Similarity chooses the note by which a chain is entered; what comes back is decided
here, so that no note is ever returned without what replaced it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from stilltrue.event import Event, Remembered
from stilltrue.lifecycle import Member, Status, fold
from stilltrue.note import RETIRING, Note

_RETIRED = frozenset({Status.REVOKED, Status.EXPIRED, Status.ERASED})


@dataclass(frozen=True, slots=True)
class Chain:
    """The notes connected by links, folded at a moment.

    `members` are in log order. `newer` maps a note to those that link to it. `heads` are the current notes. `lead`
    comes first when the chain is delivered: the heads; without heads, the unsettled notes; without those either, the
    ends that are pending, revoked, expired or erased. A superseded note never leads, except in a cycle, where every
    member leads and none is a head.
    """

    members: Mapping[str, Member]
    newer: Mapping[str, tuple[str, ...]]
    heads: tuple[str, ...]
    lead: tuple[str, ...]
    contested: bool
    cyclic: bool

    @property
    def id(self) -> str:
        """The id of the oldest note."""
        return next(iter(self.members))

    @property
    def subjects(self) -> frozenset[str]:
        """What the chain is about: the subjects of all its notes."""
        return frozenset(subject for member in self.members.values() for subject in member.note.subjects)

    @property
    def retired(self) -> bool:
        """Whether nothing in it holds, may hold or will hold: all that leads is revoked, expired or erased."""
        return all(self.members[note_id].status in _RETIRED for note_id in self.lead)

    def closure(self, entries: Iterable[str]) -> frozenset[str]:
        """The entries and every note reachable from them over links towards newer notes."""
        return _reach(entries, self.newer)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A chain as it is delivered: the lead, then the rest from newest to oldest.

    `must` are the members that are never cut: the lead and its forward closure. `wanted` are those that are cut only
    if the chain does not fit otherwise: the forward closure of the notes by which it was entered. Because notes are
    cut from the oldest on, what remains is closed: no note is delivered without what is newer than it.

    For a question about an earlier moment, `chain` is the chain as of then, `today` is the chain as of now, and
    `since` are the notes that link to it, directly or not, and were recorded later. They are delivered too, so that
    nothing that was retracted since is returned as true.
    """

    chain: Chain
    lead: tuple[Member, ...]
    rest: tuple[Member, ...]
    must: frozenset[str]
    wanted: frozenset[str]
    since: tuple[Member, ...] = ()
    today: Chain | None = None


def chains(events: Iterable[Event], moment: datetime, recorded_until: datetime | None = None) -> list[Chain]:
    """The closed chains of the events, each folded at `moment`, in the order of their oldest notes."""
    members = fold(events, moment, recorded_until)
    return [_chain(part) for part in _parts(members, every_link=True)]


class DisjointSets:
    """Ids in groups that can be joined, each group named by its smallest id (union-find with path halving).

    Ids sort by age, so a group of notes goes by its oldest note, as a chain does.
    """

    __slots__ = ("_parent",)

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._parent = {each: each for each in ids}

    def __contains__(self, each: str) -> bool:
        return each in self._parent

    def __iter__(self) -> Iterator[str]:
        return iter(self._parent)

    def name(self, each: str) -> str:
        """The smallest id of the group. An id that is not known yet becomes a group of its own."""
        parent = self._parent
        parent.setdefault(each, each)
        while parent[each] != each:
            parent[each] = parent[parent[each]]
            each = parent[each]
        return each

    def join(self, one: str, other: str) -> None:
        """Make one group of the groups of both."""
        smaller, larger = sorted((self.name(one), self.name(other)))
        self._parent[larger] = smaller


def partition(events: Iterable[Event]) -> list[tuple[Event, ...]]:
    """The events by chain, each part in log order. Events of unknown notes are left out."""
    ordered = sorted(events, key=lambda event: event.id)
    remembered = [event for event in ordered if isinstance(event, Remembered)]
    groups = DisjointSets(carrier.id for carrier in remembered)
    for carrier in remembered:
        for link in carrier.links:
            if link.to in groups:
                groups.join(link.to, carrier.id)
    parts: dict[str, list[Event]] = {}
    for event in ordered:
        if event.note_id in groups:
            parts.setdefault(groups.name(event.note_id), []).append(event)
    return [tuple(part) for part in parts.values()]


@dataclass(frozen=True, slots=True)
class CausalPast:
    """What a new event has to carry of the chains that it bears on, so that one query finds it with them.

    `chain` is the id of the oldest of these chains, or the event's own where it starts one; `joins` are the ids of
    the others, which the event connects to it. `subjects` and `klasses` are those of the event's own note and of
    every note of these chains. Whatever is newer than a requirement is thereby stored under the requirement's class
    and subjects as well, however different its own are.
    """

    chain: str
    joins: tuple[str, ...]
    subjects: tuple[str, ...]
    klasses: tuple[str, ...]


def causal_past(event: Event, touched: Mapping[str, Iterable[Note]]) -> CausalPast:
    """The causal past of an event that bears on these chains, given as their ids with their notes so far."""
    chain, *joins = sorted(touched) or [event.note_id]
    notes = [event.note] if isinstance(event, Remembered) else []
    notes += [note for each in (chain, *joins) for note in touched.get(each, ())]
    return CausalPast(
        chain=chain,
        joins=tuple(joins),
        subjects=tuple(dict.fromkeys(subject for note in notes for subject in note.subjects)),
        klasses=tuple(dict.fromkeys(note.klass for note in notes)),
    )


class ChainTracker:
    """Follows a log event by event: which chain each note is in, and which notes each chain has."""

    __slots__ = ("_groups", "_notes")

    def __init__(self) -> None:
        self._groups = DisjointSets()
        self._notes: dict[str, list[Note]] = {}

    def add(self, event: Event) -> CausalPast:
        """Take in the next event of the log and return its causal past. Links to unknown notes are ignored."""
        targets = [link.to for link in event.links] if isinstance(event, Remembered) else [event.note_id]
        chains = {self._groups.name(target) for target in targets if target in self._groups}
        past = causal_past(event, {chain: self._notes[chain] for chain in chains})
        if isinstance(event, Remembered):
            notes = self._notes.pop(past.chain, [])
            for joined in past.joins:
                notes += self._notes.pop(joined)
                self._groups.join(past.chain, joined)
            self._groups.join(past.chain, event.id)
            notes.append(event.note)
            self._notes[self._groups.name(event.id)] = notes
        return past


def deliver(chain: Chain, entries: Iterable[str], today: Chain | None = None) -> Delivery:
    """What is delivered of a chain that was entered by `entries`; ids of other chains are ignored.

    `today` is the chain as of now, if `chain` is folded as of an earlier moment.
    """
    entered = [entry for entry in entries if entry in chain.members]
    must, wanted = chain.closure(chain.lead), chain.closure(entered)
    lead = tuple(chain.members[note_id] for note_id in chain.lead)
    rest = tuple(member for member in [*chain.members.values()][::-1] if member.id not in chain.lead)
    since: tuple[Member, ...] = ()
    if today is not None:
        later = today.closure(chain.members) - chain.members.keys()
        since = tuple(member for member in today.members.values() if member.id in later)
    return Delivery(chain, lead, rest, must, wanted, since, today)


def _chain(members: Mapping[str, Member]) -> Chain:
    newer: dict[str, list[str]] = {note_id: [] for note_id in members}
    for member in members.values():
        for link in member.links:
            if link.to in newer:
                newer[link.to].append(member.id)
    cyclic = any(note_id in _reach(newer[note_id], newer) for note_id in members)
    # In a circle everything supersedes everything, so a status says nothing there. All of it leads, flagged.
    heads = () if cyclic else _of_status(members, Status.CURRENT)
    return Chain(
        members=members,
        newer={note_id: tuple(ids) for note_id, ids in newer.items()},
        heads=heads,
        lead=tuple(members) if cyclic else heads or _lead_without_head(members),
        # Refinements do not count here: a note and what adds to it both hold without contradicting each other.
        contested=any(
            sum(member.status is Status.CURRENT for member in part.values()) > 1
            for part in _parts(members, every_link=False)
        ),
        cyclic=cyclic,
    )


def _lead_without_head(members: Mapping[str, Member]) -> tuple[str, ...]:
    """The unsettled notes; without any, the ends of the chain.

    A revoked note that was replaced is not an end: what became of it is shown by what replaced it.
    """
    unsettled = _of_status(members, Status.UNSETTLED)
    return unsettled or tuple(
        member.id for member in members.values() if member.status is not Status.SUPERSEDED and not member.superseders
    )


def _of_status(members: Mapping[str, Member], status: Status) -> tuple[str, ...]:
    return tuple(member.id for member in members.values() if member.status is status)


def _parts(members: Mapping[str, Member], *, every_link: bool) -> list[dict[str, Member]]:
    """The members in groups connected by links: by every link, or only by those that supersede."""
    groups = DisjointSets(members)
    for member in members.values():
        for link in member.links:
            if link.to in groups and (every_link or link.kind in RETIRING):
                groups.join(link.to, member.id)
    parts: dict[str, dict[str, Member]] = {}
    for note_id, member in members.items():
        parts.setdefault(groups.name(note_id), {})[note_id] = member
    return list(parts.values())


def _reach(starts: Iterable[str], edges: Mapping[str, Iterable[str]]) -> frozenset[str]:
    reached: set[str] = set()
    frontier = list(starts)
    while frontier:
        note_id = frontier.pop()
        if note_id not in reached:
            reached.add(note_id)
            frontier += edges[note_id]
    return frozenset(reached)
