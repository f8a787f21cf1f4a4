"""Takes the words of notes out of a store for good, so that a kill at any moment leaves the old or the new state.

1. What is to be erased is written down (`erasing.json`: ids, no words).
2. One commit takes the words out of the rows, drops the ways to them, and adds the `erased` events.
3. The log is written anew without the deleted rows, and every index is made anew from it. Writers go on.
4. With writers kept out, all older versions, logs, litter and set-aside files are removed, and so is
   `erasing.json`. Of a re-embedding that is under way, what was made of the notes goes.

Whoever opens the store next, or erases next, goes on where `erasing.json` says that one was left.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from stilltrue.chain import partition
from stilltrue.event import Erased, Event, Remembered, Row
from stilltrue.formats.redaction import forgotten
from stilltrue.ids import stamp
from store.errors import ENGINE_ERRORS, explained
from store.files import ProcessLock, Syncer, remove_drafts, sync_folder, write_whole
from store.folder.generations import abandon, clean_up, former, kept, settle
from store.folder.staging import forget
from store.lance.engine import ArrowTable, Table, arrow
from store.lance.filters import chunks, one_of
from store.lance.rows import arrow_of, event_of, rows_of, said_in
from store.lance.schema import index_columns
from store.layout import ASIDE, DERIVED, FORMER_DERIVED, INTENT, MAINTENANCE_LOCK, dataset, generation_of
from store.port import Entry

_log = logging.getLogger(__name__)

_GOES_ON = "what was begun is finished by the next start of a server or `stilltrue erase`"


@dataclass(frozen=True, slots=True)
class Intent:
    """What is to be erased, when it was asked for, and thirty bits by which its ids are told from others."""

    note_ids: tuple[str, ...]
    at: datetime
    entropy: int


def erase(folder: Path, table: Table, writers: ProcessLock, maintenance: ProcessLock, intent: Intent) -> None:
    """Erases the notes. Returns when nothing of them is left in the folder; `store.proving` is what shows it.

    Other processes may read and write meanwhile. Raises StoreTrouble where a lock cannot be had in time; then
    nothing has happened, unless `erasing.json` is there.
    """
    with explained(folder, f"to erase; {_GOES_ON}"), maintenance.held():
        with writers.held():
            # What somebody else was killed in comes first: there is one such file.
            _go_on(folder, table)
            _write_intent(folder, intent)
            _forget(folder, table, intent)
        _renew(folder, table)
        with writers.held():
            _purge(folder, table, intent.note_ids)


def finish(folder: Path, table: Table) -> None:
    """Goes on with an erasure that was left in the middle, if there is one. To be called under the writers' lock.

    Where another process is at it, or at a compaction, that one is left alone: what remains is done by the next to
    come. Trouble is logged, since the notes that nobody wants erased are to be had all the same.
    """
    if pending(folder) is None:
        return
    try:
        with ProcessLock(folder / MAINTENANCE_LOCK, 0).tried() as mine:
            if mine:
                _log.warning("%s: an erasure that was left in the middle is being finished", folder)
                _go_on(folder, table)
    except ENGINE_ERRORS as error:
        _log.error("%s: an erasure that was left in the middle could not be finished: %s", folder, error)


def _go_on(folder: Path, table: Table) -> None:
    intent = pending(folder)
    if intent is not None:
        _forget(folder, table, intent)
        _renew(folder, table)
        _purge(folder, table, intent.note_ids)


def pending(folder: Path) -> Intent | None:
    """What is being erased, or was when a process was killed."""
    try:
        said = json.loads((folder / INTENT).read_bytes())
    except FileNotFoundError:
        return None
    return Intent(tuple(said["notes"]), datetime.fromisoformat(said["at"]), said["entropy"])


def _write_intent(folder: Path, intent: Intent) -> None:
    said = {"notes": list(intent.note_ids), "at": intent.at.isoformat(), "entropy": intent.entropy}
    write_whole(folder / INTENT, json.dumps(said).encode())


def _forget(folder: Path, table: Table, intent: Intent) -> None:
    """The one commit after which the log says `erased`. Does nothing where it was made before."""
    rows = chain_rows(table, intent.note_ids)
    events = {event.id: event for row in rows if (event := event_of(row)) is not None}
    gone = {event.id for event in events.values() if isinstance(event, Remembered)}.intersection(intent.note_ids)
    done = {event.note_id for event in events.values() if isinstance(event, Erased)}
    if gone <= done:
        return
    by_id = {row["id"]: row for row in rows}
    changed = [
        _changed(by_id[before.id], after, erased=after.note_id in gone)
        for before, after in zip(events.values(), forgotten(events.values(), gone), strict=True)
        if after != before or after.note_id in gone
    ]
    found_by = {row["id"] for row in rows if row["note"] in gone and row["body"] is None and row["kind"] != "join"}
    touched = found_by | {row["id"] for row in changed}
    changed += rows_of(_erasures(list(events.values()), by_id, gone - done, intent), ())
    field = table.schema.field("vector") if "vector" in table.schema.names else None
    (
        table.merge_insert("id")
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .when_not_matched_by_source_delete(" OR ".join(one_of("id", some) for some in chunks(found_by)) or "false")
        # It calls a missing vector a bad one. There is no other value for it than the null it already is.
        .execute(
            _with_neighbours(table, touched, arrow_of(changed, field.type.list_size if field else None)),
            on_bad_vectors="null",
        )
    )
    Syncer(dataset(folder, table.name)).sync(table.version)


def _with_neighbours(table: Table, touched: Collection[str], changed: ArrowTable) -> ArrowTable:
    """The changed rows, and as they are all others that lie in one fragment with a touched one.

    Once all rows of a fragment are written anew, no version has need of its files. A compaction that merely leaves
    out deleted rows does not do: LanceDB 0.40 was seen to carry bytes of theirs over into the new file.
    """
    pa = arrow()
    here = table.search().with_row_id(True).to_arrow()
    fragments = pa.compute.shift_right(here.column("_rowid"), pa.scalar(32, pa.uint64()))
    ids = here.column("id")
    ours = pa.compute.is_in(ids, pa.array(sorted(touched), pa.utf8()))
    affected = pa.compute.is_in(fragments, pa.compute.unique(fragments.filter(ours)))
    beside = here.filter(pa.compute.and_(affected, pa.compute.invert(ours))).select(changed.schema.names)
    return pa.concat_tables([changed, beside.cast(changed.schema)])


def chain_rows(table: Table, note_ids: Collection[str]) -> list[Row]:
    """Every row, with every column, of the chains that hold these notes; in no order."""
    found: dict[str, Row] = {}
    asked: set[str] = set()
    wanted = {row["chain"] for row in _rows_where(table, "id", note_ids)}
    while wanted:
        found |= {row["id"]: row for row in _rows_where(table, "chain", wanted)}
        asked |= wanted
        wanted = {joined for row in found.values() for joined in row["joins"] or ()} - asked
    return list(found.values())


def _rows_where(table: Table, column: str, values: Collection[str]) -> list[Row]:
    tables = [table.search().where(one_of(column, some)).to_arrow() for some in chunks(values)]
    return [row for found in tables for row in found.to_pylist()]


def _changed(row: Row, event: Event, *, erased: bool) -> Row:
    text, body = said_in(event)
    if not erased:
        return {"vector": None, **row, "body": body}
    request = event.request_id if isinstance(event, Remembered) else None
    bare = {"vector": None, "sketch": None, "digest": None}
    return {**row, **bare, "text": text, "request": request, "body": body}


def _erasures(events: Sequence[Event], by_id: dict[str, Row], gone: Collection[str], intent: Intent) -> list[Entry]:
    """An `erased` event for each of the notes, later than all of its chain, with the causal past of its chain."""
    entries: list[Entry] = []
    for part in partition(events):
        latest = max(event.at for event in part)
        notes = [event.note for event in part if isinstance(event, Remembered)]
        for note in notes:
            if note.id not in gone:
                continue
            made = stamp(intent.at, intent.entropy + len(entries), latest)
            latest = made.at
            entries.append(
                Entry(
                    Erased(made.id, made.at, note.id),
                    chain=min(by_id[event.id]["chain"] for event in part),
                    subjects=tuple(dict.fromkeys(subject for each in notes for subject in each.subjects)),
                    klasses=tuple(dict.fromkeys(each.klass for each in notes)),
                )
            )
    return entries


def _renew(folder: Path, table: Table) -> None:
    """Writes the rows anew without the deleted ones, and makes every index anew from them."""
    table.optimize()
    index_columns(table, anew=True)
    Syncer(dataset(folder, table.name)).sync(table.version)


def _purge(folder: Path, table: Table, gone: Collection[str]) -> None:
    """Removes everything that is not of the newest version. To be called with writers and upkeep kept out."""
    clean_up(table)
    remove_drafts(dataset(folder, table.name))
    _purge_beside(folder, generation_of(table.name) or 1, gone)
    shutil.rmtree(folder / ASIDE, ignore_errors=True)
    shutil.rmtree(folder / DERIVED, ignore_errors=True)
    for derived in folder.glob(f"{FORMER_DERIVED}*"):
        derived.unlink(missing_ok=True)
    (folder / INTENT).unlink(missing_ok=True)
    sync_folder(folder)


def _purge_beside(folder: Path, generation: int, gone: Collection[str]) -> None:
    """Removes other logs than the one in use, and what was made of the notes for the next one."""
    settle(folder, generation)
    abandon(folder, generation)
    forget(folder, gone)
    for store in kept(folder):
        _log.warning("%s, the store as it was before an upgrade, held the words too and was removed", store)
    for path in (*former(folder, generation), *kept(folder)):
        shutil.rmtree(path)
