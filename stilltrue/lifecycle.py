"""The table of states, the fold that runs from it, and which step is legal in which state.

This is the only file that knows a transition. Status is never stored: it is folded from the events of a chain on
each read. A stored flag can drift from the log; a fold cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from stilltrue.event import Erased, Event, Rated, Reinstated, Remembered, Revoked
from stilltrue.note import RETIRING, Link, Note


class Status(StrEnum):
    """What the fold says of a note at a moment."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    REVOKED = "revoked"
    UNSETTLED = "unsettled"
    EXPIRED = "expired"
    PENDING = "pending"
    ERASED = "erased"


class Step(StrEnum):
    """What an agent may do to a note that exists."""

    SUPERSEDE = "supersede"
    REFINE = "refine"
    REVOKE = "revoke"
    REINSTATE = "reinstate"


class Evidence(NamedTuple):
    """What the log and the clock say of one note at a moment. The table decides on this and on nothing else.

    `superseded`: a note reached over update and correction links retires it. `deserted`: a note that had taken its
    place has been revoked or has expired. `begun` and `over`: `valid_from` and `valid_until` have come.
    """

    erased: bool
    revoked: bool
    superseded: bool
    deserted: bool
    begun: bool
    over: bool


@dataclass(frozen=True, slots=True)
class StateRow:
    """One row of the table: when a note has this status, what the status means, and what may be done from it.

    `binds`: a note of a constraint class is a requirement then. `legal` are the steps allowed, see also `is_legal`.
    """

    fits: Callable[[Evidence], bool]
    meaning: str
    binds: bool
    legal: frozenset[Step]


_ANY_BUT_REINSTATE = frozenset({Step.SUPERSEDE, Step.REFINE, Step.REVOKE})

STATES: Mapping[Status, StateRow] = MappingProxyType(
    {
        # Erasure is final, so it is tried first: nothing that happens to the note later gives it another status.
        # No step is legal, since there are no words left to replace, to add to or to withdraw.
        Status.ERASED: StateRow(
            lambda seen: seen.erased, "its text was removed for good; a tombstone remains", False, frozenset()
        ),
        # Before `superseded`: that the note was withdrawn, and why, matters more than that another took its place.
        # The right answer often follows a retraction, so it may be superseded; nothing is left that could be refined.
        Status.REVOKED: StateRow(
            lambda seen: seen.revoked,
            "it was withdrawn, with a reason",
            False,
            frozenset({Step.SUPERSEDE, Step.REINSTATE}),
        ),
        # It may still be revoked: that a past value was never true is worth recording. It is not an end of its
        # chain, so it cannot be superseded: a second successor would contest the first.
        Status.SUPERSEDED: StateRow(
            lambda seen: seen.superseded,
            "replaced by a note that is in force, or that was when it was erased",
            False,
            frozenset({Step.REVOKE}),
        ),
        # What took its place fell away, and nobody has said that the old value is true again, so it is not current.
        # But it may well be true, and a missed allergy costs more than a needless caution: a requirement still binds.
        # Before `pending` and `expired`: whatever its own time is, a reader has to know that the successor failed.
        Status.UNSETTLED: StateRow(
            lambda seen: seen.deserted,
            "every note that replaced it was revoked or has expired: the prior value, not confirmed",
            True,
            _ANY_BUT_REINSTATE,
        ),
        # A requirement that begins next month does not bind today. Until then, what it will replace still does.
        Status.PENDING: StateRow(
            lambda seen: not seen.begun, "its validity has not begun yet", False, _ANY_BUT_REINSTATE
        ),
        # Somebody chose that end, so there is no doubt about it: unlike an unsettled note, it does not bind.
        Status.EXPIRED: StateRow(
            lambda seen: seen.over, "its validity has ended", False, frozenset({Step.SUPERSEDE, Step.REVOKE})
        ),
        # Whatever no row above applies to holds. Age plays no part in it.
        Status.CURRENT: StateRow(lambda seen: True, "it holds", True, _ANY_BUT_REINSTATE),
    }
)
"""The fold gives a note the first status whose row fits, so the order of the rows is part of the rule."""


@dataclass(frozen=True, slots=True)
class Member:
    """A note as the fold sees it at a moment.

    `superseders` are the notes over update and correction links that keep it superseded, nearest first, and
    `fallen` those that no longer do, because they were revoked or have expired. `revocation` is the revocation in
    force. `ratings` is the number of `helped` minus that of `misled`.
    """

    note: Note
    links: tuple[Link, ...]
    reason: str | None
    status: Status
    superseders: tuple[str, ...] = ()
    fallen: tuple[str, ...] = ()
    revocation: Revoked | None = None
    erased_at: datetime | None = None
    ratings: int = 0

    @property
    def id(self) -> str:
        return self.note.id


@dataclass(slots=True)
class _Tally:
    """What the events say of one note, collected before any status can be known."""

    remembered: Remembered
    revocation: Revoked | None = None
    erased_at: datetime | None = None
    ratings: int = 0

    def took_effect(self, moment: datetime) -> bool:
        """Whether the note has been in force at any time up to the moment.

        A note whose time has not come has replaced nothing yet. If it is revoked or erased before its time, it never
        will: "the office moves on the 30th" was called off on the 3rd, so on the 30th nothing happens. What it was
        to replace holds on, as current rather than unsettled, since there is nothing to be unsure of.
        """
        start = self.remembered.note.valid_from
        if start is None:
            return True
        revoked_before = self.revocation is not None and self.revocation.at < start
        erased_before = self.erased_at is not None and self.erased_at < start
        return start <= moment and not revoked_before and not erased_before

    def retires(self, moment: datetime) -> bool:
        """Whether the note keeps what it replaced superseded: not revoked, in force already, and not expired.

        An erased note goes on as it was at its erasure, so its validity is checked at that moment, not later. If it
        was in force then, it keeps on retiring: forgetting a correction must not bring the error back. If it had
        expired by then, it does not: forgetting it must not lift a requirement that has bound again since.
        """
        end = self.remembered.note.valid_until
        last = moment if self.erased_at is None else min(self.erased_at, moment)
        return self.revocation is None and self.took_effect(moment) and (end is None or end > last)


def fold(events: Iterable[Event], moment: datetime, recorded_until: datetime | None = None) -> dict[str, Member]:
    """Every note of the events with its status at `moment`, in log order, by id.

    `events` are those of one or more whole chains, in any order: ids sort in log order. With `recorded_until`, only
    events recorded by then count: the fold as of that moment. Links to notes not among the events are ignored.
    """
    tallies = _tally(sorted(events, key=lambda event: event.id), recorded_until)
    successors = _successors(tallies)
    return {note_id: _member(note_id, tallies, successors, moment) for note_id in tallies}


def _tally(events: Iterable[Event], recorded_until: datetime | None) -> dict[str, _Tally]:
    tallies: dict[str, _Tally] = {}
    late: list[Event] = []
    for event in events:
        if recorded_until is not None and event.at > recorded_until:
            continue
        if isinstance(event, Remembered):
            tallies[event.id] = _Tally(event)
        else:
            late.append(event)
    for event in late:
        tally = tallies.get(event.note_id)
        if tally is None:
            continue
        match event:
            # The first revocation counts, as the first erasure does: a second one, after the note's time, must not
            # undo that the note never took effect.
            case Revoked():
                tally.revocation = tally.revocation or event
            case Reinstated():
                tally.revocation = None
            case Erased(at=at):
                tally.erased_at = tally.erased_at or at
            case Rated(outcome=outcome):
                tally.ratings += 1 if outcome == "helped" else -1
    return tallies


def _successors(tallies: Mapping[str, _Tally]) -> dict[str, list[str]]:
    """The notes that supersede each note directly. Refinements are not among them: they retire nothing."""
    successors: dict[str, list[str]] = {note_id: [] for note_id in tallies}
    for note_id, tally in tallies.items():
        for link in tally.remembered.links:
            if link.kind in RETIRING and link.to in successors:
                successors[link.to].append(note_id)
    return successors


def _member(
    note_id: str, tallies: Mapping[str, _Tally], successors: Mapping[str, list[str]], moment: datetime
) -> Member:
    tally = tallies[note_id]
    note = tally.remembered.note
    retiring, passed = _search(note_id, successors, lambda other: tallies[other].retires(moment))
    # A successor that never took effect, or has not yet, took nothing's place: its base is not unsettled by it.
    fallen = [other for other in passed if tallies[other].took_effect(moment)]
    begun = note.valid_from is None or note.valid_from <= moment
    over = note.valid_until is not None and note.valid_until <= moment
    erased, revoked = tally.erased_at is not None, tally.revocation is not None
    evidence = Evidence(erased, revoked, bool(retiring), bool(fallen), begun, over)
    for status, row in STATES.items():  # noqa: B007 - the last row always fits; next() would take twice the time
        if row.fits(evidence):
            break
    return Member(
        note=note,
        links=tally.remembered.links,
        reason=tally.remembered.reason,
        status=status,
        superseders=tuple(retiring),
        fallen=tuple(fallen),
        revocation=tally.revocation,
        erased_at=tally.erased_at,
        ratings=tally.ratings,
    )


def _search(
    start: str, successors: Mapping[str, list[str]], retires: Callable[[str], bool]
) -> tuple[list[str], list[str]]:
    """The superseders that retire `start`, and those that do not and were passed through; nearest first.

    The search stops at a note that retires: what superseded that note in turn is its own affair. It goes on through
    a note that does not. In A <- B <- C with B revoked, C was stored to replace what B said, and C is what holds
    now. If the search stopped at B, A would become unsettled beside a current C, and would bind again.
    """
    retiring: list[str] = []
    passed: list[str] = []
    seen = {start}  # a damaged log can have a circle
    frontier = list(successors[start])
    while frontier:
        note_id = frontier.pop(0)
        if note_id in seen:
            continue
        seen.add(note_id)
        if retires(note_id):
            retiring.append(note_id)
        else:
            passed.append(note_id)
            frontier += successors[note_id]
    return retiring, passed


def is_legal(step: Step, member: Member) -> bool:
    """Whether `step` may be taken on this note now: its row allows it, and only an end of a chain is superseded.

    A revoked note that a note in force has replaced is not an end: a successor would open a second branch.
    """
    if step is Step.SUPERSEDE and member.superseders:
        return False
    return step in STATES[member.status].legal


def table() -> str:
    """The table of states in Markdown, as shown in docs/lifecycle.md."""
    lines = ["| status | meaning | a requirement binds | " + " | ".join(Step) + " |"]
    lines.append("|---" * (3 + len(Step)) + "|")
    for status, row in STATES.items():
        steps = " | ".join("yes" if step in row.legal else "no" for step in Step)
        lines.append(f"| `{status}` | {row.meaning} | {'yes' if row.binds else 'no'} | {steps} |")
    return "\n".join(lines) + "\n"
