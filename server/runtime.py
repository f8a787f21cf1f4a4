"""One open store of a running process: opening, warm-up, maintenance, and an orderly close."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from server import requirements_snapshot
from server.config.load import Config
from server.wiring import Models, open_store, tool_context
from stilltrue.errors import StilltrueError, StoreTrouble

if TYPE_CHECKING:
    from store.port import Store
    from tools.support.context import ToolContext

_log = logging.getLogger(__name__)

_MAINTAIN_AFTER_S = (2.0, 8.0)
"""Seconds to wait before each of the two rounds of maintenance that follow a write."""

_MODEL_WAIT_S = 600.0
"""How long the warm-up waits for the model, in order to warn when it is not the model of the store."""


class StoreRuntime:
    """One store, opened on first use and never on the thread that answers the protocol.

    Importing LanceDB takes seconds, and the handshake must not wait for it: `warm` starts the work on a thread, and
    `context` waits for it. If the store cannot be opened, the next call tries again.
    """

    def __init__(self, config: Config, *, ephemeral: bool = False, models: Models | None = None) -> None:
        self._config = config
        self._ephemeral = ephemeral
        self._models = models or Models(config.embedding)
        self._opening = threading.Lock()
        self._context: ToolContext | None = None
        self._store: Store | None = None
        self._snapshot = threading.Lock()
        self._maintenance_due = threading.Event()
        self._closed = threading.Event()
        self._close_lock = threading.Lock()

    @property
    def config(self) -> Config:
        return self._config

    @property
    def location(self) -> str:
        """Where the store is: an absolute path, a URI, or `memory`."""
        return "memory" if self._ephemeral else self._config.store.location()

    @property
    def stores(self) -> int:
        """How many stores are open: 1 or 0."""
        return int(self._store is not None)

    @property
    def embedding_state(self) -> str:
        """`loading`, `ready`, `degraded`, or `off` when no model is configured."""
        return self._models.embedding_state

    def warm(self) -> None:
        """Open the store and load the model in the background. Problems with either are logged."""
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def context(self) -> ToolContext:
        """What the tools work with; opens the store if needed. Raises StoreTrouble if it cannot be opened."""
        with self._opening:
            if self._context is None:
                if self._closed.is_set():
                    raise StoreTrouble("The server is shutting down.", "Call again once it has been restarted.")
                self._store = open_store(self._config, ephemeral=self._ephemeral)
                self._context = tool_context(self._config, self._store, self._models)
                threading.Thread(target=self._maintain, name="maintenance", daemon=True).start()
            return self._context

    @contextmanager
    def use(self) -> Iterator[ToolContext]:
        """The context for the duration of a call. Raises StoreTrouble as `context` does."""
        yield self.context()

    def written(self) -> None:
        """Report a write or a count, after which maintenance may be due."""
        self._maintenance_due.set()

    def close(self) -> None:
        """Write the counts that are still in memory and release the store. Safe to call at any time, and twice."""
        self._closed.set()
        self._maintenance_due.set()
        # The second caller exits the process as soon as this returns, so it has to wait for the first one.
        with self._close_lock:
            store, self._store = self._store, None
            if store is not None:
                try:
                    store.close()
                except StilltrueError as trouble:
                    _log.warning("the last retrieval counts were not written: %s", trouble)
                self._refresh_snapshot()

    def _warm(self) -> None:
        try:
            context = self.context()
            self._refresh_snapshot()
            space, embedder = context.store.fingerprint, context.embedding.get(_MODEL_WAIT_S)
            if space and embedder and space != embedder.fingerprint:
                _log.error("memories are found by their words only: %s", context.embedder()[1])
        except StilltrueError as trouble:
            _log.error("%s", trouble)
        except Exception:
            _log.exception("the store at %s could not be opened", self.location)

    def _refresh_snapshot(self) -> None:
        """Update the requirements that the next client is sent when it connects, if the store is in a folder."""
        context = self._context
        if context is None or self._ephemeral or self._config.store.remote:
            return
        try:
            with self._snapshot:
                requirements_snapshot.refresh(context, self._config.store.folder())
        except Exception as trouble:
            _log.warning("the requirements could not be saved for the next start: %s", trouble)

    def _maintain(self) -> None:
        """Maintain the store on a thread of its own: shortly after a write, and again once writes have paused.

        The second round is the one that compacts what a burst of writes left behind. Failures are logged and retried.
        """
        while not self._closed.is_set():
            self._maintenance_due.wait()
            for pause_s in _MAINTAIN_AFTER_S:
                self._maintenance_due.clear()
                if self._closed.wait(pause_s):
                    return
                store = self._store
                try:
                    if store is not None:
                        store.maintain()
                        self._refresh_snapshot()
                except Exception as trouble:
                    _log.warning("maintenance of the store failed and will be retried: %s", trouble)
