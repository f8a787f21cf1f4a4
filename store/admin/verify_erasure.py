"""Shows that what was erased is nowhere under the store's folder.

By construction: one set of files is left, that of the versions which remain, all indices in it were made after the
rows were written anew, and no file holds deleted rows. By looking: every row of every remaining version is read
through LanceDB, and every file is searched for the bytes of the texts. Neither would do alone: the files may be
packed, and LanceDB only shows what a version names.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stilltrue.event import Remembered, Row, to_row
from stilltrue.formats.redaction import Traces
from store.errors import explained
from store.folder.backend import FolderBackend
from store.folder.manifest import parts_of
from store.folder.staging import holding
from store.lance.engine import Table, connect
from store.lance.rows import event_of
from store.layout import INTENT, USAGE, dataset

_SHORTEST = 6
"""Bytes. What is shorter would be met by chance in any file of numbers; it is looked for in the rows alone."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What was looked through, and what was found.

    `left` are sentences about what should be gone and is not; `elsewhere` about words that other notes say too.
    """

    versions: int
    rows: int
    files: int
    size_bytes: int
    left: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


def prove(whole: FolderBackend, gone: Collection[str], traces: Traces) -> Proof:
    """Looks for the traces of the erased notes in everything under the store's folder."""
    with whole.maintenance.held(), explained(whole.folder, "to be searched"):
        table = connect(whole.folder).open_table(whole.table.name)
        with whole.writers.held():  # what a writer is about to commit is named by no version yet
            manifests = sorted(whole.dataset.glob("_versions/*.manifest"))
            left = _litter(whole, manifests, gone)
        versions = [2**64 - 1 - int(manifest.stem) for manifest in manifests]
        others: dict[str, str] = {}
        rows = 0
        for version in versions:
            for row in _rows_at(table, version):
                rows += 1
                left += _left_in(row, gone)
                for trace in traces.in_text(_kept(row, gone)):
                    if len(trace.encode()) >= _SHORTEST:
                        others.setdefault(trace, row["note"] or row["id"])
        looked_for = (traces.texts | traces.asides | traces.words) - others.keys()
        sizes = []
        for file in sorted(whole.folder.rglob("*")):
            with suppress(FileNotFoundError):  # writers go on: their drafts come and go, under other names
                if file.is_file():
                    left += [f"{file} holds the bytes of {trace!r}." for trace in _found_in(file, looked_for)]
                    sizes.append(file.stat().st_size)
        texts = [trace for trace in others if trace in traces.texts]
        left += [
            f"Note [{others[text]}] says {_brief(text)} too; erase it as well, if it is to go." for text in texts
        ]
        words = [f"{_brief(word)} stands in note [{others[word]}] too." for word in others if word not in texts]
        return Proof(len(versions), rows, len(sizes), sum(sizes), tuple(dict.fromkeys(left)), tuple(sorted(words)))


def _rows_at(table: Table, version: int) -> Iterator[Row]:
    table.checkout(version)
    columns = [name for name in table.schema.names if name not in ("vector", "sketch")]
    bare = "vector IS NULL AND sketch IS NULL" if "vector" in table.schema.names else "sketch IS NULL"
    seen = table.search().where(bare).select(["id"]).to_arrow().column("id").to_pylist()
    without = frozenset(seen)
    for row in table.search().select(columns).to_arrow().to_pylist():
        yield row | {"bare": row["id"] in without}


def _left_in(row: Row, gone: Collection[str]) -> list[str]:
    """What a row of an erased note has that it should not have."""
    if row["note"] not in gone:
        return []
    event = event_of(row)
    words = [row["text"], row["digest"], getattr(event, "reason", None)]
    words += event.note.cues if isinstance(event, Remembered) else ()
    if any(words) or not row["bare"] or row["kind"] in ("piece", "cue"):
        return [f"Row {row['id']} of the erased note [{row['note']}] still holds some of it."]
    return []


def _kept(row: Row, gone: Collection[str]) -> str:
    """All that a row says and may go on saying, in one text."""
    event = event_of(row)
    said = to_row(event) if event else {}
    kept = {name: value for name, value in said.items() if row["note"] not in gone or name not in ("text", "reason")}
    flat = [str(each) for value in kept.values() for each in (value if isinstance(value, list) else [value])]
    own = "" if row["note"] in gone else row["text"] or ""
    return "\n".join([*flat, own, row["id"], row["request"] or "", *(row["subjects"] or ()), *(row["klasses"] or ())])


def _litter(whole: FolderBackend, manifests: list[Path], gone: Collection[str]) -> list[str]:
    """Files that no remaining version names, or that hold deleted rows."""
    parts = [parts_of(manifest.read_bytes()) for manifest in manifests]
    data = frozenset[str]().union(*(each.data for each in parts))
    indices = frozenset[str]().union(*(each.indices for each in parts))
    stray = [file for file in whole.dataset.glob("data/*") if file.name not in data]
    stray += [file for file in whole.dataset.glob("_indices/*/*") if file.parent.name not in indices]
    stray += [*whole.dataset.glob("_deletions/*"), *whole.folder.glob("set-aside/*/*"), *whole.folder.glob(INTENT)]
    told = [f"{file} is of the time before the erasure." for file in stray]
    told += [f"{file} holds vectors of what was erased." for file in holding(whole.folder, gone)]
    own = (whole.dataset, dataset(whole.folder, USAGE))
    others = [table for table in whole.folder.rglob("*.lance") if table.is_dir() and table not in own]
    return told + [f"{table} is another table, and nothing was erased from it." for table in sorted(others)]


def _found_in(file: Path, traces: Collection[str]) -> list[str]:
    needles = {trace: {trace.encode(), json.dumps(trace, ensure_ascii=False)[1:-1].encode()} for trace in traces}
    if not file.stat().st_size:
        return []
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return [
            trace
            for trace, forms in needles.items()
            if any(len(form) >= _SHORTEST and content.find(form) >= 0 for form in forms)
        ]


def _brief(text: str) -> str:
    words = " ".join(text.split())
    return repr(words if len(words) <= 60 else f"{words[:57]}...")
