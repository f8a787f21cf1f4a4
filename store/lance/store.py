"""The log and the search in LanceDB, in a folder of this machine or on object storage.

One append is one commit: the rows of a verb become visible together or not at all, and none is ever updated.
Reads see what any process committed and never wait for a lock. Each method says how many queries it costs: a
query takes some 4 ms of planning however small the table is, so their number is what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import methodcaller
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event
from stilltrue.ids import LENGTH
from store.chain_rows import ChainRow, gather
from store.errors import ENGINE_ERRORS, explained, trouble
from store.folder.backend import open_folder
from store.lance.backend import Backend
from store.lance.cache import VersionedCache
from store.lance.engine import ArrowTable, Table, load
from store.lance.filters import about_any, any_of, begins_with, chunks, one_of, quoted, storable
from store.lance.rows import (
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
    without_vectors,
)
from store.lance.schema import SUBJECT_PREFIX, UPGRADES, Upgrade
from store.port import ChainRecord, Entry, Fingerprint, Health, Hit, LostRace, Usage, Vector

_T = TypeVar("_T")

_SUBJECTS_KEPT = 20_000


def open_store(
    location: str,
    *,
    lock_timeout_s: float = 30.0,
    endpoint: str = "",
    region: str = "",
    upgrades: Mapping[int, Upgrade] = UPGRADES,
) -> LanceStore:
    """Opens the store at this location, or creates an empty one there; one of an older schema is upgraded first.

    `endpoint` and `region` are of a location that is not a folder. Loading LanceDB takes a second or two. Raises
    StoreTrouble where the location cannot be used, holds a store of a newer schema, or one of which no version is
    whole.
    """
    load()
    if "://" in location:
        from store.object.opening import open_remote

        return LanceStore(open_remote(location, lock_timeout_s, endpoint, region))
    return LanceStore(open_folder(Path(location).expanduser().absolute(), lock_timeout_s, upgrades))


class LanceStore:
    """A store in one place, for any number of threads and processes at once. See store.port.Store."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._adopted: Fingerprint | None = None
        self._known_subjects: set[str] = set()
        self._kept = VersionedCache(lambda: self._read(lambda _: backend.version))

    def writing(self) -> AbstractContextManager[None]:
        return self._backend.writing()

    def append(self, entries: Sequence[Entry]) -> None:
        """One commit, durable. One query more where a subject is named that this process has not seen."""
        if not self._backend.is_writing:
            raise RuntimeError("append() is to be called inside writing()")
        if not entries:
            return
        named = subjects_of(entries)
        unseen = named - self._known_subjects
        new = unseen.difference(self.subjects(unseen)) if unseen else unseen
        space = self.fingerprint
        if self._adopted not in (None, space):
            entries = without_vectors(entries)
        rows = arrow_of(rows_of(entries, new), space.dimension if space else None)
        version = self._commit(rows, entries[0].event.id)
        try:
            self._backend.keep(version)
        except OSError as error:
            raise StoreTrouble(
                f"The store at {self._backend.location} took the write, but the disk did not confirm it: {error}.",
                "It can be read now and may be gone after a power cut. Check the disk before you go on.",
            ) from error
        if len(self._known_subjects) > _SUBJECTS_KEPT:
            self._known_subjects = set()
        self._known_subjects |= named

    def _commit(self, rows: ArrowTable, first_id: str) -> int:
        backend, problem = self._backend, None
        try:
            if (version := backend.add(rows)) is not None:
                return version
        except ENGINE_ERRORS as error:
            problem = error
        # Either can come behind the commit, and the caller has to be told whether anything was written.
        with explained(backend.location, "to be written, and to say whether it was"):
            backend.table.checkout_latest()
            if backend.table.count_rows(f"id = {quoted(first_id)}"):
                return int(backend.table.version)
        if problem is not None:
            raise trouble(backend.location, "to be written, and nothing was", problem) from problem
        raise LostRace(
            f"Another writer of the store at {backend.location} was first, each time.",
            "Nothing was written. Try again; if it stays so, let fewer processes write at once.",
        )

    def chains(self, ids: Collection[str]) -> list[ChainRecord]:
        """One query; one more for each step of joins that leads to other chains."""
        space = self.fingerprint
        records = gather(ids, self._chain_rows)
        return records if self.fingerprint == space else self.chains(ids)

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
            " AND ".join([any_of("klasses", some), *about])
            for some in chunks(klasses)
            for about in about_any(subjects)
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
        where, order = f"{begins_with('id', prefix)} AND kind = 'remembered'", [ColumnOrdering(column_name="id")]
        found = self._read(
            lambda table: table.search().where(where).select(["id"]).order_by(order).limit(limit).to_arrow()
        )
        ids: list[str] = found.column("id").to_pylist()
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
        """One query: exact, over all rows of these subjects that have a vector.

        Nothing is found by a vector of a space that was adopted here and is the store's no longer.
        """
        space = self.fingerprint
        if space is None or self._adopted not in (None, space):
            return []
        if len(vector) != space.dimension:
            raise StoreTrouble(
                f"A vector of {len(vector)} numbers cannot be compared with those of {space}.",
                "Configure the embedding model that this store was made with, or run `stilltrue reembed`.",
            )
        found = self._search(
            lambda table: table.search(np.asarray(vector, np.float32), "vector").distance_type("cosine"),
            "_distance",
            subjects,
            limit,
        )
        return found if self.fingerprint == space else []

    def by_text(self, text: str, subjects: Collection[str] | None, limit: int) -> list[Hit]:
        """One query. `text` is plain words: nothing in it is an operator."""
        words = text.encode(errors="replace").decode()
        return self._search(
            lambda table: table.search(words, query_type="fts", fts_columns="text"), "_score", subjects, limit
        )

    def _search(
        self, search: Callable[[Table], Any], measure: str, subjects: Collection[str] | None, limit: int
    ) -> list[Hit]:
        columns = ["id", "note", "chain", "sketch", *(["vector"] if self.fingerprint else []), measure]
        found: dict[str, Hit] = {}
        for about in about_any(subjects) if limit > 0 else ():

            def query(table: Table, about: Sequence[str] = about) -> ArrowTable:
                asked = search(table).select(columns).limit(limit)
                return (asked.where(*about, prefilter=True) if about else asked).to_arrow()

            found |= hits_of(self._read(query), measure)
        return best(found, limit)

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self._backend.fingerprint

    def adopt(self, fingerprint: Fingerprint) -> bool:
        if self.fingerprint is None:
            with explained(self._backend.location, "to take up the embedding model"):
                self._backend.adopt(fingerprint)
        if self.fingerprint != fingerprint:
            return False
        self._adopted = fingerprint
        return True

    @property
    def usage(self) -> Usage:
        return self._backend.usage

    def health(self) -> Health:
        backend = self._backend
        notes, rows = (self._read(methodcaller("count_rows", each)) for each in ("kind = 'remembered'", None))
        with explained(backend.location, "to be looked at"):
            size, problems = backend.size_bytes(), backend.problems()
        return Health(backend.location, backend.schema_version, notes, rows, size, self.fingerprint, problems)

    def maintain(self) -> None:
        self._backend.maintain()

    def close(self) -> None:
        """Writes the counts that are still in memory."""
        self.usage.flush()

    def _column(self, column: str, where: str) -> list[str]:
        values: list[str] = self._rows(where, [column]).column(column).to_pylist()
        return values

    def _rows(self, where: str, columns: Sequence[str]) -> Table:
        return self._read(lambda table: table.search().where(where).select(list(columns)).to_arrow())

    def _read(self, query: Callable[[Table], _T]) -> _T:
        with explained(self._backend.location, "to be read"):
            return self._backend.read(query)
