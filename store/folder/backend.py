"""A store in a folder of this machine: one writer at a time by a lock, and on the disk before it is acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from store.errors import explained
from store.files import ProcessLock, Syncer, bytes_under
from store.folder.active_log import CurrentLog
from store.folder.migrate import upgrade
from store.folder.opening import open_log
from store.folder.recovery import ASIDE, heal
from store.lance.engine import ArrowTable, Database, Table
from store.lance.schema import Upgrade, newest
from store.lance.usage import USAGE, LanceUsage, roll_up, usage_table
from store.port import Fingerprint

_T = TypeVar("_T")

_USAGE_LOCK_S = 2.0
_USAGE_RETAINED = timedelta(seconds=10)


def open_folder(path: Path, lock_timeout_s: float, upgrades: Mapping[int, Upgrade]) -> Folder:
    """The store in this folder, created where there is none; one of an older schema is upgraded first."""
    with explained(path, "to open"):
        path.mkdir(parents=True, exist_ok=True)
        writers = ProcessLock(path / "write.lock", lock_timeout_s)
        upgrade(path, writers, ProcessLock(path / "upkeep.lock", lock_timeout_s), upgrades)
        with writers.held():
            database, _ = open_log(path, newest(upgrades))
        return Folder(path, writers, database, CurrentLog(path, writers, database, newest(upgrades)))


class Folder:
    """One folder, for any number of threads and processes of this machine. See store.place.Place."""

    def __init__(self, path: Path, writers: ProcessLock, database: Database, log: CurrentLog) -> None:
        self.writers = writers
        self.log = log
        self._path = path
        self._database = database
        self._usage_dataset = path / f"{USAGE}.lance"
        self._usage_syncer = Syncer(self._usage_dataset)
        # For all who write there, in any process: a roll-up replaces rows, so that nobody may append meanwhile.
        usage_writers = ProcessLock(path / "usage.lock", _USAGE_LOCK_S)
        self.usage = LanceUsage(str(path), self._open_usage, usage_writers, self._shrink_usage)

    @property
    def location(self) -> str:
        return str(self._path)

    @property
    def table(self) -> Table:
        return self.log.table

    @property
    def schema_version(self) -> int:
        return self.log.now().meta.schema_version

    @property
    def version(self) -> tuple[int, int]:
        return self.log.version

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self.log.fingerprint

    def adopt(self, fingerprint: Fingerprint) -> None:
        with self.writers.held():
            self.log.adopt(fingerprint)

    def read(self, query: Callable[[Table], _T]) -> _T:
        return self.log.read(query)

    @property
    def is_writing(self) -> bool:
        return self.writers.is_mine

    def writing(self) -> AbstractContextManager[None]:
        return self.writers.held()

    def add(self, rows: ArrowTable) -> int:
        return int(self.table.add(rows).version)

    def keep(self, version: int) -> None:
        self.log.now().syncer.sync(version)

    def size_bytes(self) -> int:
        return bytes_under(self._path)

    def problems(self) -> tuple[str, ...]:
        torn = sorted(str(file.relative_to(self._path)) for file in self._path.glob(f"{ASIDE}/*/*"))
        return (f"torn by a crash and set aside: {', '.join(torn)}",) if torn else ()

    def maintain(self) -> None:
        self.usage.maintain()
        self.log.now().upkeep.maintain()

    def _open_usage(self) -> Table:
        heal(self._usage_dataset, self._path / ASIDE, acknowledged=False)
        return usage_table(self._database)

    def _shrink_usage(self, table: Table) -> None:
        roll_up(table)
        self._usage_syncer.sync(table.version)
        table.optimize(cleanup_older_than=_USAGE_RETAINED)
