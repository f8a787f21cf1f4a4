"""A store for each tenant, opened on first use; idle ones are closed when too many are open."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from server.config.load import Config
from server.config.validators import TENANT
from server.runtime import StoreRuntime
from server.wiring import Models
from stilltrue.errors import StoreTrouble

if TYPE_CHECKING:
    from tools.support.context import ToolContext

LOCAL = "local"
"""The tenant whose store is the one that stdio uses."""


class TenantStores:
    """The counterpart of StoreRuntime for many tenants: each call reaches the store of its own tenant and no other.

    `tenant` returns the tenant of the current call; it is called on the thread of that call and raises if the caller
    is unknown. Up to `limit` stores stay open, and more only while more than that are in use at once.
    """

    def __init__(self, config: Config, tenant: Callable[[], str], limit: int) -> None:
        self._config = config
        self._tenant = tenant
        self._limit = limit
        self._models = Models(config.embedding)
        self._lock = threading.Lock()
        self._importing = threading.Lock()
        self._open: OrderedDict[str, StoreRuntime] = OrderedDict()
        self._calls: Counter[str] = Counter()
        self._closing = False

    @property
    def config(self) -> Config:
        return self._config

    @property
    def location(self) -> str:
        """Where the store of the calling tenant is: an absolute path or a URI."""
        return self._settings(self._tenant()).store.uri

    @property
    def embedding_state(self) -> str:
        """`loading`, `ready`, `degraded`, or `off` when no model is configured."""
        return self._models.embedding_state

    @property
    def stores(self) -> int:
        """How many stores are open."""
        return len(self._open)

    def warm(self) -> None:
        """Load the heavy libraries and the model in the background. A store is opened when its tenant calls."""
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    @contextmanager
    def use(self) -> Iterator[ToolContext]:
        """The context of the calling tenant, whose store stays open for the duration.

        Raises StoreTrouble if the store cannot be opened.
        """
        tenant = self._tenant()
        runtime = self._enter(tenant)
        try:
            self._import()
            yield runtime.context()
        finally:
            self._leave(tenant)

    def written(self) -> None:
        """Report a write or a count, after which maintenance may be due."""
        if runtime := self._open.get(self._tenant()):
            runtime.written()

    def close(self) -> None:
        """Write the counts still in memory and release all stores. Safe to call at any time, and twice."""
        self._closing = True
        for runtime in list(self._open.values()):
            runtime.close()

    def _enter(self, tenant: str) -> StoreRuntime:
        with self._lock:
            if self._closing:
                raise StoreTrouble("The server is shutting down.", "Call again once it has been restarted.")
            if tenant not in self._open:
                self._open[tenant] = StoreRuntime(self._settings(tenant), models=self._models)
            self._open.move_to_end(tenant)
            self._calls[tenant] += 1
            runtime, surplus = self._open[tenant], self._surplus()
        for each in surplus:
            each.close()
        return runtime

    def _leave(self, tenant: str) -> None:
        with self._lock:
            self._calls[tenant] -= 1
            surplus = self._surplus()
        for each in surplus:
            each.close()

    def _surplus(self) -> list[StoreRuntime]:
        """Remove and return the idle stores beyond the limit, least recently used first."""
        idle = [tenant for tenant in self._open if not self._calls[tenant]]
        return [self._open.pop(tenant) for tenant in idle[: max(0, len(self._open) - self._limit)]]

    def _settings(self, tenant: str) -> Config:
        if not TENANT.holds(tenant):
            raise StoreTrouble(f"{tenant!r} is not a valid tenant name.", f"A tenant name is {TENANT.wanted}.")
        config = self._config
        return replace(config, store=replace(config.store, uri=_location_of(tenant, config)))

    def _warm(self) -> None:
        self._import()
        self._models.embedding()

    def _import(self) -> None:
        # If several threads import LanceDB for the first time at once, some get a half-initialized module.
        with self._importing:
            from store.lance.engine import load

            load()


Runtime = StoreRuntime | TenantStores
"""What the protocol serves: one store, or a store for each tenant."""


def _location_of(tenant: str, config: Config) -> str:
    """Where the store of a tenant is: beside the tokens, or under the prefix of the configured object storage."""
    if tenant == LOCAL:
        return config.store.location()
    if not config.store.remote:
        return str(config.http.folder() / "tenants" / tenant)
    if config.store.uri.startswith("db://"):
        raise StoreTrouble(
            f"The store {config.store.uri} is a single database and cannot hold a second tenant ({tenant!r}).",
            "Run one server per tenant, each with its own database, or use a folder or s3://.",
        )
    return f"{config.store.uri}/tenants/{tenant}"
