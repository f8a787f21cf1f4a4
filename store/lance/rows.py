"""Between entries and rows of the log: what is written for an entry, and what a row says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event, Remembered, Row, from_row, kind_of, to_row
from stilltrue.retrieval.late_interaction import WIDTH, Sketch
from store.lance.checksum import SUM, sums_of
from store.lance.engine import ArrowTable, arrow
from store.lance.schema import SUBJECT_PREFIX, log_schema, vector_field
from store.port import Entry, Hit, IndexEntry, Vector

EVENT_COLUMNS = ("text", "body")
"""The columns from which `events_of` reads."""


def rows_of(entries: Iterable[Entry], new_subjects: Iterable[str]) -> list[Row]:
    """All rows to be appended for the entries, and one for each subject that no note named before."""
    rows = [row for entry in entries for row in _rows_of(entry)]
    return rows + [empty_row(id=SUBJECT_PREFIX + name, kind="subject") for name in sorted(new_subjects)]


def subjects_of(entries: Iterable[Entry]) -> set[str]:
    """The subjects that the notes in the entries name."""
    return {
        subject for entry in entries if isinstance(entry.event, Remembered) for subject in entry.event.note.subjects
    }


def arrow_of(rows: Sequence[Row], dimension: int | None) -> ArrowTable:
    """The rows as an Arrow table, with a column of vectors if the store has a vector space.

    Raises StoreTrouble where a vector is not of that space's dimension, and UnicodeEncodeError where a text
    holds a lone surrogate: it has no UTF-8 form.
    """
    pa = arrow()
    schema = log_schema()
    for row in rows:
        if row["vector"] is not None and len(row["vector"]) != dimension:
            raise StoreTrouble(
                f"A vector of {len(row['vector'])} numbers does not fit a space of {dimension or 'no'} dimensions.",
                "Configure the embedding model that this store was made with, or run `stilltrue reembed`.",
            )
    given = [field for field in schema if field.name != SUM]
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in given]
    sums = sums_of(pa.Table.from_arrays(columns, schema=pa.schema(given)))
    columns.append(pa.array(sums, pa.int64()))
    if dimension is not None:
        field = vector_field(dimension)
        columns.append(pa.array([row["vector"] for row in rows], field.type))
        schema = schema.append(field)
    return pa.Table.from_arrays(columns, schema=schema)


def events_of(table: ArrowTable) -> list[Event]:
    """The events of rows with EVENT_COLUMNS, in the order of the table."""
    return [event for event in _events(table) if event is not None]


def _events(table: ArrowTable) -> list[Event | None]:
    texts, bodies = table.column("text").to_pylist(), table.column("body").to_pylist()
    return [body and event_in(text, body) for text, body in zip(texts, bodies, strict=True)]


def event_of(row: Row) -> Event | None:
    """The event that a row carries, None where it is a way, a join or a subject."""
    return event_in(row["text"], row["body"]) if row["body"] else None


def event_in(text: str | None, body: str) -> Event:
    """The event in these columns of a row. Raises ValueError, KeyError or TypeError where they are damaged."""
    row = json.loads(body)
    if row["kind"] == "remembered":
        row["text"] = text
    return from_row(row)


def vectors_of(table: ArrowTable) -> list[Vector | None]:
    """The vector of each row, None where it has none or the store has no vector space."""
    if "vector" not in table.column_names or not table.num_rows:
        return [None] * table.num_rows
    column = table.column("vector").combine_chunks()
    # `flatten` leaves out the slots of nulls, so the vectors that are there come one after the other.
    there = iter(np.asarray(column.flatten(), np.float32).reshape(-1, column.type.list_size))
    return [next(there) if valid else None for valid in column.is_valid().to_pylist()]


def sketches_of(table: ArrowTable) -> list[Sketch | None]:
    """The sketch of each row, None where it has none."""
    packed = table.column("sketch").to_pylist()
    return [None if each is None else np.frombuffer(each, np.int8).reshape(-1, WIDTH) for each in packed]


def bytes_of(sketch: Sketch | None) -> bytes | None:
    """A sketch as it is kept in a row; `sketches_of` is the way back."""
    return None if sketch is None else sketch.tobytes()


def hits_of(table: ArrowTable, measure: str) -> dict[str, Hit]:
    """The hits in the result of a search, by the id of their row. `measure` is `_distance` or `_score`."""
    measured = table.column(measure).to_pylist()
    scores = measured if measure == "_score" else [1 - distance for distance in measured]
    columns = (table.column(name).to_pylist() for name in ("note", "chain"))
    hits = map(Hit, *columns, scores, vectors_of(table), sketches_of(table))
    return dict(zip(table.column("id").to_pylist(), hits, strict=True))


def best(found: Mapping[str, Hit], limit: int) -> list[Hit]:
    """At most `limit` of the hits, given by the id of their row: best first, ties in the order of ids."""
    ordered = sorted(found, key=lambda row_id: (-found[row_id].score, found[row_id].note_id, row_id))
    return [found[row_id] for row_id in ordered[: max(limit, 0)]]


def said_in(event: Event) -> tuple[str | None, str]:
    """The columns `text` and `body` of an event: the words by which it is found, and all the rest as JSON."""
    body = to_row(event)
    text = body.pop("text", None) if isinstance(event, Remembered) else body.get("reason")
    return text, json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _rows_of(entry: Entry) -> list[Row]:
    event = entry.event
    text, body = said_in(event)
    request = event.request_id if isinstance(event, Remembered) else None
    shared = {"note": event.note_id, "chain": entry.chain, "at": event.at}
    rows = [
        empty_row(
            id=event.id,
            kind=kind_of(event),
            joins=list(entry.joins),
            subjects=list(entry.subjects),
            klasses=list(entry.klasses),
            text=text,
            vector=entry.vector,
            sketch=bytes_of(entry.sketch),
            digest=entry.digest,
            request=request,
            body=body,
            **shared,
        )
    ]
    rows += ways_of(rows[0], entry.index_entries)
    rows += [
        empty_row(id=f"{event.id}+{joined}", kind="join", joins=[entry.chain], **shared | {"chain": joined})
        for joined in entry.joins
    ]
    return rows


def ways_of(row: Row, index_entries: Sequence[IndexEntry]) -> list[Row]:
    """The rows of the ways to the event in a row."""
    shared = {name: row[name] for name in ("note", "chain", "at", "subjects")}
    return [
        empty_row(
            id=f"{row['id']}.{number}",
            kind=way.kind,
            text=way.text,
            vector=way.vector,
            sketch=bytes_of(way.sketch),
            **shared,
        )
        for number, way in enumerate(index_entries)
    ]


def without_vectors(entries: Iterable[Entry]) -> list[Entry]:
    """The entries as they are where no model is: found by their words."""
    return [
        replace(
            entry,
            vector=None,
            sketch=None,
            index_entries=tuple(
                replace(way, vector=None, sketch=None) for way in entry.index_entries if way.kind == "cue"
            ),
        )
        for entry in entries
    ]


def empty_row(**values: Any) -> Row:
    """A row with these values in its columns, and nothing in all others."""
    return {
        "note": "",
        "chain": "",
        "joins": [],
        "subjects": [],
        "klasses": [],
        "text": None,
        "vector": None,
        "sketch": None,
        "at": None,
        "digest": None,
        "request": None,
        "body": None,
        **values,
    }
