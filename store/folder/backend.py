"""A store in a folder of this machine: one writer at a time by a lock, and on the disk before it is acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event
from store.errors import explained
from store.files import ProcessLock, Syncer, bytes_under
from store.folder.active_log import CurrentLog
from store.folder.migrate import upgrade
from store.folder.opening import open_log
from store.folder.recovery import heal
from store.lance.compare import all_events
from store.lance.engine import ArrowTable, Database, Table, connect, load
from store.lance.schema import UPGRADES, Upgrade, newest
from store.lance.usage import LanceUsage, roll_up, usage_table
from store.layout import ASIDE, MAINTENANCE_LOCK, META, USAGE, USAGE_LOCK, WRITERS_LOCK, dataset
from store.port import Fingerprint

_T = TypeVar("_T")

_USAGE_LOCK_S = 2.0
_USAGE_RETAINED = timedelta(seconds=10)


def open_folder(path: Path, lock_timeout_s: float, upgrades: Mapping[int, Upgrade] = UPGRADES) -> FolderBackend:
    """The store in this folder, created where there is none; one of an older schema is upgraded first."""
    with explained(path, "to open"):
        path.mkdir(parents=True, exist_ok=True)
        writers = ProcessLock(path / WRITERS_LOCK, lock_timeout_s)
        maintenance = ProcessLock(path / MAINTENANCE_LOCK, lock_timeout_s)
        upgrade(path, writers, maintenance, upgrades)
        with writers.held():
            database, _ = open_log(path, newest(upgrades))
        return FolderBackend(
            path, writers, maintenance, database, CurrentLog(path, writers, database, newest(upgrades))
        )


def open_existing(
    location: str | Path, *, lock_timeout_s: float = 30.0, upgrades: Mapping[int, Upgrade] = UPGRADES
) -> FolderBackend:
    """The store in this folder, for the commands that read, copy, verify or clean all of it.

    Raises StoreTrouble where there is none: nothing is created.
    """
    if "://" in str(location):
        raise StoreTrouble(
            f"The store {location} is not in a folder of this machine, and this command works on folders.",
            "Export it, import the lines into a folder, and run the command there. To have the outcome on object "
            "storage, export and import again into a new prefix, and delete the old one with all its versions.",
        )
    folder = Path(location).expanduser().absolute()
    if not (folder / META).is_file():
        raise StoreTrouble(f"There is no store at {folder}.", "Name the folder that holds store.json.")
    load()
    return open_folder(folder, lock_timeout_s, upgrades)


class FolderBackend:
    """One folder, for any number of threads and processes of this machine. See store.lance.backend.Backend.

    While `maintenance` is held no process compacts, cleans up or puts another log in the place of this one, so that
    no file that a version names goes away.
    """

    def __init__(
        self, folder: Path, writers: ProcessLock, maintenance: ProcessLock, database: Database, log: CurrentLog
    ) -> None:
        self.folder = folder
        self.writers = writers
        self.maintenance = maintenance
        self.log = log
        self._database = database
        self._usage_dataset = dataset(folder, USAGE)
        self._usage_syncer = Syncer(self._usage_dataset)

    @cached_property
    def usage(self) -> LanceUsage:
        # For all who write there, in any process: a roll-up replaces rows, so that nobody may append meanwhile.
        usage_writers = ProcessLock(self.folder / USAGE_LOCK, _USAGE_LOCK_S)
        return LanceUsage(str(self.folder), self._open_usage, usage_writers, self._shrink_usage)

    @property
    def location(self) -> str:
        return str(self.folder)

    @property
    def table(self) -> Table:
        return self.log.table

    @property
    def dataset(self) -> Path:
        """The folder of the log."""
        return dataset(self.folder, self.table.name)

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

    def events(self) -> list[Event]:
        """Every event of one version of the log, in log order. Servers may go on meanwhile."""
        with explained(self.folder, "to be read"):
            return self.log.read(all_events)

    @contextmanager
    def at_rest(self) -> Iterator[Table]:
        """The newest version of the log, held fast: what is read from it here is of one moment."""
        with self.maintenance.held(), explained(self.folder, "to be read"):
            table = connect(self.folder).open_table(self.table.name)
            table.checkout(table.version)
            yield table

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
        return bytes_under(self.folder)

    def problems(self) -> tuple[str, ...]:
        torn = sorted(str(file.relative_to(self.folder)) for file in self.folder.glob(f"{ASIDE}/*/*"))
        return (f"torn by a crash and set aside: {', '.join(torn)}",) if torn else ()

    def maintain(self) -> None:
        self.usage.maintain()
        self.log.now().maintenance.maintain()

    def _open_usage(self) -> Table:
        heal(self._usage_dataset, self.folder / ASIDE, acknowledged=False)
        return usage_table(self._database)

    def _shrink_usage(self, table: Table) -> None:
        roll_up(table)
        self._usage_syncer.sync(table.version)
        table.optimize(cleanup_older_than=_USAGE_RETAINED)
