"""The only place that builds things: the store, the embedder, the clock and the ids of one process."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from server.config.load import Config
from server.config.settings import EmbeddingSection
from stilltrue.errors import StilltrueError, StoreTrouble
from stilltrue.ids import ENTROPY_BITS, Stamp, stamp

if TYPE_CHECKING:
    from store.embed.background import Background
    from store.embed.load import BackgroundEmbedder
    from store.port import Reranker, Store
    from tools.support.context import Embedding, Reranking, ToolContext

_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    """The clock of this process."""
    return datetime.now(UTC)


class Stamper:
    """Ids and times that only go forward within this process, also where its clock jumps back."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self._clock = clock
        self._last: datetime | None = None
        self._lock = threading.Lock()

    def __call__(self, after: datetime | None = None) -> Stamp:
        """A stamp later than `after` and later than the one before it."""
        with self._lock:
            entropy = secrets.randbits(ENTROPY_BITS)
            own = stamp(self._clock(), entropy, self._last)
            self._last = own.at
        # Events of a clock that ran ahead are followed, but do not pull the rest of this process along.
        return own if after is None or own.at > after else stamp(own.at, entropy, after)


class NoVectors:
    """In place of an embedder where the configuration wants none."""

    problem = "embedding.engine is none"

    def get(self, wait_s: float = 0.0) -> None:
        """Nothing, at once."""


class Model:
    """The embedding model of this process: loading begins on first need, and all its stores share it."""

    def __init__(self, chosen: EmbeddingSection) -> None:
        self._chosen = chosen
        self._lock = threading.Lock()
        self._embedder: BackgroundEmbedder | None = None
        self._reranker: Background[Reranker] | None = None

    @property
    def state(self) -> str:
        """`loading`, `ready`, `degraded`, or `off` where no model is configured."""
        return self._embedder.state if self._embedder else "off"

    def begin(self) -> Embedding:
        """The model, which may still be loading."""
        from store.embed.load import BackgroundEmbedder, load_embedder

        chosen = self._chosen
        if chosen.engine == "none":
            return NoVectors()
        with self._lock:
            if self._embedder is None:
                self._embedder = BackgroundEmbedder(
                    lambda: load_embedder(
                        chosen.engine,
                        model=chosen.model,
                        path=str(folder) if (folder := chosen.folder()) else None,
                        allow_download=chosen.allow_download,
                        download_deadline_s=chosen.download_deadline_s,
                        threads=chosen.threads,
                    )
                )
                self._embedder.start()
            return self._embedder

    def begin_reranking(self, model: str) -> Reranking | None:
        """The cross-encoder of that name, which may still be loading; None where none is wanted."""
        if not model:
            return None
        from store.embed.background import Background
        from store.embed.cross_encoder import load_reranker

        chosen = self._chosen
        with self._lock:
            if self._reranker is None:
                self._reranker = Background(
                    lambda: load_reranker(
                        model,
                        allow_download=chosen.allow_download,
                        download_deadline_s=chosen.download_deadline_s,
                        threads=chosen.threads,
                    ),
                    "cross-encoder",
                    "memories are ranked without the cross-encoder",
                )
                self._reranker.start()
            return self._reranker


class StoreRuntime:
    """A store and the model of this process, built on first need and off the thread of the protocol.

    Importing LanceDB takes seconds, so nothing of it happens before the handshake is answered: `warm` starts it
    on a thread, `context` waits for it. A store that cannot be opened is tried again by the next call.
    """

    def __init__(self, config: Config, *, ephemeral: bool = False, model: Model | None = None) -> None:
        self._config = config
        self._ephemeral = ephemeral
        self._model = model or Model(config.embedding)
        self._lock = threading.Lock()
        self._keeper: ToolContext | None = None
        self._store: Store | None = None
        self._tender: threading.Thread | None = None
        self._briefing = threading.Lock()
        self._due = threading.Event()
        self._closing = threading.Event()
        self._letting_go = threading.Lock()

    @property
    def config(self) -> Config:
        return self._config

    @property
    def location(self) -> str:
        """Where the store lies, resolved."""
        return "memory" if self._ephemeral else self._config.store.location()

    @property
    def stores(self) -> int:
        """How many stores are open: this one, or none."""
        return int(self._store is not None)

    def warm(self) -> None:
        """Open the store and load the model in the background, and say on stderr what is wrong with either."""
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def context(self) -> ToolContext:
        """What the verbs are given. Raises StoreTrouble where the store cannot be opened."""
        with self._lock:
            if self._keeper is None:
                if self._closing.is_set():
                    raise StoreTrouble("The server is shutting down.", "Call again once it has been restarted.")
                self._keeper = self._build()
            return self._keeper

    @contextmanager
    def use(self) -> Iterator[ToolContext]:
        """The context for as long as a verb works with it. Raises StoreTrouble as `context` does."""
        yield self.context()

    def written(self) -> None:
        """Something was stored or counted: upkeep may be due."""
        self._due.set()

    @property
    def embedding_state(self) -> str:
        """`loading`, `ready`, `degraded`, or `off` where no model is configured."""
        return self._model.state

    def close(self) -> None:
        """Write the counts that are still in memory and let go of the store. May be called at any moment, twice."""
        self._closing.set()
        self._due.set()
        with self._letting_go:  # whoever calls second leaves the process next, and must not cut off the first
            store, self._store = self._store, None
            if store is not None:
                try:
                    store.close()
                except StilltrueError as trouble:
                    _log.warning("the last retrieval counts were not written: %s", trouble)
                self._brief()

    def _warm(self) -> None:
        try:
            context = self.context()
            self._brief()
            space, embedder = context.store.fingerprint, context.embedding.get(_MODEL_WAIT_S)
            if space and embedder and space != embedder.fingerprint:
                _log.error("memories are found by their words only: %s", context.embedder()[1])
        except StilltrueError as trouble:
            _log.error("%s", trouble)
        except Exception:
            _log.exception("the store at %s could not be opened", self.location)

    def _build(self) -> ToolContext:
        from stilltrue.retrieval.ranking import Policy
        from stilltrue.text.formatting import Formatter
        from tools.support.context import Limits, ToolContext

        config, recall = self._config, self._config.recall
        self._store = self._open()
        embedding = self._model.begin()
        self._tender = threading.Thread(target=self._maintain, name="upkeep", daemon=True)
        self._tender.start()
        return ToolContext(
            store=self._store,
            embedding=embedding,
            clock=utc_now,
            stamp=Stamper(),
            reranking=self._model.begin_reranking(recall.rerank_model),
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
            candidates=recall.candidates,
            refresh_floor_s=recall.refresh_floor_s,
            write_patience_s=config.store.lock_timeout_s,
        )

    def _open(self) -> Store:
        if self._ephemeral:
            from store.memory import EphemeralStore

            return EphemeralStore()
        from store.open import open_store

        chosen = self._config.store
        return open_store(
            self.location,
            lock_timeout_s=chosen.lock_timeout_s,
            endpoint=chosen.endpoint,
            region=chosen.region,
        )

    def _brief(self) -> None:
        """Write down beside the store what the next client is told as it connects, if that has changed."""
        context = self._keeper
        if context is None or self._ephemeral or self._config.store.remote:
            return
        from server.protocol import instructions

        try:
            with self._briefing:
                instructions.refresh(context, self._config.store.folder())
        except Exception as trouble:
            _log.warning("the rules for the next start were not written down: %s", trouble)

    def _maintain(self) -> None:
        """Upkeep on a thread of its own: a little after something happened, and once more when it has been quiet.

        The round in the quiet is what brings a burst of writes back to its compacted size. Trouble is told and
        tried again.
        """
        while not self._closing.is_set():
            self._due.wait()
            for pause_s in _TEND_AFTER_S:
                self._due.clear()
                if self._closing.wait(pause_s):
                    return
                store = self._store
                try:
                    if store is not None:
                        store.maintain()
                        self._brief()
                except Exception as trouble:
                    _log.warning("upkeep of the store failed and will be tried again: %s", trouble)


_TEND_AFTER_S = (2.0, 8.0)
"""Seconds to wait before a round of upkeep; the second round only comes where nothing happens meanwhile."""

_MODEL_WAIT_S = 600.0
"""How long a start waits, in the background, to say on stderr that the model is not that of the store."""
