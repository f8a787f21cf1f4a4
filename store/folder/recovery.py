"""Recognises on opening what a power cut tore, and sets it aside. Nothing is ever deleted here.

LanceDB writes a version's data files, then its manifest, and waits for neither to reach the disk. After a power
cut the newest of them can be empty, short, missing, or full of zeros, and a manifest of zeros opens without any
error as a table of no rows. A version that was acknowledged was on the disk before (see durable.py), so that
stepping back over torn ones loses nothing that anybody was told is stored.

That holds for what a crash does. A file that somebody deleted, or a disk that fails, makes versions torn which were
acknowledged. They can be told by this: an append is on the disk with all that it rests on before the next one
begins. So a file that two appends rest on was on the disk, and no crash is why it is not whole.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections import Counter
from pathlib import Path

from stilltrue.errors import StoreTrouble
from store.folder.manifest import MAGIC, parts_of

_log = logging.getLogger(__name__)


def heal(dataset: Path, aside: Path, *, acknowledged: bool = True) -> list[Path]:
    """Sets aside the newest versions of a dataset that are torn, up to the first whole one.

    With a torn version go the files that only torn ones name. Returns where everything lies now. To be called
    while no other process appends. Raises StoreTrouble, and moves nothing, where no version is whole, or where one
    that was acknowledged is torn; with `acknowledged=False` none ever was.
    """
    torn: dict[Path, set[Path]] = {}
    # Names count down: the newest version comes first.
    for manifest in sorted(dataset.glob("_versions/*.manifest")):
        files = _files_of(dataset, manifest)
        if files is not None and all(map(_is_whole, files)):
            if acknowledged:
                _refuse_lost([*torn.values(), files])
            named = set[Path]().union(*torn.values())
            return _set_aside([*torn, *sorted(named - files)], dataset, aside) if torn else []
        torn[manifest] = files or set()
    if torn:
        raise StoreTrouble(
            f"No version of {dataset} is whole; the newest is {next(iter(torn)).name}. Nothing was moved or removed.",
            "Bring the store back from a backup, or set this folder aside to begin an empty one.",
        )
    return []


def _refuse_lost(versions: list[set[Path]]) -> None:
    """Raises StoreTrouble where a file is not whole that was on the disk: one that two appends rest on.

    `versions` are the files of each version, the newest first; empty where its manifest is torn.
    """
    known = [files for files in versions if files]
    data = [{file for file in files if file.parent.name == "data"} for files in known]
    appends = [files for files, own, older in zip(known, data, data[1:], strict=False) if own > older]
    resting = Counter(file for files in appends for file in files)
    lost = sorted(file for file, times in resting.items() if times > 1 and not _is_whole(file))
    if lost:
        raise StoreTrouble(
            f"{lost[0]} is {'damaged' if lost[0].exists() else 'missing'}, and no crash can be why:"
            f" {resting[lost[0]]} writes rest on it, and each was on the disk before the next. Nothing was moved.",
            "Bring that file back, or the store from a backup. Without it what was written since would be lost.",
        )


def _files_of(dataset: Path, manifest: Path) -> set[Path] | None:
    """The files of a version: its data files, and the folders of its indices with what is in them. None if torn."""
    try:
        parts = parts_of(manifest.read_bytes())
    except ValueError:
        return None
    indices = {dataset / "_indices" / name for name in parts.indices}
    inside = {file for folder in indices if folder.is_dir() for file in folder.iterdir()}
    return {dataset / "data" / name for name in parts.data} | indices | inside


def _is_whole(path: Path) -> bool:
    if path.is_dir():
        return any(path.iterdir())
    try:
        with path.open("rb") as stream:
            stream.seek(max(stream.seek(0, os.SEEK_END) - len(MAGIC), 0))
            return stream.read() == MAGIC
    except FileNotFoundError:
        return False


def _set_aside(files: list[Path], dataset: Path, aside: Path) -> list[Path]:
    folder = aside / dataset.stem
    folder.mkdir(parents=True, exist_ok=True)
    moved = []
    for file in files:
        if file.exists():
            target = folder / file.name
            # The number of a torn version is given again, so that it can tear again.
            if target.exists():
                target = folder / f"{uuid.uuid4().hex[:8]}-{file.name}"
            file.rename(target)
            moved.append(target)
    _log.warning(
        "%s: files torn by a crash were set aside, and the last whole version was opened. Nothing that was"
        " acknowledged is in them, unless somebody removed or changed files by hand. They are: %s",
        dataset,
        ", ".join(map(str, moved)),
    )
    return moved
