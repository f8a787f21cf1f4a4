"""The whole of a store in a folder, for the commands that read, copy, verify or clean all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event
from store.errors import explained
from store.files import ProcessLock
from store.folder.active_log import CurrentLog
from store.folder.migrate import upgrade
from store.folder.opening import open_log
from store.lance.compare import all_events
from store.lance.engine import Table, connect, load
from store.lance.schema import UPGRADES, Upgrade, newest
from store.layout import META


@dataclass(frozen=True, slots=True)
class Whole:
    """A store that is there: its folder, its log, the lock of its writers, and that of its upkeep.

    While `upkeep` is held no process compacts, cleans up or puts another log in the place of this one, so that no
    file that a version names goes away.
    """

    folder: Path
    log: CurrentLog
    writers: ProcessLock
    upkeep: ProcessLock

    @property
    def table(self) -> Table:
        return self.log.table

    @property
    def dataset(self) -> Path:
        return self.folder / f"{self.table.name}.lance"

    def events(self) -> list[Event]:
        """Every event of one version of the log, in log order. Servers may go on meanwhile."""
        with explained(self.folder, "to be read"):
            return self.log.read(all_events)

    @contextmanager
    def at_rest(self) -> Iterator[Table]:
        """The newest version of the log, held fast: what is read from it here is of one moment."""
        with self.upkeep.held(), explained(self.folder, "to be read"):
            table = connect(self.folder).open_table(self.table.name)
            table.checkout(table.version)
            yield table


def open_whole(
    location: str | Path, *, lock_timeout_s: float = 30.0, upgrades: Mapping[int, Upgrade] = UPGRADES
) -> Whole:
    """Opens the store that is in this folder, upgraded where it is of an older schema.

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
    with explained(folder, "to open"):
        writers, upkeep = (ProcessLock(folder / f"{name}.lock", lock_timeout_s) for name in ("write", "upkeep"))
        upgrade(folder, writers, upkeep, upgrades)
        with writers.held():
            database, _ = open_log(folder, newest(upgrades))
        return Whole(folder, CurrentLog(folder, writers, database, newest(upgrades)), writers, upkeep)
