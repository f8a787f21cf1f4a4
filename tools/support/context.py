"""What every tool is given: the store, the embedder, the clock, the classes, the limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from stilltrue.classes import DEFAULT_CLASS, Classes
from stilltrue.ids import Stamp
from stilltrue.retrieval.budget import TokenCounter, estimate_tokens
from stilltrue.retrieval.ranking import Policy
from stilltrue.text.formatting import Formatter
from store.port import Embedded, Embedder, Encoded, IndexEntry, Reranker, Store


class Embedding(Protocol):
    """An embedder that may still be loading, or may have failed to load."""

    @property
    def problem(self) -> str | None:
        """Why there will be none; None otherwise."""
        ...

    def get(self, wait_s: float = 0.0) -> Embedder | None:
        """The embedder, after waiting up to `wait_s` seconds for it; None if it is not ready by then."""
        ...


class Reranking(Protocol):
    """A cross-encoder that may still be loading, or may have failed to load."""

    @property
    def problem(self) -> str | None:
        """Why there will be none; None otherwise."""
        ...

    def get(self, wait_s: float = 0.0) -> Reranker | None:
        """The cross-encoder, if it is ready."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum sizes of arguments: counts and characters, but bytes of UTF-8 for the text of a note."""

    text_bytes: int = 32_768
    subjects: int = 100
    subject: int = 200
    cues: int = 20
    cue: int = 500
    reason: int = 2_000
    source: int = 200
    attribute: int = 200
    request: int = 200
    session: int = 200
    ids: int = 50
    query: int = 20_000
    budget_tokens: int = 1_000_000


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Everything that a tool may use, built once per store.

    `clock` returns the current moment (UTC), `stamp` a new id and a time later than the moment it is given. A write
    waits up to `embed_wait_s` for a model that is still loading; a read never waits. A write that loses a race with
    another process is repeated for up to `write_patience_s`.
    """

    store: Store
    embedding: Embedding
    clock: Callable[[], datetime]
    stamp: Callable[[datetime | None], Stamp]
    formatter: Formatter
    classes: Classes = field(default_factory=Classes)
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    reranking: Reranking | None = None
    count_tokens: TokenCounter = estimate_tokens
    default_subject: str = "user"
    default_class: str = DEFAULT_CLASS
    budget_tokens: int = 1_200
    max_chains: int = 12
    candidates: int = 50
    refresh_floor_s: float = 60.0
    embed_wait_s: float = 30.0
    write_patience_s: float = 30.0

    def embedder(self, wait_s: float = 0.0) -> tuple[Embedder | None, str | None]:
        """The embedder, or why there is none.

        Vectors of two models are never mixed: if the store has those of another model, there is no embedder for it.
        """
        embedder = self.embedding.get(wait_s)
        if embedder is None:
            return None, self.embedding.problem or "the embedding model is still loading"
        if not self.store.adopt(embedder.fingerprint):
            return None, (
                f"the store's vectors are of {self.store.fingerprint}, but the configured model is "
                f"{embedder.fingerprint}; run `stilltrue reembed` with it, or configure the store's model again"
            )
        return embedder, None

    def embedded(self, text: str, cues: tuple[str, ...] = ()) -> Embedded:
        """The text and its cues in the store's vector space. Waits for a model that is still loading."""
        embedder, problem = self.embedder(self.embed_wait_s)
        if embedder is None:
            return Embedded(index_entries=tuple(IndexEntry("cue", cue, None) for cue in cues), problem=problem)
        return embed(embedder, text, cues, sketches=self.policy.late_share > 0)


def embed(embedder: Embedder, text: str, cues: tuple[str, ...] = (), *, sketches: bool = True) -> Embedded:
    """The text and its cues in the vector space of this embedder, with or without sketches of their tokens."""
    pieces = embedder.pieces(text)
    encoded = embedder.encode([*pieces, *cues])
    if not sketches:
        encoded = [Encoded(each.vector) for each in encoded]
    # The first row of a note holds all its words for full text, so a further piece carries only a vector.
    parts, about = encoded[1 : len(pieces)], encoded[len(pieces) :]
    index_entries = [IndexEntry("piece", "", each.vector, each.sketch) for each in parts]
    index_entries += [IndexEntry("cue", cue, each.vector, each.sketch) for cue, each in zip(cues, about, strict=True)]
    return Embedded(encoded[0].vector, encoded[0].sketch, tuple(index_entries))
