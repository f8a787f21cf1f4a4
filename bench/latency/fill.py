"""Fill a store to a size without a model: notes with random vectors and sketches, compacted by maintenance.

    python -m bench.latency.fill FOLDER NOTES SEED SINGLE

The last SINGLE notes are written one by one, with maintenance as often as on a server under constant writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from math import ceil
from pathlib import Path
from random import Random
from time import monotonic

import numpy as np

from bench.stage import NOW, rows
from stilltrue.event import Remembered
from stilltrue.ids import ENTROPY_BITS, stamp
from stilltrue.note import USER, Link, LinkKind, Note, content_hash
from stilltrue.retrieval.late_interaction import WIDTH, sketch
from store.embed.weights import MINILM
from store.open import open_store
from store.port import Entry

PER_SUBJECT = 100
REQUIREMENT = "allergy"
_REQUIREMENTS, _SUCCESSORS = 0.03, 0.1
_DAYS = 900.0
_TOKENS = (8, 40)
_APPENDS = 20
_MAINTAIN_EVERY_S = 2.0


def subject(number: int) -> str:
    """The name of the subject with this number."""
    return f"person {number}"


def fill(folder: Path, notes: int, seed: int, single: int = 0) -> None:
    """One subject per hundred notes; of a hundred, three are requirements and ten replace an earlier note."""
    store = open_store(str(folder))
    store.adopt(MINILM)
    entries = list(_entries(notes, seed))
    at_once, one_by_one = entries[: notes - single], entries[notes - single :]
    step = ceil(len(at_once) / _APPENDS)
    for start in range(0, len(at_once), step):
        with store.writing():
            store.append(at_once[start : start + step])
    store.maintain()
    maintained = monotonic()
    for entry in one_by_one:
        with store.writing():
            store.append([entry])
        if monotonic() > maintained + _MAINTAIN_EVERY_S:
            store.maintain()
            maintained = monotonic()
    store.close()


def _entries(notes: int, seed: int) -> Iterator[Entry]:
    random, generator = Random(seed), np.random.default_rng(seed)
    words = [word for row in rows("fillers") for word in row["text"].split()]
    basis = np.eye(WIDTH, dtype=np.float32)
    heads: dict[str, list[tuple[Note, str]]] = {}
    last = None
    for number in range(notes):
        made = stamp(NOW - timedelta(days=_DAYS * (1 - number / notes)), random.getrandbits(ENTROPY_BITS), last)
        last = made.at
        about = subject(number % max(notes // PER_SUBJECT, 1))
        klass = REQUIREMENT if random.random() < _REQUIREMENTS else "note"
        older: Note | None = None
        chain = made.id
        if heads.get(about) and random.random() < _SUCCESSORS:
            older, chain = heads[about].pop(random.randrange(len(heads[about])))
            klass = older.klass
        text = " ".join(random.choices(words, k=random.randint(6, 25)))
        note = Note(made.id, text, (about,), klass, USER, made.at)
        heads.setdefault(about, []).append((note, chain))
        vector = generator.normal(size=MINILM.dimension).astype(np.float32)
        tokens = generator.normal(size=(random.randint(*_TOKENS), WIDTH)).astype(np.float32)
        yield Entry(
            event=Remembered(note, (Link(older.id, LinkKind.UPDATE),) if older else ()),
            chain=chain,
            subjects=(about,),
            klasses=(klass,),
            digest=content_hash(text, note.subjects, klass),
            vector=vector / np.linalg.norm(vector),
            sketch=sketch(tokens, basis),
        )


if __name__ == "__main__":
    fill(Path(sys.argv[1]), *map(int, sys.argv[2:]))
