"""What benchmarks run on: a tool context over a store, with a manual clock and past notes to fill it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from stilltrue.ids import ENTROPY_BITS, Stamp, stamp
from stilltrue.note import USER, Note
from stilltrue.retrieval.ranking import Policy
from stilltrue.text.formatting import Formatter
from store.embed.load import load_embedder
from store.memory import EphemeralStore
from store.open import open_store
from store.port import Embedder, Store
from tools.admin.bulk_load import append_notes
from tools.support.context import ToolContext

DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
"""The present moment of every benchmark, independent of when it is run."""


@cache
def model() -> Embedder:
    """The default model, loaded once."""
    return load_embedder()


class ReadyModel:
    """The `Embedding` of a tool context without waiting: the given model, by default the product's."""

    problem = None

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    def get(self, wait_s: float = 0.0) -> Embedder:
        """The model."""
        return self._embedder or model()


@dataclass(frozen=True, slots=True)
class PastNote:
    """A note to store: its words, age in days, subjects, class and cues."""

    text: str
    age_days: float = 0.0
    subjects: tuple[str, ...] = ("user",)
    klass: str = "note"
    cues: tuple[str, ...] = ()


class Stage:
    """A tool context over its own store: on LanceDB if a folder is given, else in memory. The seed fixes the ids."""

    def __init__(
        self,
        folder: Path | None = None,
        seed: int = 0,
        policy: Policy | None = None,
        embedder: Embedder | None = None,
        **limits: Any,
    ) -> None:
        self._random = Random(seed)
        self.now = NOW
        self._last: datetime | None = None
        self._embedding = ReadyModel(embedder)
        self.store: Store = open_store(str(folder)) if folder else EphemeralStore()
        self.context = ToolContext(
            store=self.store,
            embedding=self._embedding,
            clock=lambda: self.now,
            stamp=self._stamp,
            formatter=Formatter(UTC),
            policy=policy or Policy(),
            **limits,
        )

    def fill(self, past: Sequence[PastNote]) -> list[str]:
        """Append the notes, oldest first, and return their ids in the given order."""
        ids: dict[int, str] = {}
        notes = []
        for position in sorted(range(len(past)), key=lambda each: -past[each].age_days):
            each = past[position]
            made = stamp(NOW - timedelta(days=each.age_days), self._random.getrandbits(ENTROPY_BITS), self._last)
            self._last = made.at
            ids[position] = made.id
            notes.append(Note(made.id, each.text, each.subjects, each.klass, USER, made.at, cues=each.cues))
        append_notes(self.context, notes, self._embedding.get())
        return [ids[position] for position in range(len(past))]

    def with_policy(self, policy: Policy, **limits: Any) -> ToolContext:
        """A context over the same store with another ranking policy."""
        return replace(self.context, policy=policy, **limits)

    def _stamp(self, after: datetime | None) -> Stamp:
        return stamp(self.now, self._random.getrandbits(ENTROPY_BITS), after)


def rows(name: str, folder: Path = DATA) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file in the data folder."""
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
