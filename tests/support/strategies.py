"""Random logs for the property tests of the core and of the stores.

They have merges, forks, refinements, revocations, reinstatements, erasures, ratings and validity, on a clock that may
jump back. A log is a list of events in the order in which they were recorded. Its ids are real ones, its links lead
to older notes only, and an erased note has no text. Revocations and the like may happen where no agent would be
allowed them, because the fold has to cope with any log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import permutations, product

from hypothesis import strategies as st

from stilltrue.event import Erased, Event, Outcome, Rated, Reinstated, Remembered, Revoked
from stilltrue.ids import stamp
from stilltrue.note import Link, LinkKind, Note

START = datetime(2025, 1, 1, tzinfo=UTC)
KLASSES = ("note", "fact", "allergy", "working_context")
HORIZON_DAYS = 60
"""Validity intervals and moments are within this many days of the start."""


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a random log, drawn before it is known which notes there are.

    `targets` are positions among the notes, counted back from the newest; `validity` is in days after the start.
    """

    kind: str
    targets: tuple[int, ...]
    links: tuple[LinkKind, ...]
    pause_hours: int
    validity: tuple[int | None, int | None]
    subjects: tuple[str, ...]
    klass: str
    text: str


# A few draws with many outcomes each: Hypothesis is several times faster this way than with a draw per field.
_KINDS = ["remembered"] * 5 + ["revoked"] * 3 + ["reinstated", "erased", "rated"]
_ABOUT = [("team",), ("priya",), ("tom",), ("priya", "team"), ("tom", "priya")]
_WHAT = list(product(_KINDS, KLASSES, _ABOUT))
_TARGETS = [(), *[(at,) for at in range(6)] * 2, *permutations(range(4), 2), *permutations(range(4), 3)]
_LINKS = list(product(LinkKind, repeat=3))
_DAYS = [None, None, 0, 10, 20, 30, 40, 50]
_VALIDITY = [(opens, ends) for opens, ends in product(_DAYS, _DAYS) if opens is None or ends is None or opens < ends]


def moments() -> st.SearchStrategy[datetime]:
    """A moment in the time that random logs cover, or some days before or after it."""
    return st.integers(-5 * 24, (HORIZON_DAYS + 10) * 24).map(lambda hours: START + timedelta(hours=hours))


def moves(texts: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Move]:
    """A step of a random log. About half of them remember, and most of those link to an older note."""

    def move(
        what: tuple[str, str, tuple[str, ...]],
        targets: tuple[int, ...],
        links: tuple[LinkKind, ...],
        pause: int,
        validity: tuple[int | None, int | None],
        text: str,
    ) -> Move:
        kind, klass, subjects = what
        return Move(kind, targets, links, pause, validity, subjects, klass, text)

    return st.builds(
        move,
        st.sampled_from(_WHAT),
        st.sampled_from(_TARGETS),
        st.sampled_from(_LINKS),
        st.integers(-48, 96),
        st.sampled_from(_VALIDITY),
        st.just("the tests run with tox") if texts is None else texts,
    )


def logs(max_moves: int = 14, texts: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[list[Event]]:
    """A log of one or more chains, in the order of recording, with at least one note."""
    return st.lists(moves(texts), min_size=1, max_size=max_moves).map(build)


def importable_logs(
    max_moves: int = 14, texts: st.SearchStrategy[str] | None = None
) -> st.SearchStrategy[list[Event]]:
    """A log that an import accepts: one that a server could have written.

    A note is revoked only while it is not revoked, reinstated only while it is, and neither once it is erased.
    """
    return logs(max_moves, texts).map(_without_impossible)


def single_chains(max_moves: int = 12) -> st.SearchStrategy[list[Event]]:
    """A log in which every note but the first links to an older one: one chain."""

    def linked(drawn: list[Move]) -> list[Event]:
        return build([replace(move, targets=move.targets or (0,)) for move in drawn])

    return st.lists(moves(), min_size=1, max_size=max_moves).map(linked)


def build(drawn: Sequence[Move]) -> list[Event]:
    """The log of these steps. A step that needs a note is skipped if there is none yet."""
    events: list[Event] = []
    notes: list[str] = []
    latest: dict[str, datetime] = {}  # the last event in the chain of each note; the next one has to be later
    chain: dict[str, set[str]] = {}
    now = START
    for number, move in enumerate(drawn):
        now += timedelta(hours=move.pause_hours)
        entropy = (number * 0x9E3779B1) & (2**30 - 1)  # differs for each step, so that no two ids are equal
        targets = list(dict.fromkeys(notes[-1 - at % len(notes)] for at in move.targets)) if notes else []
        after = max((latest[other] for target in targets for other in chain[target]), default=None)
        made = stamp(now, entropy, after)
        if move.kind == "remembered" or not notes:
            links = tuple(Link(to, kind) for to, kind in zip(targets, move.links, strict=False))
            events.append(Remembered(_note(made.id, made.at, move), links, reason="it changed" if links else None))
            notes.append(made.id)
            joined = {made.id}.union(*(chain[target] for target in targets))
            chain |= dict.fromkeys(joined, joined)
            latest |= dict.fromkeys(joined, made.at)
        elif targets:
            events.append(_late(made.id, made.at, targets[0], move.kind, number))
            latest |= dict.fromkeys(chain[targets[0]], made.at)
    gone = {event.note_id for event in events if isinstance(event, Erased)}
    return [_without_words(event) if event.note_id in gone else event for event in events]


def _without_impossible(log: list[Event]) -> list[Event]:
    possible: list[Event] = []
    revoked: set[str] = set()
    erased: set[str] = set()
    for event in log:
        note_id = event.note_id
        if isinstance(event, Revoked | Reinstated):
            if note_id in erased or (note_id in revoked) == isinstance(event, Revoked):
                continue
            revoked ^= {note_id}
        elif isinstance(event, Erased):
            erased.add(note_id)
        possible.append(event)
    return possible


def events() -> st.SearchStrategy[Event]:
    """A single event, with any of the fields that it may have, in any script."""
    times = st.datetimes(min_value=datetime(1980, 1, 1), max_value=datetime(2900, 1, 1), timezones=st.just(UTC))
    words = st.text(max_size=30)
    names = st.text("abcdefgh0123", min_size=1, max_size=16)
    note = st.builds(
        Note,
        id=names,
        text=words,
        subjects=st.lists(words, min_size=1, max_size=3).map(tuple),
        klass=words,
        source=words,
        recorded_at=times,
        valid_from=st.none() | times,
        valid_until=st.none() | times,
        importance=st.floats(0, 1),
        attribute=st.none() | words,
        cues=st.lists(words, max_size=3).map(tuple),
    )
    links = st.lists(st.builds(Link, names, st.sampled_from(LinkKind)), max_size=3).map(tuple)
    return st.one_of(
        st.builds(Remembered, note, links, st.none() | words, st.none() | words),
        st.builds(Revoked, names, times, names, words),
        st.builds(Reinstated, names, times, names, st.none() | words),
        st.builds(Rated, names, times, names, st.sampled_from(Outcome)),
        st.builds(Erased, names, times, names),
    )


def _note(note_id: str, at: datetime, move: Move) -> Note:
    opens, ends = move.validity
    return Note(
        id=note_id,
        text=move.text,
        subjects=move.subjects,
        klass=move.klass,
        source="user",
        recorded_at=at,
        valid_from=None if opens is None else START + timedelta(days=opens),
        valid_until=None if ends is None else START + timedelta(days=ends),
    )


def _late(event_id: str, at: datetime, note_id: str, kind: str, number: int) -> Event:
    match kind:
        case "revoked":
            return Revoked(event_id, at, note_id, f"reason {number:02}")
        case "reinstated":
            return Reinstated(event_id, at, note_id, "it was right after all")
        case "erased":
            return Erased(event_id, at, note_id)
    return Rated(event_id, at, note_id, Outcome.HELPED)


def _without_words(event: Event) -> Event:
    if isinstance(event, Remembered):
        return replace(event, note=replace(event.note, text="", cues=()))
    return event
