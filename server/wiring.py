"""Turns the configuration into a ToolContext: the store, the models, the clock and the ids of one process."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from server.config.load import Config
from server.config.settings import EmbeddingSection
from stilltrue.ids import ENTROPY_BITS, Stamp, stamp

if TYPE_CHECKING:
    from store.embed.background import Background
    from store.embed.load import BackgroundEmbedder
    from store.port import Reranker, Store
    from tools.support.context import Embedding, Reranking, ToolContext


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


class Stamper:
    """Makes ids and times that only increase within this process, even when its clock jumps back."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self._clock = clock
        self._last: datetime | None = None
        self._lock = threading.Lock()

    def __call__(self, after: datetime | None = None) -> Stamp:
        """A stamp later than `after` and later than the previous stamp."""
        with self._lock:
            entropy = secrets.randbits(ENTROPY_BITS)
            own = stamp(self._clock(), entropy, self._last)
            self._last = own.at
        # An event from a clock that runs ahead moves this one stamp forward, but not the stamps that follow.
        return own if after is None or own.at > after else stamp(own.at, entropy, after)


class NoEmbedding:
    """Takes the place of an embedder when `embedding.engine` is none."""

    problem = "embedding.engine is none"

    def get(self, wait_s: float = 0.0) -> None:
        """None, without waiting."""


class Models:
    """The models of this process, shared by all its stores. Each starts loading when it is first asked for."""

    def __init__(self, settings: EmbeddingSection) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._embedder: BackgroundEmbedder | None = None
        self._reranker: Background[Reranker] | None = None

    @property
    def embedding_state(self) -> str:
        """`loading`, `ready`, `degraded`, or `off` when no model is configured."""
        return self._embedder.state if self._embedder else "off"

    def embedding(self) -> Embedding:
        """The embedding model, which may still be loading."""
        from store.embed.load import BackgroundEmbedder, load_embedder

        settings = self._settings
        if settings.engine == "none":
            return NoEmbedding()
        with self._lock:
            if self._embedder is None:
                self._embedder = BackgroundEmbedder(
                    lambda: load_embedder(
                        settings.engine,
                        model=settings.model,
                        path=str(folder) if (folder := settings.folder()) else None,
                        allow_download=settings.allow_download,
                        download_deadline_s=settings.download_deadline_s,
                        threads=settings.threads,
                    )
                )
                self._embedder.start()
            return self._embedder

    def reranking(self, model: str) -> Reranking | None:
        """The cross-encoder of this name, which may still be loading; None if the name is empty."""
        if not model:
            return None
        from store.embed.background import Background
        from store.embed.cross_encoder import load_reranker

        settings = self._settings
        with self._lock:
            if self._reranker is None:
                self._reranker = Background(
                    lambda: load_reranker(
                        model,
                        allow_download=settings.allow_download,
                        download_deadline_s=settings.download_deadline_s,
                        threads=settings.threads,
                    ),
                    "cross-encoder",
                    "memories are ranked without the cross-encoder",
                )
                self._reranker.start()
            return self._reranker


def open_store(config: Config, *, ephemeral: bool) -> Store:
    """Open the configured store, or a new one in memory. Raises StoreTrouble if it cannot be opened."""
    if ephemeral:
        from store.memory import EphemeralStore

        return EphemeralStore()
    from store.open import open_store

    settings = config.store
    return open_store(
        settings.location(),
        lock_timeout_s=settings.lock_timeout_s,
        endpoint=settings.endpoint,
        region=settings.region,
    )


def tool_context(config: Config, store: Store, models: Models) -> ToolContext:
    """What the tools are given to work with. The models begin to load here, in the background."""
    from stilltrue.retrieval.ranking import Policy
    from stilltrue.text.formatting import Formatter
    from tools.support.context import Limits, ToolContext

    recall = config.recall
    return ToolContext(
        store=store,
        embedding=models.embedding(),
        clock=utc_now,
        stamp=Stamper(),
        reranking=models.reranking(recall.rerank_model),
        formatter=Formatter(config.memory.tzinfo()),
        classes=config.classes,
        policy=Policy(
            relevance=recall.weight_relevance,
            recency=recall.weight_recency,
            importance=recall.weight_importance,
            lexical_share=recall.lexical_share,
            late_share=recall.late_share,
            retrieval_bonus=recall.retrieval_bonus,
            mmr_lambda=recall.mmr_lambda,
        ),
        limits=Limits(text_bytes=config.memory.text_limit_bytes),
        default_subject=config.memory.default_subject,
        default_class=config.memory.default_class,
        budget_tokens=recall.budget_tokens,
        max_chains=recall.max_chains,
        indirect_requirements=recall.indirect_requirements,
        unnamed_requirement_tokens=recall.unnamed_requirement_tokens,
        candidates=recall.candidates,
        refresh_floor_s=recall.refresh_floor_s,
        write_patience_s=config.store.lock_timeout_s,
    )
