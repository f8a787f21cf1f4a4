"""Retrieval counts: gathered in memory, appended in batches, summed when read.

The counts are a convenience beside the log. Losing those of the last seconds in a crash is allowed, failing or
delaying a read for them is not: what goes wrong here is logged, and the counts wait in memory for the next time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

from stilltrue.errors import StoreTrouble
from store.errors import ENGINE_ERRORS
from store.files import ThreadLock
from store.lance.engine import ArrowTable, Database, Table, arrow, fragments, read
from store.lance.filters import chunks, one_of, quoted
from store.layout import USAGE
from store.port import Count

_log = logging.getLogger(__name__)

_FLUSH_AFTER_S = 5.0
_FLUSH_AT = 500
_FRAGMENTS = 32
_SESSION_KEPT = timedelta(days=30)
_OVER = ""
"""The session of the reads whose session is long over."""


class Reads(NamedTuple):
    """So many deliveries of one note in one session, and when the last was."""

    n: int
    last_at: datetime

    def with_more(self, other: Reads) -> Reads:
        return Reads(self.n + other.n, max(self.last_at, other.last_at))


Key: TypeAlias = tuple[str, str]
"""A note and a session."""

Tally: TypeAlias = dict[Key, Reads]
"""Reads by note and session."""


def add_to(tally: Tally, note_id: str, session: str, reads: Reads) -> None:
    """Counts some reads into a tally."""
    known = tally.get((note_id, session))
    tally[note_id, session] = known.with_more(reads) if known else reads


def counts_in(tally: Mapping[Key, Reads], note_ids: Collection[str], session: str) -> dict[str, Count]:
    """What a tally says of each of the notes, zero where it says nothing."""
    of_note: dict[str, list[Reads]] = {note_id: [] for note_id in note_ids}
    for (note_id, _), reads in tally.items():
        if note_id in of_note:
            of_note[note_id].append(reads)
    return {note_id: _count(reads, tally.get((note_id, session))) for note_id, reads in of_note.items()}


def notes_of(tally: Tally, session: str) -> set[str]:
    """The notes that a session was delivered."""
    return {note_id for note_id, where in tally if where == session}


def _count(reads: list[Reads], here: Reads | None) -> Count:
    return Count(
        session=here.n if here else 0,
        total=sum(read.n for read in reads),
        last_read_at=max((read.last_at for read in reads), default=None),
        session_read_at=here.last_at if here else None,
    )


def usage_table(database: Database) -> Table:
    """The table of the counts, made where there is none."""
    return database.create_table(USAGE, schema=_schema(), exist_ok=True)


class LanceUsage:
    """The counts of a store that lies at `location`, in the table that `make` opens. See store.port.Usage.

    `writers` is held around each append, and around `shrink`, which is called where many small batches have piled up.
    """

    def __init__(
        self, location: str, make: Callable[[], Table], writers: ThreadLock, shrink: Callable[[Table], None]
    ) -> None:
        self._location = location
        self._make = make
        self._writers = writers
        self._shrink = shrink
        # For the threads of this process: what is pending goes into the table in one step for whoever sums both.
        # Taken after `_writers`, never before it.
        self._mutex = threading.Lock()
        self._pending: Tally = {}
        self._pending_since = 0.0
        self._table: Table = None
        with self._excused("the retrieval counts cannot be opened"), self._writers.held():
            self._open()

    def record(self, note_ids: Collection[str], session: str, at: datetime) -> None:
        with self._mutex:
            if not self._pending:
                self._pending_since = monotonic()
            for note_id in note_ids:
                add_to(self._pending, note_id, session, Reads(1, at))

    def counts(self, note_ids: Collection[str], session: str) -> dict[str, Count]:
        """One query, or one for each 300 notes. What is in memory alone where the table cannot be read."""
        with self._mutex:
            tally = dict(self._pending)
            if self._table is not None:
                with self._excused("the retrieval counts cannot be read"):
                    for some in chunks(note_ids):
                        query = self._table.search().where(one_of("note", some))
                        for key, reads in _reads_in(read(self._table, query.to_arrow)):
                            add_to(tally, *key, reads)
        return counts_in(tally, note_ids, session)

    def retrieved(self, session: str) -> dict[str, Count]:
        """Two queries: which notes, then `counts`. No index of sessions: the first reads all rows of the counts."""
        with self._mutex:
            notes = notes_of(self._pending, session)
            if self._table is not None:
                with self._excused("the retrieval counts cannot be read"):
                    query = self._table.search().where(f"session = {quoted(session)}").select(["note"])
                    notes |= set(read(self._table, query.to_arrow).column("note").to_pylist())
        return self.counts(notes, session)

    def flush(self) -> None:
        """One commit with all that is pending, if anything is."""
        with self._excused("the retrieval counts stay in memory"):
            if self._pending:
                with self._writers.held():
                    self._open()
                    with self._mutex:
                        self._table.add(_arrow_of(self._pending))
                        self._pending = {}

    def maintain(self) -> None:
        """Flushes what has waited for some seconds, and shrinks the table where many small batches have piled up."""
        waited_s = monotonic() - self._pending_since
        if self._pending and (waited_s >= _FLUSH_AFTER_S or len(self._pending) >= _FLUSH_AT):
            self.flush()
        with self._excused("the retrieval counts cannot be compacted"):
            if self._table is not None and fragments(self._table) > _FRAGMENTS:
                with self._writers.tried() as mine:
                    if mine and fragments(self._table) > _FRAGMENTS:
                        self._shrink(self._table)

    def _open(self) -> None:
        if self._table is None:
            self._table = self._make()

    @contextmanager
    def _excused(self, what: str) -> Iterator[None]:
        try:
            yield
        except (StoreTrouble, *ENGINE_ERRORS):
            _log.warning("%s: %s", self._location, what, exc_info=True)


def roll_up(table: Table) -> None:
    """Replaces the rows by one for each note and session, and the sessions long over by one for each note.

    Nobody may append meanwhile: it would be replaced as well.
    """
    table.add(_arrow_of(_rolled_up(_reads_in(table.to_arrow()))), mode="overwrite")


def _rolled_up(rows: Iterable[tuple[Key, Reads]]) -> Tally:
    tally: Tally = {}
    for key, reads in rows:
        add_to(tally, *key, reads)
    # Seen from the last delivery, not from a clock: which sessions are over does not change while nobody reads.
    kept_from = max(reads.last_at for reads in tally.values()) - _SESSION_KEPT
    rolled: Tally = {}
    for (note_id, session), reads in tally.items():
        add_to(rolled, note_id, session if reads.last_at >= kept_from else _OVER, reads)
    return rolled


def _reads_in(table: ArrowTable) -> Iterator[tuple[Key, Reads]]:
    columns = (table.column(name).to_pylist() for name in ("note", "session", "n", "last_at"))
    for note_id, session, n, last_at in zip(*columns, strict=True):
        yield (note_id, session), Reads(n, last_at.astimezone(UTC))


def _arrow_of(tally: Tally) -> ArrowTable:
    columns = [
        [note_id for note_id, _ in tally],
        [session for _, session in tally],
        [reads.n for reads in tally.values()],
        [reads.last_at for reads in tally.values()],
    ]
    schema = _schema()
    arrays = [arrow().array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return arrow().Table.from_arrays(arrays, schema=schema)


def _schema() -> Any:
    pa = arrow()
    return pa.schema(
        [
            pa.field("note", pa.utf8(), nullable=False),
            pa.field("session", pa.utf8(), nullable=False),
            pa.field("n", pa.int64(), nullable=False),
            pa.field("last_at", pa.timestamp("us", tz="UTC"), nullable=False),
        ]
    )
