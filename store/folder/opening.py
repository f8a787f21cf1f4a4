"""Opens the log of a folder: the schema is the right one, the newest version is whole, the indices are there."""

from __future__ import annotations

from pathlib import Path

from stilltrue.errors import StoreTrouble
from store.files import Syncer
from store.folder.erasure import finish
from store.folder.recovery import heal
from store.lance.engine import Database, Table, connect
from store.lance.schema import VERSION, Meta, index_columns, log_schema, read_meta, write_meta
from store.layout import ASIDE, LOG, dataset


def open_log(folder: Path, known: int = VERSION) -> tuple[Database, Table]:
    """The database in this folder and the log in it, healed where a crash tore it, created where there is none.
    An erasure that was left in the middle is finished.

    To be called under the lock of writers. Raises StoreTrouble where the store is of a schema newer than `known`,
    or not whole.
    """
    meta = read_meta(folder, known)
    log = dataset(folder, meta.log if meta else LOG)
    heal(log, folder / ASIDE)
    database = connect(folder)
    if meta is None:
        return database, _create(folder, log, database)
    if not log.is_dir():
        raise StoreTrouble(
            f"The store at {folder} has lost its log: {log.name} is not there.",
            "Bring that folder back from a backup, or configure another store location to begin an empty store.",
        )
    table = database.open_table(meta.log)
    finish(folder, table)
    return database, table


def _create(folder: Path, log: Path, database: Database) -> Table:
    """Creates the log, or goes on where a process was killed in doing so: store.json is what makes it a store."""
    table = database.create_table(LOG, schema=log_schema(), exist_ok=True)
    if table.count_rows():
        raise StoreTrouble(
            f"There is a log at {folder}, but no store.json that says which schema it has.",
            "Bring store.json back from a backup, or configure another store location to begin an empty store.",
        )
    index_columns(table)
    Syncer(log).sync(table.version)
    write_meta(folder, Meta(VERSION))
    return table
