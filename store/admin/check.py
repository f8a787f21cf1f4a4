"""Verifies a whole store: the log, its links and chains, the rows that are derived from it, its indices and counts.

All of it is read from one version that is held fast, so that servers may go on. What it finds are sentences. What
follows from the rows, `repair` makes anew: the indices, and the rows that are indices themselves (joins, subjects).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from stilltrue.chain import partition
from stilltrue.event import Event, Remembered, Row, kind_of
from stilltrue.note import content_hash
from store.errors import explained
from store.files import Syncer
from store.folder.backend import FolderBackend
from store.folder.erasure import pending
from store.folder.generations import kept
from store.folder.staging import preparing
from store.lance.checksum import damage_in
from store.lance.engine import Table
from store.lance.indices import index_problems
from store.lance.rows import arrow_of, empty_row, event_of, said_in
from store.lance.schema import SUBJECT_PREFIX, index_columns

_MOST = 20
"""So many findings of one sort are told one by one; of the rest, the number."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found. `problems` are what is wrong, `remarks` what is worth knowing, `counts` what there is."""

    problems: tuple[str, ...]
    remarks: tuple[str, ...]
    counts: Mapping[str, int]
    missing: tuple[Row, ...] = ()
    indices_wrong: bool = False


def check(whole: FolderBackend) -> Report:
    """Reads all of the store and says what is wrong with it."""
    with whole.at_rest() as table:
        report = examined(table)
    problems = list(report.problems)
    if intent := pending(whole.folder):
        left = f"The erasure of {len(intent.note_ids)} notes was left in the middle"
        problems.append(f"{left}: run stilltrue erase again.")
    return replace(report, problems=tuple(problems), remarks=(*_remarks(whole), *report.remarks))


def examined(table: Table) -> Report:
    """What is wrong with a log, by one version of it that does not change meanwhile."""
    rows = _all_rows(table)
    counts = Counter(row["kind"] for row in rows)
    events = _events(rows)
    missing, derived = _derived(rows, events)
    indices = index_problems(table, rows)
    sorts = [[*_log(rows)], [*_links(events)], [*_chains(rows, events)], [*_ways(rows, events)], derived, indices]
    if (counted := table.count_rows()) != len(rows):
        sorts.append([f"LanceDB counts {counted} rows, and {len(rows)} were read."])
    told = [said for found in sorts for said in _shortened(found)]
    return Report(tuple(told), tuple(_without_vectors(rows)), counts, tuple(missing), bool(indices))


def repair(whole: FolderBackend, report: Report) -> None:
    """Makes anew what follows from the rows: missing joins and subjects, and all indices if any is wrong."""
    with whole.maintenance.held(), whole.writers.held(), explained(whole.folder, "to be repaired"):
        if report.missing:
            space = whole.log.fingerprint
            whole.table.add(arrow_of(report.missing, space.dimension if space else None))
        if report.indices_wrong:
            index_columns(whole.table, anew=True)
        Syncer(whole.dataset).sync(whole.table.version)


def _all_rows(table: Table) -> list[Row]:
    """Every row without its vector, but whether it has one, and with what its checksums say of it."""
    columns = [name for name in table.schema.names if name != "vector"]
    content = table.search().select(columns).to_arrow()
    rows: list[Row] = [
        row | {"damage": damage} for row, damage in zip(content.to_pylist(), damage_in(content), strict=True)
    ]
    with_vector: frozenset[str] = frozenset()
    if "vector" in table.schema.names:
        found = table.search().where("vector IS NOT NULL").select(["id"]).to_arrow()
        with_vector = frozenset(found.column("id").to_pylist())
    return [row | {"vector": row["id"] in with_vector} for row in rows]


def _events(rows: Iterable[Row]) -> dict[str, tuple[Row, Event]]:
    """The events that can be read, with their rows, in log order."""
    found: dict[str, tuple[Row, Event]] = {}
    for row in sorted(rows, key=lambda row: str(row["id"])):
        try:
            event = event_of(row)
        except (ValueError, KeyError):
            continue
        if event is not None:
            found[event.id] = row, event
    return found


def _log(rows: Sequence[Row]) -> Iterator[str]:
    """Each row by itself: its body parses, and its columns say what the body says."""
    for row_id, times in Counter(row["id"] for row in rows).items():
        if times > 1:
            yield f"The id {row_id} stands in {times} rows."
    for row in rows:
        if row["damage"]:
            yield f"Row {row['id']} does not match its checksum: its {row['damage']} changed after it was written."
    gone = {row["note"] for row in rows if row["kind"] == "erased"}
    for row in rows:
        if row["body"] is None:
            if row["kind"] not in ("piece", "cue", "join", "subject"):
                yield f"Row {row['id']} is of kind {row['kind']} and has no body."
            continue
        try:
            event = event_of(row)
        except (ValueError, KeyError) as error:
            yield f"The body of row {row['id']} is not that of an event: {error!r}."
            continue
        if event is not None:
            yield from _columns(row, event, gone)


def _columns(row: Row, event: Event, gone: set[str]) -> Iterator[str]:
    note = event.note if isinstance(event, Remembered) else None
    text, _ = said_in(event)
    digest = content_hash(note.text, note.subjects, note.klass) if note and note.id not in gone else None
    wanted = {
        "id": event.id,
        "kind": kind_of(event),
        "note": event.note_id,
        "at": event.at,
        "text": text,
        "digest": digest,
        "request": event.request_id if isinstance(event, Remembered) else None,
    }
    for column, value in wanted.items():
        if row[column] != value:
            yield f"Row {row['id']} has {row[column]!r} as its {column}; its event says {value!r}."
    if event.note_id in gone:
        said = [row["text"], getattr(event, "reason", None), *(note.cues if note else ())]
        if any(said) or row["vector"] or row["sketch"]:
            yield f"Row {row['id']} still has words or a vector of the erased note {event.note_id}."


def _links(events: Mapping[str, tuple[Row, Event]]) -> Iterator[str]:
    notes = {event_id for event_id, (_, event) in events.items() if isinstance(event, Remembered)}
    for _, event in events.values():
        targets = [link.to for link in event.links] if isinstance(event, Remembered) else [event.note_id]
        for target in targets:
            if target not in notes:
                yield f"Event {event.id} leads to note {target}, which is not there."
            elif target >= event.id:
                yield f"Event {event.id} leads to note {target}, which is not older: links may make a cycle."


def _chains(rows: Sequence[Row], events: Mapping[str, tuple[Row, Event]]) -> Iterator[str]:
    """Chain ids and joins connect what links connect, and each event carries the past that it has to."""
    rows_by_chain: dict[str, list[str]] = {}
    for row in rows:
        if row["chain"]:
            rows_by_chain.setdefault(row["chain"], []).extend(row["joins"] or ())
    for part in partition(event for _, event in events.values()):
        ids = {events[event.id][0]["chain"] for event in part}
        for chain in sorted(ids - _reach(part[0].id, rows_by_chain)):
            yield f"The rows of chain {chain} are not reached from the oldest note of their chain, {part[0].id}."
        for chain in sorted(_reach(part[0].id, rows_by_chain) - {event.id for event in part}):
            yield f"The chain of note {part[0].id} is joined with {chain}, to which no link leads."
        notes = {event.id: event for event in part if isinstance(event, Remembered)}
        named = {subject for event in notes.values() for subject in event.note.subjects}
        for event in part:
            row = events[event.id][0]
            past = [notes[note_id].note for note_id in _older(event.note_id, notes)]
            for column, needed, known in (
                ("subjects", {subject for note in past for subject in note.subjects}, named),
                ("klasses", {note.klass for note in past}, {each.note.klass for each in notes.values()}),
            ):
                has = set(row[column] or ())
                for each in sorted(needed - has):
                    yield f"Row {row['id']} does not carry {each!r} of its past in its {column}."
                for each in sorted(has - known):
                    yield f"Row {row['id']} carries {each!r} in its {column}, which no note of its chain has."


def _ways(rows: Sequence[Row], events: Mapping[str, tuple[Row, Event]]) -> Iterator[str]:
    """Pieces and cues belong to an event that is there, of a note that is not erased, and stand in its chain."""
    cues = Counter((row["note"], row["text"]) for row in rows if row["kind"] == "cue")
    for _, event in events.values():
        for cue in event.note.cues if isinstance(event, Remembered) else ():
            if not cues[event.id, cue]:
                yield f"Note {event.id} has the cue {cue!r}, and no row leads from it to the note."
    owners = {row["id"]: row for row in rows if row["body"] is not None}
    gone = {row["note"] for row in rows if row["kind"] == "erased"}
    for row in rows:
        if row["kind"] not in ("piece", "cue"):
            continue
        owner = owners.get(row["id"].rpartition(".")[0])
        if owner is None or owner["note"] != row["note"]:
            yield f"The {row['kind']} {row['id']} belongs to an event of note {row['note']} that is not there."
        elif row["note"] in gone:
            yield f"The {row['kind']} {row['id']} belongs to the erased note {row['note']}."
        elif row["chain"] != owner["chain"]:
            yield f"The {row['kind']} {row['id']} stands in chain {row['chain']}, its event in {owner['chain']}."


def _derived(rows: Sequence[Row], events: Mapping[str, tuple[Row, Event]]) -> tuple[list[Row], list[str]]:
    """The rows that are indices: those that are missing, and sentences about what is missing or too many."""
    named = {s for _, event in events.values() if isinstance(event, Remembered) for s in event.note.subjects}
    wanted = {SUBJECT_PREFIX + name: empty_row(id=SUBJECT_PREFIX + name, kind="subject") for name in named}
    for row, event in events.values():
        for joined in row["joins"] or ():
            row_id = f"{event.id}+{joined}"
            made = empty_row(
                id=row_id, kind="join", note=event.note_id, chain=joined, joins=[row["chain"]], at=event.at
            )
            wanted[row_id] = made
    there = {row["id"]: row for row in rows if row["kind"] in ("subject", "join")}
    missing = [row for row_id, row in sorted(wanted.items()) if row_id not in there]
    told = [f"The row {row['id']}, by which a {row['kind']} is found, is missing." for row in missing]
    told += [f"The row {row_id} stands for nothing in the log." for row_id in sorted(there.keys() - wanted.keys())]
    told += [
        f"The join {row_id} leads from {row['chain']} to {row['joins']}, not to {wanted[row_id]['joins']}."
        for row_id, row in sorted(there.items())
        if row_id in wanted and (row["chain"], row["joins"]) != (wanted[row_id]["chain"], wanted[row_id]["joins"])
    ]
    return missing, told


def _remarks(whole: FolderBackend) -> Iterator[str]:
    torn = sorted(file.name for file in whole.folder.glob("set-aside/*/*"))
    if torn:
        yield f"{len(torn)} files that a crash tore lie in set-aside; nothing acknowledged is in them."
    if preparing(whole.folder, whole.log.now().meta):
        yield "A re-embedding is under way or was left in the middle: stilltrue reembed goes on with it."
    for store in kept(whole.folder):
        yield f"{store.name} is the store as it was before an upgrade. Delete it once you do not want it back."


def _without_vectors(rows: Iterable[Row]) -> Iterator[str]:
    gone = {row["note"] for row in rows if row["kind"] == "erased"}
    bare = [row for row in rows if row["kind"] == "remembered" and not row["vector"] and row["id"] not in gone]
    if bare:
        yield f"{len(bare)} notes have no vector and are found by their words only; stilltrue reembed gives them one."


def _older(note_id: str, notes: Mapping[str, Remembered]) -> set[str]:
    """The note and all that its links lead to."""
    return _reach(note_id, {each: [link.to for link in event.links] for each, event in notes.items()}) & notes.keys()


def _reach(start: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    reached: set[str] = set()
    frontier = [start]
    while frontier:
        each = frontier.pop()
        if each not in reached:
            reached.add(each)
            frontier += edges.get(each, ())
    return reached


def _shortened(found: Sequence[str]) -> list[str]:
    more = len(found) - _MOST
    return [*found[:_MOST], f"... and {more} more of this sort."] if more > 0 else [*found]
