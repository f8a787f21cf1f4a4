"""Another log takes the place of the store's in one moment: how a re-embedding and an upgrade end.

1. `next.json` says which generation is being made. Until the switch, whatever lies under its name is litter.
2. Its log is made beside the one in use, compared with it, and put on the disk.
3. `store.json` is replaced, which names the log, its vector space and its schema version at once.
4. What was the log before goes where `next.json` says that it is kept, or is removed once no read is on it.

All of it happens under the lock of upkeep, so that nobody cleans, erases or switches meanwhile. From the last look
at the old log until the switch the lock of writers is held as well.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from store.files import Syncer, manifest_name, sync_folder, write_whole
from store.folder.manifest import parts_of
from store.lance.engine import Table
from store.lance.schema import Meta, meta_bytes, write_meta
from store.layout import KEPT, META, NEXT, STAGING, dataset, generation_of, log_name

_GRACE_S = 60.0
"""So long a log stays after the switch, for the reads that began on it. The longest takes some seconds."""


@dataclass(frozen=True, slots=True)
class Next:
    """A generation that is being made, and the folder in which the log before it is kept, if it is."""

    generation: int
    kept: str | None


def begin(folder: Path, now: Meta, kept: str | None = None) -> Path:
    """Where the next generation of the log is to be made, with nothing there. Under the lock of upkeep.

    With `kept`, the name of a folder that is not there yet, the log of now becomes a whole store in it.
    """
    abandon(folder, now.generation)
    write_whole(folder / NEXT, json.dumps({"generation": now.generation + 1, "kept": kept}).encode())
    if kept is not None:
        (folder / kept).mkdir()
        write_whole(folder / kept / META, meta_bytes(now))
    return dataset(folder, log_name(now.generation + 1))


def switch(folder: Path, to: Meta, table: Table) -> None:
    """Makes the newest version of `table` the log. Under both locks."""
    Syncer(dataset(folder, to.log)).sync(int(table.version))
    write_meta(folder, to)
    settle(folder, to.generation)


def unsettled(folder: Path, generation: int) -> bool:
    """Whether a process was killed between a switch and the end of its work."""
    made = pending(folder)
    return made is not None and made.generation <= generation


def settle(folder: Path, generation: int) -> None:
    """Does what is left to do after a switch to this generation. Under both locks."""
    made = pending(folder)
    if made is None or made.generation > generation:
        return
    log = dataset(folder, log_name(made.generation - 1))
    if made.kept is not None and log.is_dir():
        log.rename(folder / made.kept / log.name)
        sync_folder(folder / made.kept)
    (folder / NEXT).unlink()
    sync_folder(folder)


def abandon(folder: Path, generation: int) -> None:
    """Removes what is left of a generation that never became the log. Under the lock of upkeep."""
    made = pending(folder)
    if made is None or made.generation <= generation:
        return
    shutil.rmtree(dataset(folder, log_name(made.generation)), ignore_errors=True)
    if made.kept is not None:
        (folder / made.kept / META).unlink(missing_ok=True)
        with suppress(OSError):
            (folder / made.kept).rmdir()
    (folder / NEXT).unlink()


def pending(folder: Path) -> Next | None:
    """The generation that is being made, or was when a process was killed."""
    try:
        said = json.loads((folder / NEXT).read_bytes())
    except FileNotFoundError:
        return None
    return Next(said["generation"], said["kept"])


def former(folder: Path, generation: int) -> list[Path]:
    """What was made for this generation or was the log of an earlier one, and is in use no more."""
    logs = [path for path in folder.glob("log*.lance") if 0 < (generation_of(path.stem) or 0) < generation]
    prepared = [
        path for path in folder.glob(f"{STAGING}-*") if 0 < (generation_of(path.name, STAGING) or 0) <= generation
    ]
    return sorted([*logs, *prepared])


def retire(folder: Path, generation: int, clock: Path) -> None:
    """Removes what is in use no more, once no read can be on it. Under the lock of upkeep.

    `clock` is a file of the caller's: dating it says what time it is by the clock that dates files.
    """
    left = former(folder, generation)
    if not left or pending(folder) is not None:
        return
    os.utime(clock)
    if clock.stat().st_mtime - (folder / META).stat().st_mtime >= _GRACE_S:
        for path in left:
            shutil.rmtree(path, ignore_errors=True)


def kept(folder: Path) -> list[Path]:
    """The stores as they were before upgrades."""
    return sorted(folder.glob(f"{KEPT}-*"))


def copy_version(source: Path, target: Path, version: int) -> None:
    """All that one version of a dataset needs, on the disk on return."""
    manifest = source / "_versions" / manifest_name(version)
    parts = parts_of(manifest.read_bytes())
    for name in ("data", "_versions", "_indices"):
        (target / name).mkdir(parents=True, exist_ok=True)
    for name in parts.data:
        shutil.copyfile(source / "data" / name, target / "data" / name)
    for name in parts.indices:
        shutil.copytree(source / "_indices" / name, target / "_indices" / name)
    if (source / "_deletions").is_dir():
        shutil.copytree(source / "_deletions", target / "_deletions")
    shutil.copyfile(manifest, target / "_versions" / manifest.name)
    Syncer(target).sync(version)


def clean_up(table: Table) -> None:
    """Leaves one version of a table, and no file that is not of it. With writers and upkeep kept out."""
    with warnings.catch_warnings():
        # It warns of readers of older versions. Ours read the newest, and read it again where files went away.
        warnings.simplefilter("ignore", UserWarning)
        table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
