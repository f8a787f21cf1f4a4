"""The log that store.json names, for a process that stays: it follows when another takes its place."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from store.errors import ENGINE_ERRORS
from store.files import ProcessLock, Syncer
from store.folder.maintenance import Maintenance
from store.lance.engine import Database, Table, read
from store.lance.schema import VERSION, Meta, read_meta, vector_field, write_meta
from store.layout import META, dataset
from store.port import Fingerprint

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The log of one generation, with what the store says of it: the vectors in `table` are of its fingerprint."""

    meta: Meta
    table: Table
    syncer: Syncer
    maintenance: Maintenance


class CurrentLog:
    """Looks at store.json before each use, which costs some microseconds, and opens the log that it names.

    Whoever holds the lock of writers or of upkeep has the same log for as long: it is only switched under both.
    `known` is the newest schema version that this process can read.
    """

    def __init__(self, folder: Path, writers: ProcessLock, database: Database, known: int = VERSION) -> None:
        self._folder = folder
        self._writers = writers
        self._database = database
        self._known = known
        self._mutex = threading.Lock()
        # In one, so that no thread sees the one of before and the other of after.
        self._state: tuple[tuple[int, int], Opened] | None = None

    def now(self) -> Opened:
        """The log as store.json names it. Raises StoreTrouble where that is of a newer schema by now."""
        seen, state = self._stamp(), self._state
        if state is not None and seen in (state[0], None):
            return state[1]
        with self._mutex:
            meta = read_meta(self._folder, self._known) or Meta(self._known)
            if state is None or state[1].meta.generation != meta.generation:
                opened = self._open(meta)
            else:
                opened = replace(state[1], meta=meta)
            self._state = (seen or (0, 0), opened)
        return opened

    def _stamp(self) -> tuple[int, int] | None:
        """What is another whenever store.json has been replaced; None where it is not there."""
        try:
            stat = os.stat(self._folder / META)
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns

    @property
    def table(self) -> Table:
        return self.now().table

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The vector space of the vectors in the log."""
        return self.now().meta.fingerprint

    @property
    def version(self) -> tuple[int, int]:
        """The generation, and which version of its table is the newest."""
        opened = self.now()
        return opened.meta.generation, read(opened.table, lambda: int(opened.table.version))

    def adopt(self, fingerprint: Fingerprint) -> None:
        """Takes this vector space as that of the log if it has none yet. To be called under the lock of writers."""
        opened = self.now()
        if opened.meta.fingerprint is None:
            # A process that was killed right here may have left a column, of another dimension even.
            if "vector" in opened.table.schema.names:
                opened.table.drop_columns(["vector"])
            opened.table.add_columns(vector_field(fingerprint.dimension))
            opened.syncer.sync(opened.table.version)
            write_meta(self._folder, replace(opened.meta, fingerprint=fingerprint))

    def read(self, query: Callable[[Table], _T]) -> _T:
        """What a query brings; it is made again, once, where the log that it was made on is gone."""
        opened = self.now()
        try:
            return read(opened.table, lambda: query(opened.table))
        except ENGINE_ERRORS:
            again = self.now()
            if again.table is opened.table:
                raise
            return read(again.table, lambda: query(again.table))

    def _open(self, meta: Meta) -> Opened:
        table = self._database.open_table(meta.log)
        syncer = Syncer(dataset(self._folder, meta.log))
        return Opened(meta, table, syncer, Maintenance(self._folder, table, self._writers, syncer))
