"""A copy of a store that is of one moment, made while servers go on writing.

Appends only add files, and while the lock of upkeep is held nothing takes any away. So the files that one manifest
names are that version, whatever happens meanwhile; no writer has to wait.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from stilltrue.errors import StoreTrouble
from store.errors import explained
from store.files import ProcessLock, write_whole
from store.folder.backend import FolderBackend, open_existing
from store.folder.generations import copy_version
from store.lance.engine import Table
from store.layout import META, USAGE, USAGE_LOCK

_USAGE = f"{USAGE}.lance"


@dataclass(frozen=True, slots=True)
class Copied:
    """What a backup holds."""

    folder: Path
    rows: int
    events: int
    size_bytes: int


def backup(whole: FolderBackend, target: str | Path) -> Copied:
    """Copies the store to a folder that is empty or not there yet, opens the copy, and compares it with the store.

    Raises StoreTrouble where the target cannot be used or the copy is not what was copied; then the target is as it
    was before.
    """
    folder = Path(target).expanduser().absolute()
    _refuse_unfit(whole.folder, folder)  # before `try`: what is there already is not ours to take back
    made = not folder.exists()
    try:
        with whole.at_rest() as table:
            meta = (whole.folder / META).read_bytes()
            if json.loads(meta)["fingerprint"] and "vector" not in table.schema.names:
                raise StoreTrouble("The store took up its embedding model meanwhile.", "Run the backup again.")
            with explained(folder, "to be written"):
                folder.mkdir(parents=True, exist_ok=True)
                copy_version(whole.dataset, folder / whole.dataset.name, int(table.version))
                _copy_counts(whole.folder, folder)
                # It comes last: without it the folder is no store.
                write_whole(folder / META, meta)
            wanted = _ids(table)
        copied = open_existing(folder)
        with copied.at_rest() as table:
            if _ids(table) != wanted:
                raise StoreTrouble(
                    f"The copy at {folder} does not hold the rows that were copied; it was removed.",
                    "Check that disk, then try again.",
                )
        events = len(copied.events())
    except BaseException:
        _take_back(folder, made)
        raise
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Copied(folder, len(wanted), events, size)


def _refuse_unfit(source: Path, folder: Path) -> None:
    if folder.resolve().is_relative_to(source.resolve()):
        raise StoreTrouble(f"The backup {folder} would lie inside the store.", "Name a folder outside of it.")
    with explained(folder, "to be looked at"):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise StoreTrouble(
                f"The backup {folder} is not an empty folder.", "Name one that is empty or not there yet."
            )


def _copy_counts(source: Path, target: Path) -> None:
    """The retrieval counts, whole: they are small, and nobody waits long for their lock."""
    if (source / _USAGE).is_dir():
        with ProcessLock(source / USAGE_LOCK, 10.0).held():
            shutil.copytree(source / _USAGE, target / _USAGE)


def _ids(table: Table) -> list[str]:
    ids: list[str] = table.search().select(["id"]).to_arrow().column("id").to_pylist()
    return sorted(ids)


def _take_back(folder: Path, made: bool) -> None:
    if made:
        shutil.rmtree(folder, ignore_errors=True)
    elif folder.is_dir():
        for each in folder.iterdir():
            shutil.rmtree(each, ignore_errors=True) if each.is_dir() else each.unlink(missing_ok=True)
