"""Gives every text of a store a vector of another model, while servers read and write it.

1. The texts are embedded, one file for some dozens of them (store/folder/staging.py). A killed run goes on there.
2. A log with the new vectors is made from the rows of now, with all indices, and compared with the one in use.
3. What was written meanwhile is embedded and added, the last of it with writers kept out, and the logs are switched
   (store/folder/generations.py). Until then every search is in the old space, and from then on in the new one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event, Row, meant_by
from store.errors import explained
from store.files import ProcessLock
from store.folder.backend import FolderBackend
from store.folder.generations import abandon, begin, clean_up, switch
from store.folder.staging import Prepared, prepared
from store.lance.compare import differences
from store.lance.engine import Table, connect
from store.lance.filters import chunks, one_of
from store.lance.rows import arrow_of, bytes_of, event_of, ways_of
from store.lance.schema import Meta, index_columns, log_schema, vector_field
from store.layout import REEMBED_LOCK
from store.port import Embedded, Fingerprint, IndexEntry

Embed: TypeAlias = Callable[[str, tuple[str, ...]], Embedded]
"""What the model makes of a text and its cues."""

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many of how many texts are done."""

_AT_ONCE = 64
"""Texts in one file: some seconds of work, and the most that a kill costs."""

_FEW = 4
"""So many texts may be left to be embedded while writers wait."""

_ROWS = 4_000
"""So many events are in memory with their vectors at one time."""

_WAYS = ("piece", "cue")


def reembed(
    whole: FolderBackend, space: Fingerprint, embed: Embed, say: Callable[[str], None], progress: Progress
) -> int:
    """Returns the number of texts when all of them are in this space, on the disk; 0 where they were before.

    Raises StoreTrouble where another process is at it, or a lock or the disk fails. What was embedded by then is
    kept for the next time, and the store is as it was.
    """
    with _alone(whole.folder), explained(whole.folder, "to be re-embedded"):
        meta = whole.log.now().meta
        wanted = _wanted(whole, space)
        if not wanted and meta.fingerprint in (None, space):
            return 0
        work = prepared(whole.folder, meta, space)
        if done := wanted.keys() & work.events():
            say(f"{len(done)} of {len(wanted)} texts were embedded before; going on from there.")
        while len(left := _left(wanted, work)) > _FEW:
            _prepare(whole, work, left, embed, progress, len(wanted))
            wanted = _wanted(whole, space)
        with whole.maintenance.held():
            number = _replace(whole, meta, work, embed)
        progress(number, number)
        shutil.rmtree(work.folder, ignore_errors=True)
        return number


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with ProcessLock(folder / REEMBED_LOCK, 0).tried() as mine:
        if not mine:
            raise StoreTrouble(f"Another process re-embeds the store at {folder}.", "Let it end, or end it.")
        yield


def _wanted(whole: FolderBackend, space: Fingerprint) -> dict[str, Event]:
    """The events that say something, by their ids, but for those which have a vector of this space."""
    there = frozenset[str]()
    if whole.log.fingerprint == space:
        there = frozenset(whole.log.read(lambda table: _ids(table, "vector IS NOT NULL")))
    return {event.id: event for event in whole.events() if meant_by(event)[0] and event.id not in there}


def _left(wanted: Mapping[str, Event], work: Prepared) -> list[Event]:
    done = work.events()
    return [event for event_id, event in wanted.items() if event_id not in done]


def _prepare(
    whole: FolderBackend, work: Prepared, events: Sequence[Event], embed: Embed, progress: Progress, total: int
) -> None:
    for start in range(0, len(events), _AT_ONCE):
        progress(total - len(events) + start, total)
        some = events[start : start + _AT_ONCE]
        made = {event: embed(*meant_by(event)) for event in some}
        # A note that was erased since it was read is not to come back here: an erasure looks under this lock, too.
        with whole.writers.held():
            where = f"kind = 'erased' AND {one_of('note', sorted({event.note_id for event in some}))}"
            found = whole.table.search().where(where).select(["note"]).to_arrow()
            gone = set(found.column("note").to_pylist())
            work.keep({(e.id, e.note_id): each for e, each in made.items() if e.note_id not in gone})


def _replace(whole: FolderBackend, meta: Meta, work: Prepared, embed: Embed) -> int:
    """Makes the log with the new vectors and puts it in the place of the old one. Under the lock of upkeep."""
    now = whole.log.now().meta
    if now.generation != meta.generation:
        raise StoreTrouble(f"The store at {whole.folder} was replaced meanwhile.", "Run this again.")
    database = connect(whole.folder)
    old = database.open_table(now.log)
    old.checkout(old.version)
    dimension = work.space.dimension
    try:
        name = begin(whole.folder, now).stem
        new = database.create_table(name, schema=log_schema().append(vector_field(dimension)))
        _fill(old, new, work, carried=now.fingerprint == work.space)
        _add(old, new, _missing(old, new), embed, dimension)
        new.optimize()
        index_columns(new)
        clean_up(new)
        if found := [*differences(old, new, recut=("piece",)), *_bare(new)]:
            raise StoreTrouble(
                f"The re-embedded log of {whole.folder} would not say the same. {' '.join(found)}",
                "The store is as it was. Run stilltrue check, and report this.",
            )
        while len(late := _missing(whole.table, new)) > _FEW:
            _add(whole.table, new, late, embed, dimension)
        with whole.writers.held():
            _add(whole.table, new, _missing(whole.table, new), embed, dimension)
            switch(whole.folder, replace(now, fingerprint=work.space, generation=now.generation + 1), new)
        return int(new.count_rows("vector IS NOT NULL AND body IS NOT NULL"))
    except BaseException:
        abandon(whole.folder, now.generation)
        raise


def _fill(old: Table, new: Table, work: Prepared, *, carried: bool) -> None:
    """All rows of the old log, but for the events that are not prepared yet and the ways to them.

    With `carried`, what has vectors and was not prepared comes as it is: its vectors are of the space.
    """
    dimension = work.space.dimension
    columns = [name for name in old.schema.names if carried or name not in ("vector", "sketch")]
    base = old.search().select(columns).to_arrow()
    ids, kinds, texts = (base.column(name).to_pylist() for name in ("id", "kind", "text"))
    position = {row_id: number for number, row_id in enumerate(ids)}
    known = set(_ids(old, "vector IS NOT NULL")) if carried else set()
    # An event is in here once it is in the new log, or is one to be embedded later.
    settled = {
        row_id
        for row_id, kind, text in zip(ids, kinds, texts, strict=True)
        if kind in ("remembered", "revoked") and text and row_id not in known
    }
    for part in _together(work.parts()):
        here = [event for event in part if event in position]
        rows = base.take([position[event] for event in here]).to_pylist()
        new.add(arrow_of([each for row in rows for each in _found(row, part[row["id"]])], dimension))
        settled.update(here)
    rest = [
        number
        for number, (row_id, kind) in enumerate(zip(ids, kinds, strict=True))
        if (row_id not in settled if kind not in _WAYS else carried and row_id.rpartition(".")[0] not in settled)
    ]
    for start in range(0, len(rest), _ROWS):
        rows = base.take(rest[start : start + _ROWS]).to_pylist()
        new.add(arrow_of([{"vector": None, "sketch": None, **row} for row in rows], dimension))


def _together(parts: Iterable[dict[str, Embedded]]) -> Iterator[dict[str, Embedded]]:
    """The parts, some of them in one."""
    gathered: dict[str, Embedded] = {}
    for part in parts:
        gathered |= part
        if len(gathered) >= _ROWS:
            yield gathered
            gathered = {}
    if gathered:
        yield gathered


def _found(row: Row, made: Embedded) -> list[Row]:
    """The row of an event and the rows of the ways to it, as they are found by what a model has made of it."""
    event = event_of(row)
    cues = iter(meant_by(event)[1] if event else ())
    index_entries = [
        IndexEntry(way.kind, next(cues) if way.kind == "cue" else "", way.vector, way.sketch)
        for way in made.index_entries
    ]
    return [{**row, "vector": made.vector, "sketch": bytes_of(made.sketch)}, *ways_of(row, index_entries)]


def _add(old: Table, new: Table, ids: Collection[str], embed: Embed, dimension: int) -> None:
    for some in chunks(ids):
        rows: list[Row] = []
        for row in old.search().where(one_of("id", some)).to_arrow().to_pylist():
            event = event_of(row)
            text, cues = meant_by(event) if event else ("", ())
            rows += _found(row, embed(text, cues) if text else Embedded())
        new.add(arrow_of(rows, dimension))


def _missing(old: Table, new: Table) -> set[str]:
    """The rows of a log, but for pieces and cues, that the new one does not have."""
    own = "kind NOT IN ('piece', 'cue')"
    return {*_ids(old, own)}.difference(_ids(new, own))


def _bare(table: Table) -> Iterator[str]:
    bare = table.count_rows("vector IS NULL AND text != '' AND kind IN ('remembered', 'revoked')")
    if bare:
        yield f"{bare} texts have no vector."


def _ids(table: Table, where: str) -> list[str]:
    ids: list[str] = table.search().where(where).select(["id"]).to_arrow().column("id").to_pylist()
    return ids
