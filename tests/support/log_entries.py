"""From a log to the entries that the verbs would append for it: each event with its chain and its causal past."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fakes import FakeEmbedder
from log_text import day

from stilltrue.event import Event, Remembered, Revoked
from stilltrue.note import Note
from store.port import Entry, IndexEntry, Store

MODEL = FakeEmbedder()


def entries_of(events: Iterable[Event], *, vectors: bool = True) -> list[Entry]:
    """One entry for each event, in order; a note's cues are its ways, its digest is `digest of <text>`."""
    chains: dict[str, list[Note]] = {}
    return [_entry(event, chains, vectors) for event in events]


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


def _entry(event: Event, chains: dict[str, list[Note]], vectors: bool) -> Entry:
    note_ids = {event.note_id}
    if isinstance(event, Remembered):
        note_ids |= {link.to for link in event.links}
        chains[event.id] = [event.note]
    touched = _touched(chains, note_ids)
    if isinstance(event, Remembered) and len(touched) > 1:
        touched.remove(event.id)
        del chains[event.id]
        chains[touched[0]] = [*(note for chain in touched for note in chains[chain]), event.note]
        for joined in touched[1:]:
            del chains[joined]
    past = chains[touched[0]]
    said = event.note.text if isinstance(event, Remembered) else event.reason if isinstance(event, Revoked) else ""
    cues = event.note.cues if isinstance(event, Remembered) else ()
    return Entry(
        event=event,
        chain=touched[0],
        joins=tuple(touched[1:]),
        subjects=tuple(sorted({subject for note in past for subject in note.subjects})),
        klasses=tuple(sorted({note.klass for note in past})),
        digest=f"digest of {said}" if isinstance(event, Remembered) else None,
        vector=MODEL.embed([said])[0] if vectors and said else None,
        index_entries=tuple(IndexEntry("cue", cue, MODEL.embed([cue])[0] if vectors else None) for cue in cues),
    )


def _touched(chains: Mapping[str, list[Note]], note_ids: set[str]) -> list[str]:
    return sorted(chain for chain, notes in chains.items() if not note_ids.isdisjoint(note.id for note in notes))
