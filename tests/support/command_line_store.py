"""The command line in this process, on a store in a folder; and processes that work on that store meanwhile."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from contexts import Agent
from fakes import FakeEmbedder
from processes import elsewhere

from server.cli.main import main
from store.folder.backend import FolderBackend, open_existing
from store.open import open_store

AT_WORK = """
import sys
from contexts import Agent
from store.open import open_store
agent = Agent(open_store(sys.argv[1]))
agent.clock.on(days=100)
print("open", flush=True)
while True:
    old, new = agent.line("the meeting is on Monday", "the meeting is on Tuesday", subjects=["team"])
    agent.revoke(new, "it was called off")
    agent.recall("when is the meeting", subjects=["team"])
    agent.constraints(["team"])
    print(new, flush=True)
    agent.store.maintain()
"""
"""A server that writes, reads and tends without a pause. Says `open`, then an id for each round that went well."""


def stilltrue(store: Path, command: str, *arguments: str | Path, model: bool = False) -> int:
    """The exit code of `stilltrue command --store ...`; without a model, so that nothing has to be loaded."""
    engine = () if model else ("--set", "embedding.engine=none")
    return main([command, "--store", str(store), *engine, *map(str, arguments)])


def filled(folder: Path) -> Agent:
    """A store with every kind of event, a merge, a fork, cues, a long text and a long reason; a day later."""
    shutil.copytree(_template().name, folder)
    agent = Agent(open_store(str(folder)), FakeEmbedder())
    agent.clock.on(days=1)
    return agent


@cache
def _template() -> TemporaryDirectory[str]:
    """Made once in a process: it takes longer than most of what is tested on it."""
    place = TemporaryDirectory()
    agent = Agent(open_store(place.name), FakeEmbedder())
    ghent, brussels = agent.line("the office is in Bruges", "the office is in Ghent", subjects=["office"])
    lease = agent.note("the lease ends in May", subjects=["office", "team"], cues=["when signing contracts"])
    agent.clock.on(minutes=1)
    both = agent.supersede([brussels, lease], "one office, and its lease ends in June").data.id  # type: ignore[union-attr]
    agent.supersede(ghent, "the office was always in Ghent", allow_fork=True, relation="correction")
    allergy = agent.note("Priya is allergic to peanuts", subjects=["priya", "team"], klass="allergy")
    agent.feedback([allergy], "helped")
    long = agent.note("the minutes of the meeting say this and that. " * 60, subjects=["team"])
    agent.revoke(long, "the minutes were those of another meeting. " * 40)
    agent.revoke(both, "it was the proxy")
    agent.reinstate(both, "it was not")
    agent.recall("where is the office")
    agent.store.close()
    return place


@contextmanager
def at_work(folder: Path) -> Iterator[list[str]]:
    """Another process works on the store until the end of the block; then the ids that it acknowledged are listed.

    A round of its that fails ends it, and fails the test.
    """
    acknowledged: list[str] = []
    with elsewhere(AT_WORK, folder) as process:
        assert process.stdout
        assert process.stdout.readline().strip() == "open"
        acknowledged.append(process.stdout.readline().strip())
        yield acknowledged
        acknowledged.append(process.stdout.readline().strip())
        assert process.poll() is None, "it did not get through"
        process.kill()
        acknowledged += process.stdout.read().split()
        process.wait()


def whole(folder: Path) -> FolderBackend:
    return open_existing(folder)
