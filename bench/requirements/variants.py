"""What is compared on the cases of `requirements`: rankings over a store, and the product's own recall of it."""

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

from bench.stage import NOW, Said, Stage
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
class Plain:
    """A note as a ranking knows it: its words, how it is told, its age, and whether its class ages."""

    text: str
    line: str
    age_days: float
    lasting: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """A case of the data on a store of its own. `bare` is a context of the same notes that knows no requirement."""

    row: dict[str, Any]
    decisive: str
    vector: Vector
    notes: dict[str, Plain]
    store: Store
    context: ToolContext
    bare: ToolContext

    def near(self, limit: int) -> list[tuple[str, float]]:
        """The notes of the subjects in play by their cosine to the query: (id, cosine), best first."""
        hits = self.store.by_vector(self.vector, self.row["subjects"], limit)
        return [(hit.note_id, hit.score) for hit in hits]

    def told(self, note_ids: Iterable[str]) -> str:
        """These notes as the product words a note that stands alone."""
        return "\n".join(self.notes[note_id].line for note_id in note_ids)


Arm = Callable[[Scene], str]
"""From a scene to the page that an agent reads."""


def nearest(scene: Scene, k: int) -> str:
    return scene.told(note_id for note_id, _ in scene.near(k))


def blended(scene: Scene, lasting: bool) -> str:
    """0.7 cosine + 0.3 exp(-age / 90 days) over all notes; with `lasting`, age is nothing to a constraint class."""

    def value(near: tuple[str, float]) -> float:
        note = scene.notes[near[0]]
        age = 0.0 if lasting and note.lasting else note.age_days
        return 0.7 * near[1] + 0.3 * math.exp(-age / 90)

    ranked = sorted(scene.near(len(scene.notes)), key=value, reverse=True)
    return scene.told(note_id for note_id, _ in ranked[:K])


def product(scene: Scene, channel: bool) -> str:
    context = scene.context if channel else scene.bare
    return recall(context, scene.row["query"], subjects=scene.row["subjects"]).text


def reranker(path: Path | None) -> Arm | str:
    """The arm that reorders the nearest 50 by a cross-encoder; or why there is none."""
    if path is None or not path.exists():
        return "no weights"
    try:
        from sentence_transformers import CrossEncoder
    except ImportError:
        return "no sentence-transformers"
    encoder: Any = CrossEncoder(str(path), device="cpu", local_files_only=True)

    def arm(scene: Scene) -> str:
        ids = [note_id for note_id, _ in scene.near(CANDIDATES)]
        scores = encoder.predict([(scene.row["query"], scene.notes[note_id].text) for note_id in ids])
        order = np.argsort(-np.asarray(scores).reshape(len(ids), -1)[:, 0], kind="stable")
        return scene.told(ids[position] for position in order[:K])

    return arm


@contextmanager
def staged(
    row: dict[str, Any], fillers: Sequence[str], embedder: Embedder, seed: int = 0, *, on_disk: bool = False
) -> Iterator[Scene]:
    """The case on a store of its own: its decisive note, its distractors, and fillers of up to 900 days."""
    random = Random(f"{seed} {row['id']}")
    about = tuple(row["subjects"])
    decisive = row["decisive"]
    said = [Said(decisive["text"], decisive["age_days"], tuple(decisive["subjects"]), row["klass"])]
    said += [Said(note["text"], note["age_days"], tuple(note["subjects"])) for note in row["distractors"]]
    said += [Said(text, random.uniform(0, 900), about) for text in fillers]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "store" if on_disk else None
        # Two stages, for what one delivers is counted as read and would rank higher in the other.
        stage, bare = (
            Stage(folder, seed, embedder=embedder, max_chains=K, classes=classes)
            for classes in (Classes(), NO_REQUIREMENTS)
        )
        ids = stage.fill(said)
        if folder is None:
            bare.fill(said)
        (query,) = embedder.encode([row["query"]])
        yield Scene(row, ids[0], query.vector, _plain(stage, ids), stage.store, stage.context, bare.context)
        stage.store.close()
        bare.store.close()


def _plain(stage: Stage, ids: Sequence[str]) -> dict[str, Plain]:
    found = {}
    for record in stage.store.chains_of(ids):
        for chain in chains(record.events, NOW):
            note = chain.members[chain.id].note
            line = render_chain(deliver(chain, [note.id]), stage.context.formatter).lines[0].text
            age_days = (NOW - note.recorded_at).total_seconds() / 86_400
            found[note.id] = Plain(note.text, line, age_days, stage.context.classes.of(note.klass).requirement)
    return found
