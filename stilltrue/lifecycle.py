"""The table of states, which step is legal from where, and the fold.

The only file that knows a transition. Status is never stored: it is folded, each time, from the events of a
chain. A stored flag drifts from the log; a fold cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

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


@dataclass(frozen=True, slots=True)
class StateRow:
    """One line of the table: what a status means and which steps are legal from it.

    `binds`: a note of a constraint class in this status is a requirement.
    """

    meaning: str
    binds: bool
    legal: frozenset[Step]


_S = Step

STATES: Mapping[Status, StateRow] = MappingProxyType(
    {
        Status.ERASED: StateRow("its words were removed for good; a tombstone stays", False, frozenset()),
        Status.REVOKED: StateRow(
            "it was withdrawn, and a reason was given", False, frozenset({_S.SUPERSEDE, _S.REINSTATE})
        ),
        Status.SUPERSEDED: StateRow(
            "a note that stands, or was erased, took its place", False, frozenset({_S.REVOKE})
        ),
        # Fail closed: what replaced it fell away, so nobody knows. A requirement stays a requirement.
        Status.UNSETTLED: StateRow(
            "all that took its place was revoked or has expired: the prior value, not confirmed",
            True,
            frozenset({_S.SUPERSEDE, _S.REFINE, _S.REVOKE}),
        ),
        Status.PENDING: StateRow("its time has not come yet", False, frozenset({_S.SUPERSEDE, _S.REFINE, _S.REVOKE})),
        Status.EXPIRED: StateRow("its time is over", False, frozenset({_S.SUPERSEDE, _S.REVOKE})),
        Status.CURRENT: StateRow("it holds", True, frozenset({_S.SUPERSEDE, _S.REFINE, _S.REVOKE})),
    }
)
"""The statuses in the order in which the fold tries them: the first that fits is the status."""


@dataclass(frozen=True, slots=True)
class Member:
    """A note as the fold sees it at a moment.

    `superseders` are the notes over update and correction links that keep it superseded, nearest first, and
    `fallen` those that once did: revoked or expired by now. `revocation` is the event that holds it down.
    `ratings` counts helped minus misled.
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
    """What the events say of one note, gathered before any status can be known."""

    remembered: Remembered
    revocation: Revoked | None = None
    erased_at: datetime | None = None
    ratings: int = 0

    def took_effect(self, moment: datetime) -> bool:
        """Whether its time has come by then. What was revoked before its time never replaced anything."""
        start = self.remembered.note.valid_from
        return start is None or (start <= moment and not (self.revocation and self.revocation.at < start))

    def retires(self, moment: datetime) -> bool:
        """Whether it keeps what it replaced superseded: not revoked, already valid, and not expired.

        An erased note goes on as it was when it was erased. Forgetting it must not bring the old value back; but
        where it had fallen away before, forgetting it must not lift a requirement that binds again since.
        """
        end = self.remembered.note.valid_until
        last = moment if self.erased_at is None else min(self.erased_at, moment)
        return self.revocation is None and self.took_effect(moment) and (end is None or end > last)


def fold(events: Iterable[Event], moment: datetime, recorded_until: datetime | None = None) -> dict[str, Member]:
    """Every note of the events with its status at `moment`, in log order, by id.

    `events` are those of one or more whole chains; their order does not matter, since ids sort by the log.
    With `recorded_until`, only events recorded up to then are known: the fold as of that moment. A link to a
    note that is not among the events is ignored.
    """
    tallies = _gather(sorted(events, key=lambda event: event.id), recorded_until)
    successors = _successors(tallies)
    return {note_id: _member(note_id, tallies, successors, moment) for note_id in tallies}


def _gather(events: Iterable[Event], recorded_until: datetime | None) -> dict[str, _Tally]:
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
            case Revoked():
                tally.revocation = event
            case Reinstated():
                tally.revocation = None
            case Erased(at=at):
                tally.erased_at = tally.erased_at or at
            case Rated(outcome=outcome):
                tally.ratings += 1 if outcome == "helped" else -1
    return tallies


def _successors(tallies: Mapping[str, _Tally]) -> dict[str, list[str]]:
    successors: dict[str, list[str]] = {note_id: [] for note_id in tallies}
    for note_id, tally in tallies.items():
        for link in tally.remembered.links:
            if link.kind in RETIRING and link.to in successors:
                successors[link.to].append(note_id)
    return successors


def _member(
    note_id: str,
    tallies: Mapping[str, _Tally],
    successors: Mapping[str, list[str]],
    moment: datetime,
) -> Member:
    tally = tallies[note_id]
    note = tally.remembered.note

    retiring, fallen = _search(note_id, successors, lambda other: tallies[other].retires(moment))
    fallen = [other for other in fallen if tallies[other].took_effect(moment)]
    if tally.erased_at is not None:
        status = Status.ERASED
    elif tally.revocation is not None:
        status = Status.REVOKED
    elif retiring:
        status = Status.SUPERSEDED
    elif fallen:
        status = Status.UNSETTLED
    elif _not_yet(note, moment):
        status = Status.PENDING
    elif _expired(note, moment):
        status = Status.EXPIRED
    else:
        status = Status.CURRENT
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
    """The superseders that retire `start`, and those that were passed through because they do not.

    The walk stops at a note that retires: what supersedes it in turn is its own business. It goes on through
    one that does not, so that in A <- B <- C with B revoked, A is still superseded, by C.
    """
    retiring: list[str] = []
    fallen: list[str] = []
    seen = {start}
    frontier = list(successors[start])
    while frontier:
        note_id = frontier.pop(0)
        if note_id in seen:
            continue
        seen.add(note_id)
        if retires(note_id):
            retiring.append(note_id)
        else:
            fallen.append(note_id)
            frontier += successors[note_id]
    return retiring, fallen


def _expired(note: Note, moment: datetime) -> bool:
    return note.valid_until is not None and note.valid_until <= moment


def _not_yet(note: Note, moment: datetime) -> bool:
    return note.valid_from is not None and note.valid_from > moment


def is_legal(step: Step, member: Member) -> bool:
    """Whether `step` may be taken on this note now.

    The table decides, but for one case: a revoked note that something which stands has replaced is no end of
    its chain, so that superseding it would open a second branch beside that successor.
    """
    if step is Step.SUPERSEDE and member.status is Status.REVOKED and member.superseders:
        return False
    return step in STATES[member.status].legal


def table() -> str:
    """The table of states in Markdown, as docs/lifecycle.md shows it."""
    lines = ["| status | meaning | a requirement binds | " + " | ".join(Step) + " |"]
    lines.append("|---" * (3 + len(Step)) + "|")
    for status, row in STATES.items():
        steps = " | ".join("yes" if step in row.legal else "no" for step in Step)
        lines.append(f"| `{status}` | {row.meaning} | {'yes' if row.binds else 'no'} | {steps} |")
    return "\n".join(lines) + "\n"
