"""What several files of tests begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from keepers import Teller

from store.embedding import load_embedder
from store.lance import open_store
from store.port import Embedder


@pytest.fixture
def teller() -> Teller:
    """A keeper over a store in memory, with an embedder that knows words and no meanings."""
    return Teller()


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[Callable[..., Teller]]:
    """Makes keepers over a store in a folder; all that are made in one test share that folder."""
    made: list[Teller] = []

    def make(**settings: Any) -> Teller:
        made.append(Teller(open_store(str(tmp_path / "store")), **settings))
        return made[-1]

    yield make
    for each in made:
        each.store.close()


@pytest.fixture(scope="session")
def real_model() -> Embedder:
    """The default model. Where its weights are missing the tests of meaning fail: they are part of the product."""
    return load_embedder()


@pytest.fixture
def knowing(real_model: Embedder) -> Teller:
    """A keeper over a store in memory, with the real embedder."""
    return Teller(embedder=real_model)
