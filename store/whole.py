"""The whole of a store in a folder, for the commands that read, copy, verify or clean all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event
from store.durable import ProcessLock
from store.engine import Table, connect, load, read
from store.opening import open_log
from store.rows import EVENT_COLUMNS, events_of
from store.schema import META
from store.trouble import explained


@dataclass(frozen=True, slots=True)
class Whole:
    """A store that is there: its folder, its log, the lock of its writers, and that of its upkeep.

    While `upkeep` is held no process compacts or cleans up, so that no file that a version names goes away.
    """

    folder: Path
    table: Table
    writers: ProcessLock
    upkeep: ProcessLock

    @property
    def dataset(self) -> Path:
        return self.folder / f"{self.table.name}.lance"

    def events(self) -> list[Event]:
        """Every event of one version of the log, in log order. Servers may go on meanwhile."""
        with explained(self.folder, "to be read"):
            query = self.table.search().where("body IS NOT NULL").select(list(EVENT_COLUMNS))
            return sorted(events_of(read(self.table, query.to_arrow)), key=lambda event: event.id)

    @contextmanager
    def at_rest(self) -> Iterator[Table]:
        """The newest version of the log, held fast: what is read from it here is of one moment."""
        with self.upkeep.held(), explained(self.folder, "to be read"):
            table = connect(self.folder).open_table(self.table.name)
            table.checkout(table.version)
            yield table


def open_whole(location: str | Path, *, lock_timeout_s: float = 30.0) -> Whole:
    """Opens the store that is in this folder. Raises StoreTrouble where there is none: nothing is created."""
    if "://" in str(location):
        raise StoreTrouble(
            f"The store {location} is not in a folder of this machine, and this command works on folders.",
            "Run it where the store is a folder, or use what the object storage offers.",
        )
    folder = Path(location).expanduser().absolute()
    if not (folder / META).is_file():
        raise StoreTrouble(f"There is no store at {folder}.", "Name the folder that holds store.json.")
    load()
    with explained(folder, "to open"):
        writers = ProcessLock(folder / "write.lock", lock_timeout_s)
        with writers.held():
            _, table = open_log(folder)
        return Whole(folder, table, writers, ProcessLock(folder / "upkeep.lock", lock_timeout_s))
