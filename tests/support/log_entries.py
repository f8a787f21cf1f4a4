"""From a log to the entries that the tools would append for it: each event with its chain and its causal past."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fakes import FakeEmbedder
from log_text import day

from stilltrue.chain import CausalPast, ChainTracker
from stilltrue.event import Event, Remembered, meant_by
from stilltrue.note import Note
from store.port import Entry, IndexEntry, Store

MODEL = FakeEmbedder()


def entries_of(events: Iterable[Event], *, vectors: bool = True) -> list[Entry]:
    """One entry for each event, in order; its cues are index entries, its digest is `digest of <text>`."""
    tracker = ChainTracker()
    return [_entry(event, tracker.add(event), vectors) for event in events]


def put(store: Store, events: Sequence[Event], *, vectors: bool = True) -> None:
    """Appends each event as a write of its own."""
    if vectors:
        assert store.adopt(MODEL.fingerprint)
    for entry in entries_of(events, vectors=vectors):
        with store.writing():
            store.append([entry])


def note(note_id: str, text: str = "a note", subjects: Sequence[str] = ("team",), **more: Any) -> Remembered:
    """A note of the first day, of the default class; `more` are further fields of it."""
    return Remembered(Note(note_id, text, tuple(subjects), "note", "user", day(1), **more))


def write(store: Store, *note_ids: str) -> None:
    """Appends a note for each id, each as a write of its own."""
    for note_id in note_ids:
        with store.writing():
            store.append([Entry(note(note_id), note_id, subjects=("team",))])


def _entry(event: Event, past: CausalPast, vectors: bool) -> Entry:
    text, cues = meant_by(event)
    return Entry(
        event=event,
        chain=past.chain,
        joins=past.joins,
        subjects=past.subjects,
        klasses=past.klasses,
        digest=f"digest of {text}" if isinstance(event, Remembered) else None,
        vector=MODEL.embed([text])[0] if vectors and text else None,
        index_entries=tuple(IndexEntry("cue", cue, MODEL.embed([cue])[0] if vectors else None) for cue in cues),
    )
