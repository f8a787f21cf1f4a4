"""The facts of the newest version of a log, and its events, each verified before it is believed.

`current` follows the log: where another version is there, it reads only the rows that were appended since, which is
one query of some 5 ms at any size. LanceDB keeps rows in the order of their appends, and a compaction keeps that
order; merging fragments permutes only the newest rows. So the rows at the end are read, and what they add must
account for every row that the table counts. An erasure rewrites rows and may leave their number as it was, so the
`erased` events are counted too. Where either number differs, all facts are read anew.

Events are read by id, through the index where that finds them all. Whether it does is known here, so that an index
which lost a row costs a scan and never a successor.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from stilltrue.event import Erased, Event, Reinstated, Remembered, Revoked
from stilltrue.ids import time_of
from stilltrue.note import Link, LinkKind, Note
from store.errors import ENGINE_ERRORS
from store.lance.checksum import FACTS, SUM, WORDS, stored_sums, words_sums
from store.lance.engine import ArrowTable, Table, arrow
from store.lance.facts import Fact, Facts, batches
from store.lance.filters import one_of
from store.lance.rows import event_in, vectors_of
from store.port import Hit, Vector

_T = TypeVar("_T")

_PERMUTED = 1_200
"""Merging fragments moves at most so many of the newest rows (store/folder/maintenance.py)."""
_AT_ONCE = 300
_CACHED_BYTES = 24 << 20
_TRIES = 3


class Read(NamedTuple):
    """An event as it was read and verified, with the vector of its text where it has one."""

    event: Event
    vector: Vector | None


class Ledger:
    """The facts and events of one log. `read` runs a query on its table, `version` says which version is newest."""

    def __init__(self, read: Callable[[Callable[[Table], Any]], Any], version: Callable[[], Hashable]) -> None:
        self._read = read
        self._version = version
        self._lock = threading.RLock()
        self._at: Hashable = None
        self._facts = Facts()
        self._events: OrderedDict[str, tuple[Read | None, int]] = OrderedDict()
        self._bytes = 0

    def current(self) -> Facts:
        """The facts of a version that is no older than this call. One query where something was written since."""
        version = self._version()
        with self._lock:
            if version != self._at:
                self._follow(version)
            return self._facts

    def appended(self, rows: ArrowTable, before: Hashable, after: Hashable) -> None:
        """Takes up rows that this process appended between two versions, where it knows all that was there before."""
        with self._lock:
            if self._at == before:
                self._at = after if self._facts.extend(rows) else None

    def events(self, ids: Collection[str]) -> dict[str, Read | None]:
        """The events with these ids; None for one whose words do not match their checksum, or that is not there.

        One query for each 300 that are not in memory.
        """
        with self._lock:
            found = {each: self._events[each][0] for each in ids if each in self._events}
            for each in found:
                self._events.move_to_end(each)
            facts = self._facts
        missing = [each for each in ids if each not in found]
        for some in batches(missing, _AT_ONCE):
            fresh = self._fetched(some)
            found |= {each: fresh[each][0] for each in some}
            with self._lock:
                if self._facts is facts:
                    self._keep(fresh)
        return found

    def placed(self, hits: dict[str, Hit]) -> dict[str, Hit]:
        """The hits whose notes are known, each with the chain that the facts give it."""
        facts = self.current()
        known = {row_id: hit for row_id, hit in hits.items() if hit.note_id in facts}
        return {row_id: replace(hit, chain=facts[hit.note_id].chain) for row_id, hit in known.items()}

    def _follow(self, version: Hashable) -> None:
        generation = version[0] if isinstance(version, tuple) else None
        before = self._at[0] if isinstance(self._at, tuple) else None
        if self._at is not None and generation == before:
            for overlap in (1, _PERMUTED):
                if self._extended(overlap):
                    self._at = version
                    return
        for _ in range(_TRIES):
            facts = Facts()
            facts.extend(self._rows(0))
            if len(facts.rows) == self._count():
                break
        self._recover(facts)
        self._facts, self._at = facts, version
        self._events.clear()
        self._bytes = 0

    def _recover(self, facts: Facts) -> None:
        """Understands the rows whose facts are damaged by their bodies, where those are whole."""
        if not facts.unverified:
            return
        table = self._read(lambda table: _scan(_words(table).to_arrow(), facts.unverified))
        found = {row_id: read.event for row_id, (read, _) in self._verified(table).items() if read}
        for event in sorted(found.values(), key=lambda event: event.id):
            facts.recover(event)
        bodies = dict(zip(table.column("id").to_pylist(), table.column("body").to_pylist(), strict=True))
        # A row without a body is one more way to a note or an entry of an index: nothing is lost with it.
        facts.lost = [row_id for row_id in facts.unverified if row_id not in found and bodies.get(row_id) is not None]

    def _extended(self, overlap: int) -> bool:
        """Whether the rows at the end of the table, from `overlap` before the last known one, are all that is new."""
        known = len(self._facts.rows)
        start = known - overlap if known > overlap else 0
        table = self._rows(start)
        ids = table.column("id").to_pylist()
        if known and overlap == 1 and (not ids or ids[0] != self._facts.last_id):
            return False
        damaged = len(self._facts.unverified)
        if not self._facts.extend(table) or len(self._facts.unverified) > damaged:
            return False
        return len(self._facts.rows) == self._count() and self._facts.erased == self._count("kind = 'erased'")

    def _rows(self, start: int) -> ArrowTable:
        def query(table: Table) -> ArrowTable:
            search = table.search().select(_columns(table, FACTS))
            return (search.offset(start).limit(_ALL) if start else search).to_arrow()

        return with_sums(self._read(query))

    def _count(self, where: str | None = None) -> int:
        return int(self._read(lambda table: table.count_rows(where)))

    def _fetched(self, ids: Sequence[str]) -> dict[str, tuple[Read | None, int]]:
        try:
            found = self._verified(self._read(lambda table: _words(table).where(one_of("id", ids)).to_arrow()))
        except ENGINE_ERRORS:
            found = {}
        if len(found) < len(ids):  # the index did not lead to all of them, or what it led to was damaged
            found |= self._verified(self._read(lambda table: _scan(_words(table).to_arrow(), ids)))
        by_id = {read.event.id: (read, size) for read, size in found.values() if read}
        return {each: by_id.get(each, (None, 0)) for each in ids}

    def _verified(self, table: ArrowTable) -> dict[str, tuple[Read | None, int]]:
        """What each row with a body says, by the id of the row, where its words match their checksum."""
        table = with_sums(table)
        columns = [table.column(name).to_pylist() for name in ("id", "text", "body")]
        sums = zip(stored_sums(table), words_sums(table), strict=True)
        found: dict[str, tuple[Read | None, int]] = {}
        for row_id, text, body, (stored, own), vector in zip(*columns, sums, vectors_of(table), strict=True):
            if body is None or (stored is not None and stored[1] != own):
                continue
            try:
                event = event_in(text, body)
            except (ValueError, KeyError, TypeError):
                continue
            size = len(body) + len(text or "") + (vector.nbytes if vector is not None else 0) + 500
            found[row_id] = Read(event, vector), size
        return found

    def _keep(self, fresh: dict[str, tuple[Read | None, int]]) -> None:
        for event_id, (event, size) in fresh.items():
            if event is not None and event_id not in self._events:
                self._events[event_id] = event, size
                self._bytes += size
        while self._bytes > _CACHED_BYTES:
            _, (_, size) = self._events.popitem(last=False)
            self._bytes -= size


def stand_in(fact: Fact, before: Sequence[str]) -> Event | None:
    """What is known of an event whose words are damaged, by its facts; None of a rating, which would say nothing.

    A note is known to be there, unreadable, of a subject and a class. What it replaced is not known: it is tied to
    the notes of its chain before it as a refinement is, so that none of them is hidden by what nobody can read.
    """
    at = time_of(fact.id)
    match fact.kind:
        case "remembered":
            klass = fact.klasses[-1] if fact.klasses else ""
            note = Note(fact.id, "", fact.subjects, klass, UNKNOWN, at, unreadable=True)
            return Remembered(note, tuple(Link(each, LinkKind.REFINEMENT) for each in before))
        case "revoked":
            return Revoked(fact.id, at, fact.note, "")
        case "reinstated":
            return Reinstated(fact.id, at, fact.note)
        case "erased":
            return Erased(fact.id, at, fact.note)
        case _:
            return None


UNKNOWN = "unknown"
"""The source of a note that cannot be read."""

_ALL = 1 << 31


def with_sums(table: ArrowTable) -> ArrowTable:
    """The table with a column of sums, of nulls where the log has none yet."""
    if SUM in table.column_names:
        return table
    return table.append_column(SUM, arrow().nulls(table.num_rows, arrow().int64()))


def _words(table: Table) -> Any:
    names = _columns(table, ("id", *WORDS))
    return table.search().select([*names, "vector"] if "vector" in table.schema.names else names)


def _columns(table: Table, names: Sequence[str]) -> list[str]:
    return [*names, SUM] if SUM in table.schema.names else list(names)


def _scan(table: ArrowTable, ids: Collection[str]) -> ArrowTable:
    pa = arrow()
    return table.filter(pa.compute.is_in(table.column("id"), pa.array(list(ids), pa.utf8())))
