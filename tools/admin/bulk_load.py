"""Append many unlinked notes at once. The demo, the benchmarks and the tests fill a store with it.

The notes bring their own ids and times, so that a store can be given a past. Nothing is looked up, and there is no
answer; agents have no such tool.
"""

from __future__ import annotations

from collections.abc import Sequence

from stilltrue.event import Remembered
from stilltrue.note import Note, content_hash
from store.port import Embedded, Embedder, IndexEntry
from tools.support.context import ToolContext
from tools.support.lookup import entry
from tools.support.retry import attempts


def append_notes(context: ToolContext, notes: Sequence[Note], embedder: Embedder) -> None:
    """Append all of the notes at once, with their texts and cues embedded in one batch. Texts are not split."""
    context.store.adopt(embedder.fingerprint)
    texts = [text for note in notes for text in (note.text, *note.cues)]
    encoded = iter(embedder.encode(texts))
    entries = []
    for note in notes:
        own = next(encoded)
        cues = [(cue, next(encoded)) for cue in note.cues]
        index_entries = tuple(IndexEntry("cue", cue, each.vector, each.sketch) for cue, each in cues)
        embedded = Embedded(own.vector, own.sketch, index_entries)
        digest = content_hash(note.text, note.subjects, note.klass)
        entries.append(entry(Remembered(note), None, embedded, digest))
    for attempt in attempts(context):
        with attempt:
            context.store.append(entries)
