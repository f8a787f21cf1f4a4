"""What several files of tests begin with."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from contexts import Agent
from hypothesis import settings
from object_storage import CREDENTIALS, Bucket, serving

from store.embed.load import load_embedder
from store.open import open_store
from store.port import Embedder

# A shell that runs the tests in the background has them ignore SIGINT, and so would every server that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# In continuous integration each property is tried on 500 examples, the same each time, so that what passed once does
# not fail by chance; elsewhere on what a first try has patience for, and `--hypothesis-profile hunt` looks for more.
settings.register_profile("ci", max_examples=500, deadline=None, print_blob=True, derandomize=True)
settings.register_profile("hunt", max_examples=20_000, deadline=None, print_blob=True)
settings.register_profile("first-try", max_examples=60, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "first-try")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Outside of continuous integration, tests that take long are left out, unless -m or a name asks for them."""
    if os.environ.get("CI") or config.option.markexpr or any("::" in each for each in config.args):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow and len(slow) < len(items):
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


@pytest.fixture
def agent() -> Agent:
    """A context over a store in memory, with an embedder that knows words and no meanings."""
    return Agent()


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    """Makes contexts over a store in a folder; all that are made in one test share that folder."""
    made: list[Agent] = []

    def make(**settings: Any) -> Agent:
        made.append(Agent(open_store(str(tmp_path / "store")), **settings))
        return made[-1]

    yield make
    for each in made:
        each.store.close()


@pytest.fixture(scope="session")
def real_model() -> Embedder:
    """The default model. Where its weights are missing the tests of meaning fail: they are part of the product."""
    return load_embedder()


@pytest.fixture
def knowing(real_model: Embedder) -> Agent:
    """A context over a store in memory, with the real embedder."""
    return Agent(embedder=real_model)


@pytest.fixture(scope="session")
def bucket() -> Iterator[Bucket]:
    """An object storage of this machine, with the keys to it in the environment."""
    with pytest.MonkeyPatch.context() as patch, serving() as made:
        for name, value in CREDENTIALS.items():
            patch.setenv(name, value)
        yield made
