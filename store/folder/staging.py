"""What another model has made of the texts so far, beside the log, until it becomes part of the next one.

    <store>/reembed-2/space.json      of which vector space it is
    <store>/reembed-2/<id>.arrow      the vectors and sketches of some events; ids, and no words

Each file is there whole or not at all, so that a process that was killed left what it had done.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from store.files import write_whole
from store.lance.engine import ArrowTable, arrow
from store.lance.rows import bytes_of, sketches_of, vectors_of
from store.lance.schema import Meta, vector_field
from store.layout import STAGING
from store.port import Embedded, Fingerprint, IndexEntry

_SPACE = "space.json"


@dataclass(frozen=True, slots=True)
class Prepared:
    """The vectors that are there for the next generation of the log."""

    folder: Path
    space: Fingerprint

    def events(self) -> frozenset[str]:
        """The events that are done."""
        return frozenset[str]().union(*(_column(path, "event") for path in self._files()))

    def keep(self, made: Mapping[tuple[str, str], Embedded]) -> None:
        """Puts on the disk what was made of some events, by the id of the event and that of its note."""
        pa = arrow()
        rows = [
            (event, note, kind, vector, bytes_of(sketch))
            for (event, note), each in made.items()
            for kind, vector, sketch in (
                ("own", each.vector, each.sketch),
                *((way.kind, way.vector, way.sketch) for way in each.index_entries),
            )
        ]
        if rows:
            schema = pa.schema(
                [pa.field(name, pa.utf8()) for name in ("event", "note", "kind")]
                + [vector_field(self.space.dimension), pa.field("sketch", pa.binary())]
            )
            columns = [
                pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            sink = pa.BufferOutputStream()
            with pa.ipc.new_file(sink, schema) as writer:
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            write_whole(self.folder / f"{rows[0][0]}.arrow", sink.getvalue().to_pybytes())

    def parts(self) -> Iterator[dict[str, Embedded]]:
        """What is there, file by file, by the id of the event. The texts of its ways are left out."""
        for path in self._files():
            table = _table(path)
            ids, kinds = table.column("event").to_pylist(), table.column("kind").to_pylist()
            part: dict[str, Embedded] = {}
            for event, kind, vector, sketch in zip(ids, kinds, vectors_of(table), sketches_of(table), strict=True):
                if kind == "own":
                    part[event] = Embedded(vector, sketch)
                else:
                    before = part[event]
                    part[event] = Embedded(
                        before.vector, before.sketch, (*before.index_entries, IndexEntry(kind, "", vector, sketch))
                    )
            yield part

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.arrow"))


def prepared(folder: Path, meta: Meta, space: Fingerprint) -> Prepared:
    """What was made for this space so far. What was begun for another is removed: it will not be used."""
    place = folder / f"{STAGING}-{meta.generation + 1}"
    said = json.dumps(asdict(space)).encode()
    if place.exists() and (not (place / _SPACE).exists() or (place / _SPACE).read_bytes() != said):
        shutil.rmtree(place)
    place.mkdir(exist_ok=True)
    _remove_drafts(place)
    write_whole(place / _SPACE, said)
    return Prepared(place, space)


def preparing(folder: Path, meta: Meta) -> bool:
    """Whether something is there for the next generation."""
    return (folder / f"{STAGING}-{meta.generation + 1}").is_dir()


def forget(folder: Path, note_ids: Collection[str]) -> None:
    """Removes what was made of these notes, with all that stands in the same files. Under the lock of writers."""
    for place in folder.glob(f"{STAGING}-*"):
        _remove_drafts(place)
    for path in holding(folder, note_ids):
        path.unlink()


def holding(folder: Path, note_ids: Collection[str]) -> list[Path]:
    """The files in which there is something that was made of these notes."""
    gone = frozenset(note_ids)
    return [
        path for path in sorted(folder.glob(f"{STAGING}-*/*.arrow")) if not gone.isdisjoint(_column(path, "note"))
    ]


def _remove_drafts(place: Path) -> None:
    """Removes what was being written when a process was killed or a disk was full."""
    for draft in place.glob("*.tmp"):
        draft.unlink()


def _column(path: Path, name: str) -> list[str]:
    values: list[str] = _table(path).column(name).to_pylist()
    return values


def _table(path: Path) -> ArrowTable:
    pa = arrow()
    return pa.ipc.open_file(pa.py_buffer(path.read_bytes())).read_all()
