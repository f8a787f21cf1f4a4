"""The log and the search in LanceDB, in a folder of this machine or on object storage.

One append is one commit: the rows of a verb become visible together or not at all, and none is ever updated.
Reads see what any process committed and never wait for a lock. Each method says how many queries it costs: a
query takes some 4 ms of planning however small the table is, so their number is what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import methodcaller
from typing import Any, TypeVar

import numpy as np

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event, Remembered
from stilltrue.ids import LENGTH
from store.errors import ENGINE_ERRORS, explained, trouble
from store.lance.backend import Backend
from store.lance.engine import ArrowTable, Table
from store.lance.facts import Facts
from store.lance.filters import about_any, quoted, storable
from store.lance.ledger import Ledger, Read, stand_in
from store.lance.rows import (
    arrow_of,
    best,
    hits_of,
    rows_of,
    subjects_of,
    without_vectors,
)
from store.port import ChainRecord, Entry, Fingerprint, Health, Hit, LostRace, Usage, Vector

_T = TypeVar("_T")


class LanceStore:
    """A store in one place, for any number of threads and processes at once. See store.port.Store."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._adopted: Fingerprint | None = None
        self._ledger = Ledger(self._read, self._newest)

    def writing(self) -> AbstractContextManager[None]:
        return self._backend.writing()

    def append(self, entries: Sequence[Entry]) -> None:
        """One commit, durable. One query before it where another process wrote since."""
        if not self._backend.is_writing:
            raise RuntimeError("append() is to be called inside writing()")
        if not entries:
            return
        named = subjects_of(entries)
        new = named.difference(self._ledger.current().named(named))
        space = self.fingerprint
        if self._adopted not in (None, space):
            entries = without_vectors(entries)
        rows = arrow_of(rows_of(entries, new), space.dimension if space else None)
        before = self._newest()
        version = self._commit(rows, entries[0].event.id)
        try:
            self._backend.keep(version)
        except OSError as error:
            raise StoreTrouble(
                f"The store at {self._backend.location} took the write, but the disk did not confirm it: {error}.",
                "It can be read now and may be gone after a power cut. Check the disk before you go on.",
            ) from error
        self._ledger.appended(rows, before, self._newest())

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
        """One query for the events that are not in memory; one before it where something was written since."""
        space, facts = self.fingerprint, self._ledger.current()
        whole = facts.whole_chains(ids)
        read = self._ledger.events([event_id for _, event_ids in whole for event_id in event_ids])
        records = [
            ChainRecord(chain_ids, tuple(_standing(facts, event_ids, read)), _vectors(event_ids, read))
            for chain_ids, event_ids in whole
        ]
        return records if self.fingerprint == space else self.chains(ids)

    def chains_of(self, note_ids: Collection[str]) -> list[ChainRecord]:
        """As `chains`."""
        return self.chains(self._ledger.current().chains_of(note_ids))

    def binding(self, klasses: Collection[str], subjects: Collection[str] | None) -> list[Event]:
        """One query for the events that are not in memory; one before it where something was written since."""
        facts = self._ledger.current()
        event_ids = facts.binding(klasses, subjects)
        return [*_standing(facts, event_ids, self._ledger.events(event_ids))]

    def events(self) -> list[Event]:
        """One query for each 300 events that are not in memory."""
        facts = self._ledger.current()
        event_ids = facts.event_ids()
        return [*_standing(facts, event_ids, self._ledger.events(event_ids))]

    def lost(self) -> int:
        return len(self._ledger.current().lost)

    def by_request(self, request_id: str) -> str | None:
        """One query."""
        return next(iter(self._ids_where("request", request_id)), None)

    def by_digest(self, digest: str) -> list[str]:
        """One query."""
        return self._ids_where("digest", digest)

    def _ids_where(self, column: str, value: str) -> list[str]:
        return sorted(self._column("id", f"{column} = {quoted(value)}")) if storable(value) else []

    def near_ids(self, prefix: str, limit: int = 5) -> list[str]:
        prefix, facts = prefix[:LENGTH], self._ledger.current()
        for length in range(len(prefix), 0, -1):
            if found := facts.note_ids(prefix[:length], limit):
                return found
        return [] if prefix else facts.note_ids("", limit)

    def subjects(self, names: Collection[str] | None = None) -> list[str]:
        facts = self._ledger.current()
        return facts.subjects() if names is None else facts.named(names)

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
        return best(self._ledger.placed(found), limit)

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

    def _newest(self) -> Hashable:
        with explained(self._backend.location, "to be read"):
            return self._backend.version

    def _column(self, column: str, where: str) -> list[str]:
        values: list[str] = self._rows(where, [column]).column(column).to_pylist()
        return values

    def _rows(self, where: str, columns: Sequence[str]) -> Table:
        return self._read(lambda table: table.search().where(where).select(list(columns)).to_arrow())

    def _read(self, query: Callable[[Table], _T]) -> _T:
        with explained(self._backend.location, "to be read"):
            return self._backend.read(query)


def _standing(facts: Facts, event_ids: Sequence[str], read: Mapping[str, Read | None]) -> Iterator[Event]:
    """The events that were read, and in the place of a damaged one what is known of it."""
    for event_id in event_ids:
        if found := read[event_id]:
            yield found.event
        elif (known := stand_in(facts[event_id], facts.notes_before(event_id))) is not None:
            yield known


def _vectors(event_ids: Sequence[str], read: Mapping[str, Read | None]) -> dict[str, Vector]:
    return {
        each: found.vector
        for each in event_ids
        if (found := read[each]) and found.vector is not None and isinstance(found.event, Remembered)
    }
