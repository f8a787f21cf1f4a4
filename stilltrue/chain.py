"""From any member to its closed chain: what leads, what is history, what must be told and what may.

A chain is the unit of delivery. Similarity picks a note to enter by; what comes back is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from stilltrue.event import Event, Remembered
from stilltrue.lifecycle import Member, Status, fold
from stilltrue.note import RETIRING

_RETIRED = frozenset({Status.REVOKED, Status.EXPIRED, Status.ERASED})


@dataclass(frozen=True, slots=True)
class Chain:
    """The notes connected by links, folded at a moment.

    `members` stand in log order. `lead` is what stands first when the chain is told: its heads; where it has
    none, its unsettled notes; where there is neither, its pending, revoked, expired or erased ends. A
    superseded note is never a lead, but for a cycle, where every member is one and none is a head.
    `newer` leads from a note to those that link to it.
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
        """Whether nothing in it holds, may hold or will hold: every lead is revoked, expired or erased."""
        return all(self.members[note_id].status in _RETIRED for note_id in self.lead)

    def closure(self, entries: Iterable[str]) -> frozenset[str]:
        """The entries and every note reachable from them over links towards newer notes."""
        return _reach(entries, self.newer)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A chain as it is delivered: the lead, then the rest from newest to oldest.

    `must` names the members that are never cut, the lead and its forward closure; `wanted` those that are cut only
    where the chain would not fit otherwise, the forward closure of the notes by which it was entered. Cut from the
    oldest on, whatever is left is closed: a note is never told without what is newer than it.

    `since` are notes of today that the chain did not have at the moment that was asked about; what they replace is
    delivered with them, so that nothing retracted is told as true.
    """

    chain: Chain
    lead: tuple[Member, ...]
    rest: tuple[Member, ...]
    must: frozenset[str]
    wanted: frozenset[str]
    since: tuple[Member, ...] = ()
    today: Chain | None = None


def chains(events: Iterable[Event], moment: datetime, recorded_until: datetime | None = None) -> list[Chain]:
    """The events parted into closed chains, each folded at `moment`; ordered by their oldest note."""
    members = fold(events, moment, recorded_until)
    return [_chain(part) for part in _parts(members, every_link=True)]


def partition(events: Iterable[Event]) -> list[tuple[Event, ...]]:
    """The events parted by chain, each part in log order. Events of unknown notes are left out."""
    ordered = sorted(events, key=lambda event: event.id)
    root: dict[str, str] = {}

    def find(note_id: str) -> str:
        while root[note_id] != note_id:
            root[note_id] = root[root[note_id]]
            note_id = root[note_id]
        return note_id

    remembered = [event for event in ordered if isinstance(event, Remembered)]
    root.update({carrier.id: carrier.id for carrier in remembered})
    for carrier in remembered:
        for link in carrier.links:
            if link.to in root:
                older, newer = sorted((find(link.to), find(carrier.id)))
                root[newer] = older
    parts: dict[str, list[Event]] = {}
    for event in ordered:
        if event.note_id in root:
            parts.setdefault(find(event.note_id), []).append(event)
    return [tuple(part) for part in parts.values()]


def deliver(chain: Chain, entries: Iterable[str], today: Chain | None = None) -> Delivery:
    """What is delivered of a chain that was entered by `entries` (ids of other chains are ignored).

    `today` is the same chain as it is now, where `chain` is folded as of an earlier moment.
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
    heads = () if cyclic else _of_status(members, Status.CURRENT)
    return Chain(
        members=members,
        newer={note_id: tuple(ids) for note_id, ids in newer.items()},
        heads=heads,
        lead=tuple(members) if cyclic else heads or _lead_without_head(members),
        contested=any(
            sum(member.status is Status.CURRENT for member in part.values()) > 1
            for part in _parts(members, every_link=False)
        ),
        cyclic=cyclic,
    )


def _lead_without_head(members: Mapping[str, Member]) -> tuple[str, ...]:
    unsettled = _of_status(members, Status.UNSETTLED)
    return unsettled or tuple(
        member.id for member in members.values() if member.status is not Status.SUPERSEDED and not member.superseders
    )


def _of_status(members: Mapping[str, Member], status: Status) -> tuple[str, ...]:
    return tuple(member.id for member in members.values() if member.status is status)


def _parts(members: Mapping[str, Member], *, every_link: bool) -> list[dict[str, Member]]:
    """The members parted into those connected by links: by every link, or only by those that supersede."""
    near: dict[str, list[str]] = {note_id: [] for note_id in members}
    for member in members.values():
        for link in member.links:
            if link.to in near and (every_link or link.kind in RETIRING):
                near[link.to].append(member.id)
                near[member.id].append(link.to)
    parts: list[dict[str, Member]] = []
    placed: set[str] = set()
    for note_id in members:
        if note_id not in placed:
            reached = _reach([note_id], near)
            placed |= reached
            parts.append({other: members[other] for other in sorted(reached)})
    return parts


def _reach(starts: Iterable[str], edges: Mapping[str, Iterable[str]]) -> frozenset[str]:
    reached: set[str] = set()
    frontier = list(starts)
    while frontier:
        note_id = frontier.pop()
        if note_id not in reached:
            reached.add(note_id)
            frontier += edges[note_id]
    return frozenset(reached)
