"""What every verb is given: the store, the embedder, the clock, the classes, the limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from stilltrue.classes import DEFAULT_CLASS, Classes
from stilltrue.ids import Stamp
from stilltrue.retrieval.ranking import Policy
from stilltrue.text.budget import TokenCounter, estimate_tokens
from stilltrue.text.formatting import Formatter
from store.port import Embedded, Embedder, Encoded, IndexEntry, Reranker, Store


class Embedding(Protocol):
    """An embedder that may still be loading, or may never come."""

    @property
    def problem(self) -> str | None:
        """Why there is none, where there will be none."""
        ...

    def get(self, wait_s: float = 0.0) -> Embedder | None:
        """The embedder, waiting up to `wait_s` seconds for it; None where it is not there by then."""
        ...


class Reranking(Protocol):
    """A cross-encoder that may still be loading, or may never come."""

    @property
    def problem(self) -> str | None:
        """Why there is none, where there will be none."""
        ...

    def get(self, wait_s: float = 0.0) -> Reranker | None:
        """The cross-encoder, if it is there."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How large an argument may be. Sizes are in characters but for the text's, which is in bytes of UTF-8."""

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
    """Everything a verb may use, built once by the composition root.

    `clock` gives the moment (UTC) and `stamp` a fresh id and time, later than the moment it is given.
    `embed_wait_s` is how long a write waits for a model that is still loading; a read never does. `write_patience_s`
    is how long a write that loses the race against other processes is tried again. A subject that is in play only
    through a returned chain is listed with up to `indirect_requirements` requirements; where a recall names nobody,
    those of everybody are listed up to `unnamed_requirement_tokens`.
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
    indirect_requirements: int = 12
    unnamed_requirement_tokens: int = 400
    candidates: int = 50
    refresh_floor_s: float = 60.0
    embed_wait_s: float = 30.0
    write_patience_s: float = 30.0

    def embedder(self, wait_s: float = 0.0) -> tuple[Embedder | None, str | None]:
        """The embedder if its vectors may be used with this store, or why not.

        Vectors of two models are never mixed: where the store's are of another, it is as if there were none.
        """
        embedder = self.embedding.get(wait_s)
        if embedder is None:
            return None, self.embedding.problem or "the embedding model is still loading"
        if not self.store.adopt(embedder.fingerprint):
            return None, (
                f"the store's vectors are of {self.store.fingerprint}, the configured model is "
                f"{embedder.fingerprint}; run `stilltrue reembed` with it, or configure that model again"
            )
        return embedder, None

    def embedded(self, text: str, cues: tuple[str, ...] = ()) -> Embedded:
        """The text and its cues in the store's vector space, waiting for a model that is still loading."""
        embedder, problem = self.embedder(self.embed_wait_s)
        if embedder is None:
            return Embedded(index_entries=tuple(IndexEntry("cue", cue, None) for cue in cues), problem=problem)
        return embed(embedder, text, cues, sketches=self.policy.late_share > 0)


def embed(embedder: Embedder, text: str, cues: tuple[str, ...] = (), *, sketches: bool = True) -> Embedded:
    """The text and its cues in the vector space of this embedder, with sketches of their tokens or without."""
    pieces = embedder.pieces(text)
    encoded = embedder.encode([*pieces, *cues])
    if not sketches:
        encoded = [Encoded(each.vector) for each in encoded]
    # Full text finds the whole note in one row, so a piece carries a vector and no words of its own.
    parts, about = encoded[1 : len(pieces)], encoded[len(pieces) :]
    index_entries = [IndexEntry("piece", "", each.vector, each.sketch) for each in parts]
    index_entries += [IndexEntry("cue", cue, each.vector, each.sketch) for cue, each in zip(cues, about, strict=True)]
    return Embedded(encoded[0].vector, encoded[0].sketch, tuple(index_entries))
