"""The variants that `requirements` compares: baseline rankings over a store, and the product's own recall."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.stage import NOW, PastNote, Stage
from stilltrue.chain import chains, deliver
from stilltrue.classes import DEFAULT_CLASSES, Classes
from stilltrue.text.render import render_chain
from store.port import Embedder, Store, Vector
from tools.recall import recall
from tools.support.context import ToolContext

K = 6
CANDIDATES = 50
NO_REQUIREMENTS = Classes(replace(klass, requirement=False) for klass in DEFAULT_CLASSES)


@dataclass(frozen=True, slots=True)
class PlainNote:
    """A note as a baseline knows it: text, rendered line, age, and whether its class does not age."""

    text: str
    line: str
    age_days: float
    lasting: bool


@dataclass(frozen=True, slots=True)
class Case:
    """A case of the data on its own store. `bare` is a context over the same notes without requirement classes."""

    row: dict[str, Any]
    decisive: str
    vector: Vector
    notes: dict[str, PlainNote]
    store: Store
    context: ToolContext
    bare: ToolContext

    def near(self, limit: int) -> list[tuple[str, float]]:
        """The notes of the subjects in play by cosine to the query, as (id, cosine), best first."""
        hits = self.store.by_vector(self.vector, self.row["subjects"], limit)
        return [(hit.note_id, hit.score) for hit in hits]

    def rendered(self, note_ids: Iterable[str]) -> str:
        """These notes, worded as the product words a single note."""
        return "\n".join(self.notes[note_id].line for note_id in note_ids)


Variant = Callable[[Case], str]
"""A function from a case to the page that an agent reads."""


def nearest(case: Case, k: int) -> str:
    """The k notes with the highest cosine."""
    return case.rendered(note_id for note_id, _ in case.near(k))


def blended(case: Case, lasting: bool) -> str:
    """0.7 cosine + 0.3 exp(-age / 90 days) over all notes; with `lasting`, constraint classes do not age."""

    def value(near: tuple[str, float]) -> float:
        note = case.notes[near[0]]
        age = 0.0 if lasting and note.lasting else note.age_days
        return 0.7 * near[1] + 0.3 * math.exp(-age / 90)

    ranked = sorted(case.near(len(case.notes)), key=value, reverse=True)
    return case.rendered(note_id for note_id, _ in ranked[:K])


def product(case: Case, channel: bool) -> str:
    """The product's recall, with its requirements channel or without."""
    context = case.context if channel else case.bare
    return recall(context, case.row["query"], subjects=case.row["subjects"]).text


def reranker(path: Path | None) -> Variant | str:
    """The variant that reorders the nearest 50 by a cross-encoder, or the reason why it cannot run."""
    if path is None or not path.exists():
        return "no weights"
    try:
        from sentence_transformers import CrossEncoder
    except ImportError:
        return "no sentence-transformers"
    encoder: Any = CrossEncoder(str(path), device="cpu", local_files_only=True)

    def variant(case: Case) -> str:
        ids = [note_id for note_id, _ in case.near(CANDIDATES)]
        scores = encoder.predict([(case.row["query"], case.notes[note_id].text) for note_id in ids])
        order = np.argsort(-np.asarray(scores).reshape(len(ids), -1)[:, 0], kind="stable")
        return case.rendered(ids[position] for position in order[:K])

    return variant


@contextmanager
def case_store(
    row: dict[str, Any], fillers: Sequence[str], embedder: Embedder, seed: int = 0, *, on_disk: bool = False
) -> Iterator[Case]:
    """The case on its own store: the decisive note, its distractors, and fillers up to 900 days old."""
    random = Random(f"{seed} {row['id']}")
    about = tuple(row["subjects"])
    decisive = row["decisive"]
    past = [PastNote(decisive["text"], decisive["age_days"], tuple(decisive["subjects"]), row["klass"])]
    past += [PastNote(note["text"], note["age_days"], tuple(note["subjects"])) for note in row["distractors"]]
    past += [PastNote(text, random.uniform(0, 900), about) for text in fillers]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "store" if on_disk else None
        # Two stages: what one returns counts as read, and would rank higher in the other.
        stage, bare = (
            Stage(folder, seed, embedder=embedder, max_chains=K, classes=classes)
            for classes in (Classes(), NO_REQUIREMENTS)
        )
        ids = stage.fill(past)
        if folder is None:
            bare.fill(past)
        (query,) = embedder.encode([row["query"]])
        yield Case(row, ids[0], query.vector, _plain_notes(stage, ids), stage.store, stage.context, bare.context)
        stage.store.close()
        bare.store.close()


def _plain_notes(stage: Stage, ids: Sequence[str]) -> dict[str, PlainNote]:
    found = {}
    for record in stage.store.chains_of(ids):
        for chain in chains(record.events, NOW):
            note = chain.members[chain.id].note
            line = render_chain(deliver(chain, [note.id]), stage.context.formatter).lines[0].text
            age_days = (NOW - note.recorded_at).total_seconds() / 86_400
            found[note.id] = PlainNote(note.text, line, age_days, stage.context.classes.of(note.klass).requirement)
    return found
