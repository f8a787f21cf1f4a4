"""The log and the search in LanceDB, in a folder of this machine.

One append is one commit: the rows of a verb become visible together or not at all, and none is ever updated.
Reads see what any process committed and never wait for a lock. Each method says how many queries it costs: a
query takes some 4 ms of planning however small the table is, so their number is what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event
from stilltrue.ids import LENGTH
from store.durable import ProcessLock, Syncer
from store.engine import Database, Table, load, read
from store.healing import ASIDE
from store.joining import ChainRow, gather
from store.kept import KeptUntilWritten
from store.opening import open_log
from store.port import ChainRecord, Entry, Fingerprint, Health, Hit, Usage, Vector
from store.quoting import any_of, begins_with, chunks, one_of, quoted, storable
from store.rows import (
    CHAIN_COLUMNS,
    EVENT_COLUMNS,
    arrow_of,
    best,
    chain_rows_of,
    chains_of_notes,
    events_of,
    hits_of,
    rows_of,
    subjects_of,
)
from store.schema import LOG, SUBJECT_PREFIX, VERSION, Meta, read_meta, vector_field, write_meta
from store.trouble import ENGINE_ERRORS, explained, trouble
from store.upkeep import Upkeep
from store.usage import LanceUsage

_T = TypeVar("_T")

_SUBJECTS_KEPT = 20_000


def open_store(location: str, *, lock_timeout_s: float = 30.0) -> LanceStore:
    """Opens the store in this folder, or creates an empty one there.

    Loading LanceDB takes a second or two. Raises StoreTrouble where the folder cannot be used, holds a store of a
    newer schema, or one of which no version is whole.
    """
    if "://" in location:
        raise StoreTrouble(
            f"The store location {location} is not on this machine, and only a folder can be opened.",
            "Configure the path of a folder.",
        )
    folder = Path(location).expanduser().absolute()
    load()
    with explained(folder, "to open"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = ProcessLock(folder / "write.lock", lock_timeout_s)
        with lock.held():
            database, table = open_log(folder)
        return LanceStore(folder, lock, database, table)


class LanceStore:
    """A store in one folder, for any number of threads and processes at once. See store.port.Store."""

    def __init__(self, folder: Path, lock: ProcessLock, database: Database, table: Table) -> None:
        self._folder = folder
        self._lock = lock
        self._table = table
        self._syncer = Syncer(folder / f"{LOG}.lance")
        self._fingerprint: Fingerprint | None = None
        self._known_subjects: set[str] = set()
        self._kept = KeptUntilWritten(lambda: self._read(lambda: int(table.version)))
        self._usage = LanceUsage(folder, database)
        self._upkeep = Upkeep(folder, table, lock, self._syncer)

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._lock.held():
            yield

    def append(self, entries: Sequence[Entry]) -> None:
        """One commit, then fsync. One query more where a subject is named that this process has not seen."""
        if not self._lock.is_mine:
            raise RuntimeError("append() is to be called inside writing()")
        if not entries:
            return
        named = subjects_of(entries)
        unseen = named - self._known_subjects
        new = unseen.difference(self.subjects(unseen)) if unseen else unseen
        space = self.fingerprint
        rows = arrow_of(rows_of(entries, new), space.dimension if space else None)
        version = self._commit(rows, entries[0].event.id)
        try:
            self._syncer.sync(version)
        except OSError as error:
            raise StoreTrouble(
                f"The store at {self._folder} took the write, but the disk did not confirm it: {error}.",
                "It can be read now and may be gone after a power cut. Check the disk before you go on.",
            ) from error
        if len(self._known_subjects) > _SUBJECTS_KEPT:
            self._known_subjects = set()
        self._known_subjects |= named

    def _commit(self, rows: Table, first_id: str) -> int:
        try:
            return int(self._table.add(rows).version)
        except ENGINE_ERRORS as error:
            # An error can come behind the commit, and the caller has to be told whether anything was written.
            with explained(self._folder, "to be written, and to say whether it was"):
                self._table.checkout_latest()
                if self._table.count_rows(f"id = {quoted(first_id)}"):
                    return int(self._table.version)
            raise trouble(self._folder, "to be written, and nothing was", error) from error

    def chains(self, ids: Collection[str]) -> list[ChainRecord]:
        """One query; one more for each step of joins that leads to other chains."""
        return gather(ids, self._chain_rows)

    def chains_of(self, note_ids: Collection[str]) -> list[ChainRecord]:
        """Two queries: which chains, then `chains`."""
        tables = [self._rows(one_of("id", some), ("kind", "chain")) for some in chunks(note_ids)]
        return self.chains({chain for table in tables for chain in chains_of_notes(table)})

    def _chain_rows(self, ids: Collection[str]) -> Iterator[ChainRow]:
        columns = (*CHAIN_COLUMNS, "vector") if self.fingerprint else CHAIN_COLUMNS
        for some in chunks(ids):
            yield from chain_rows_of(self._rows(one_of("chain", some), columns))

    def binding(self, klasses: Collection[str], subjects: Collection[str] | None) -> list[Event]:
        """One query, or one for each 300 subjects; none where nothing was written since it was asked last."""
        asked = (frozenset(klasses), None if subjects is None else frozenset(subjects))
        return self._kept.get(asked, lambda: self._bound(klasses, subjects))

    def _bound(self, klasses: Collection[str], subjects: Collection[str] | None) -> list[Event]:
        wheres = (
            " AND ".join([any_of("klasses", some), *about]) for some in chunks(klasses) for about in _about(subjects)
        )
        found = {event.id: event for where in wheres for event in events_of(self._rows(where, EVENT_COLUMNS))}
        return [found[event_id] for event_id in sorted(found)]

    def events(self) -> list[Event]:
        """One query."""
        return sorted(events_of(self._rows("body IS NOT NULL", EVENT_COLUMNS)), key=lambda event: event.id)

    def by_request(self, request_id: str) -> str | None:
        """One query."""
        return next(iter(self._ids_where("request", request_id)), None)

    def by_digest(self, digest: str) -> list[str]:
        """One query."""
        return self._ids_where("digest", digest)

    def _ids_where(self, column: str, value: str) -> list[str]:
        return sorted(self._column("id", f"{column} = {quoted(value)}")) if storable(value) else []

    def near_ids(self, prefix: str, limit: int = 5) -> list[str]:
        """One query where an id begins so, and some four more where none does."""
        prefix = prefix[:LENGTH]
        found = self._ids_from(prefix, limit)
        shared, past = 0, len(prefix)
        # Any id that shares five characters shares four: halve the span until the longest shared start is found.
        while not found and past - shared > 1:
            middle = (shared + past) // 2
            if self._ids_from(prefix[:middle], 1):
                shared = middle
            else:
                past = middle
        return found or (self._ids_from(prefix[:shared], limit) if shared else [])

    def _ids_from(self, prefix: str, limit: int) -> list[str]:
        from lancedb.query import ColumnOrdering

        if not storable(prefix):
            return []
        query = self._table.search().where(f"{begins_with('id', prefix)} AND kind = 'remembered'")
        query = query.select(["id"]).order_by([ColumnOrdering(column_name="id")]).limit(limit)
        ids: list[str] = self._read(query.to_arrow).column("id").to_pylist()
        return ids[:limit]

    def subjects(self, names: Collection[str] | None = None) -> list[str]:
        """One query, or one for each 300 names. All of them are kept until the log has another version."""
        if names is None:
            return self._kept.get("subjects", lambda: self._subjects_where(["kind = 'subject'"]))
        return self._subjects_where(one_of("id", some) for some in chunks(SUBJECT_PREFIX + name for name in names))

    def _subjects_where(self, wheres: Iterable[str]) -> list[str]:
        found = {row for where in wheres for row in self._column("id", where)}
        return sorted(row.removeprefix(SUBJECT_PREFIX) for row in found)

    def by_vector(self, vector: Vector, subjects: Collection[str] | None, limit: int) -> list[Hit]:
        """One query: exact, over all rows of these subjects that have a vector."""
        space = self.fingerprint
        if space is None:
            return []
        if len(vector) != space.dimension:
            raise StoreTrouble(
                f"A vector of {len(vector)} numbers cannot be compared with those of {space}.",
                "Configure the embedding model that this store was made with, or re-embed the store.",
            )
        return self._search(
            lambda: self._table.search(np.asarray(vector, np.float32), "vector").distance_type("cosine"),
            "_distance",
            subjects,
            limit,
        )

    def by_text(self, text: str, subjects: Collection[str] | None, limit: int) -> list[Hit]:
        """One query. `text` is plain words: nothing in it is an operator."""
        words = text.encode(errors="replace").decode()
        return self._search(
            lambda: self._table.search(words, query_type="fts", fts_columns="text"), "_score", subjects, limit
        )

    def _search(
        self, search: Callable[[], Any], measure: str, subjects: Collection[str] | None, limit: int
    ) -> list[Hit]:
        columns = ["id", "note", "chain", "sketch", *(["vector"] if self.fingerprint else []), measure]
        found: dict[str, Hit] = {}
        for about in _about(subjects) if limit > 0 else ():
            query = search().select(columns).limit(limit)
            if about:
                query = query.where(*about, prefilter=True)
            found |= hits_of(self._read(query.to_arrow), measure)
        return best(found, limit)

    @property
    def fingerprint(self) -> Fingerprint | None:
        if self._fingerprint is None:
            meta = read_meta(self._folder)
            self._fingerprint = meta.fingerprint if meta else None
        return self._fingerprint

    def adopt(self, fingerprint: Fingerprint) -> bool:
        if self.fingerprint is None:
            with self._lock.held(), explained(self._folder, "to take up the embedding model"):
                if self.fingerprint is None:
                    # A process that was killed right here may have left a column, of another dimension even.
                    if "vector" in self._table.schema.names:
                        self._table.drop_columns(["vector"])
                    self._table.add_columns(vector_field(fingerprint.dimension))
                    self._syncer.sync(self._table.version)
                    write_meta(self._folder, Meta(fingerprint=fingerprint))
        return self.fingerprint == fingerprint

    @property
    def usage(self) -> Usage:
        return self._usage

    def health(self) -> Health:
        notes, rows = (self._read(partial(self._table.count_rows, where)) for where in ("kind = 'remembered'", None))
        sizes = [size for file in self._folder.rglob("*") if (size := _size(file)) is not None]
        torn = sorted(str(file.relative_to(self._folder)) for file in self._folder.glob(f"{ASIDE}/*/*"))
        problems = (f"torn by a crash and set aside: {', '.join(torn)}",) if torn else ()
        return Health(str(self._folder), VERSION, notes, rows, sum(sizes), self.fingerprint, problems)

    def tend(self) -> None:
        self._usage.tend()
        self._upkeep.tend()

    def close(self) -> None:
        """Writes the counts that are still in memory."""
        self._usage.flush()

    def _column(self, column: str, where: str) -> list[str]:
        values: list[str] = self._rows(where, [column]).column(column).to_pylist()
        return values

    def _rows(self, where: str, columns: Sequence[str]) -> Table:
        return self._read(self._table.search().where(where).select(list(columns)).to_arrow)

    def _read(self, query: Callable[[], _T]) -> _T:
        with explained(self._folder, "to be read"):
            return read(self._table, query)


def _about(subjects: Collection[str] | None) -> Iterator[list[str]]:
    """The conditions that a row is about any of the subjects, one for each query to be made: none where all count."""
    if subjects is None:
        yield []
    else:
        yield from ([any_of("subjects", some)] for some in chunks(subjects))


def _size(file: Path) -> int | None:
    """The size of a file in bytes; None for folders and for what upkeep has just removed."""
    try:
        return file.stat().st_size if file.is_file() else None
    except FileNotFoundError:
        return None
