"""A store for each tenant, opened on first use; the ones that nobody uses are closed when there are too many."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from server.config.load import Config
from server.config.validators import TENANT
from server.wiring import Model, StoreRuntime
from stilltrue.errors import StoreTrouble

if TYPE_CHECKING:
    from tools.support.context import ToolContext

LOCAL = "local"
"""The tenant whose store is that of stdio."""


class TenantStores:
    """What a `Home` is to one tenant, for all of them: each call reaches the store of its own tenant and no other.

    `tenant` says who calls; it is asked on the thread of the call, and it raises where nobody is known. `most`
    stores are kept open. More are open only while that many calls are under way at once.
    """

    def __init__(self, config: Config, tenant: Callable[[], str], most: int) -> None:
        self._config = config
        self._tenant = tenant
        self._most = most
        self._model = Model(config.embedding)
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
        """Where the store of this tenant lies, resolved."""
        return self._settings(self._tenant()).store.uri

    @property
    def embedding_state(self) -> str:
        """`loading`, `ready`, `degraded`, or `off` where no model is configured."""
        return self._model.state

    @property
    def stores(self) -> int:
        """How many stores are open."""
        return len(self._open)

    def warm(self) -> None:
        """Load what is heavy in the background. No store is opened before its tenant calls."""
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def context(self) -> ToolContext:
        """What the verbs are given, for a look that is over at once; `use` is for work."""
        with self.use() as context:
            return context

    @contextmanager
    def use(self) -> Iterator[ToolContext]:
        """The context of this tenant, whose store stays open meanwhile. Raises StoreTrouble where it cannot open."""
        tenant = self._tenant()
        runtime = self._enter(tenant)
        try:
            self._import()
            yield runtime.context()
        finally:
            self._leave(tenant)

    def written(self) -> None:
        """Something was stored or counted: upkeep may be due."""
        if runtime := self._open.get(self._tenant()):
            runtime.written()

    def close(self) -> None:
        """Write the counts that are still in memory and let go of all stores. May be called at any moment, twice."""
        self._closing = True
        for runtime in list(self._open.values()):
            runtime.close()

    def _enter(self, tenant: str) -> StoreRuntime:
        with self._lock:
            if self._closing:
                raise StoreTrouble("The server is shutting down.", "Call again once it has been restarted.")
            if tenant not in self._open:
                self._open[tenant] = StoreRuntime(self._settings(tenant), model=self._model)
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
        """Take out the stores that are too many and idle, the least recently used first."""
        idle = [tenant for tenant in self._open if not self._calls[tenant]]
        return [self._open.pop(tenant) for tenant in idle[: max(0, len(self._open) - self._most)]]

    def _settings(self, tenant: str) -> Config:
        if not TENANT.holds(tenant):
            raise StoreTrouble(f"A tenant cannot be called {tenant!r}.", f"A tenant is {TENANT.wanted}.")
        config = self._config
        return replace(config, store=replace(config.store, uri=_place_of(tenant, config)))

    def _warm(self) -> None:
        self._import()
        self._model.begin()

    def _import(self) -> None:
        # Threads that import LanceDB for the first time at once are handed half a module.
        with self._importing:
            from store.lance.engine import load

            load()


def _place_of(tenant: str, config: Config) -> str:
    """Where the store of a tenant lies: beside the tokens, or on the object storage on which the store is."""
    if tenant == LOCAL:
        return config.store.location()
    if not config.store.remote:
        return str(config.http.folder() / "tenants" / tenant)
    if config.store.uri.startswith("db://"):
        raise StoreTrouble(
            f"The store {config.store.uri} is one database, and has no room for tenant {tenant!r} beside the others.",
            "Run one server for each tenant, each with a database of its own, or use a folder or s3://.",
        )
    return f"{config.store.uri}/tenants/{tenant}"
