"""TenantStores: which stores are open, and which names are accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from server.config.load import load
from server.tenants import TenantStores
from stilltrue.errors import StilltrueError


class Calls:
    """TenantStores in a folder, called as any tenant."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.tenant = ""
        flags = {"http.path": str(folder), "embedding.engine": "none", "store.uri": str(folder / "stdio")}
        self.runtime = TenantStores(load(flags, {}), lambda: self.tenant, limit)

    def by(self, tenant: str) -> Any:
        self.tenant = tenant
        return self.runtime.use()


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Callable[[int], Calls]]:
    """Makes TenantStores with a limit of open stores, and closes them at the end of the test."""
    made: list[Calls] = []

    def make(limit: int) -> Calls:
        made.append(Calls(tmp_path, limit))
        return made[-1]

    yield make
    for each in made:
        each.runtime.close()


def test_the_least_recently_used_store_is_closed(calls: Callable[[int], Calls]) -> None:
    """With three tenants and a limit of two, the one idle for longest is closed, and reopens when it calls."""
    tenants = calls(2)
    contexts = {}
    for tenant in ("a", "b", "a", "c"):
        with tenants.by(tenant) as context:
            contexts.setdefault(tenant, context)
    assert tenants.runtime.stores == 2
    with tenants.by("a") as again:
        assert again is contexts["a"]
    with tenants.by("b") as again:
        assert again is not contexts["b"]


def test_a_store_in_use_is_not_closed(calls: Callable[[int], Calls]) -> None:
    """Calls in progress may hold more stores open than the limit; the surplus closes as they end."""
    tenants = calls(1)
    with tenants.by("a") as first:
        with tenants.by("b"):
            assert tenants.runtime.stores == 2
        with tenants.by("a") as again:
            assert again is first
    assert tenants.runtime.stores == 1


@pytest.mark.parametrize("tenant", ["", ".", "..", "../acme", "a/b", "A", "a\\b", "a\0", "ä", "a" * 41, "acme\n"])
def test_an_invalid_tenant_name_opens_nothing(calls: Callable[[int], Calls], tmp_path: Path, tenant: str) -> None:
    """No folder is created for it."""
    tenants = calls(2)
    with pytest.raises(StilltrueError, match="tenant"), tenants.by(tenant):
        pass
    assert list(tmp_path.iterdir()) == []
