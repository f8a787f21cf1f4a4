"""The command line in this process, on a store in a folder; and processes that work on that store meanwhile."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fakes import FakeEmbedder
from keepers import Teller
from processes import elsewhere

from server.cli import main
from store.lance import open_store
from store.whole import Whole, open_whole

AT_WORK = """
import sys
from keepers import Teller
from store.lance import open_store
teller = Teller(open_store(sys.argv[1]))
teller.clock.on(days=100)
print("open", flush=True)
while True:
    old, new = teller.line("the meeting is on Monday", "the meeting is on Tuesday", subjects=["team"])
    teller.revoke(new, "it was called off")
    teller.recall("when is the meeting", subjects=["team"])
    teller.constraints(["team"])
    print(new, flush=True)
    teller.store.tend()
"""
"""A server that writes, reads and tends without a pause. Says `open`, then an id for each round that went well."""


def stilltrue(store: Path, command: str, *arguments: str | Path, model: bool = False) -> int:
    """The exit code of `stilltrue command --store ...`; without a model, so that nothing has to be loaded."""
    engine = () if model else ("--set", "embedding.engine=none")
    return main([command, "--store", str(store), *engine, *map(str, arguments)])


def filled(folder: Path) -> Teller:
    """A store with every kind of event, a merge, a fork, cues, a long text and a long reason; a day later."""
    shutil.copytree(_template().name, folder)
    teller = Teller(open_store(str(folder)), FakeEmbedder())
    teller.clock.on(days=1)
    return teller


@cache
def _template() -> TemporaryDirectory[str]:
    """Made once in a process: it takes longer than most of what is tested on it."""
    place = TemporaryDirectory()
    teller = Teller(open_store(place.name), FakeEmbedder())
    ghent, brussels = teller.line("the office is in Bruges", "the office is in Ghent", subjects=["office"])
    lease = teller.note("the lease ends in May", subjects=["office", "team"], cues=["when signing contracts"])
    teller.clock.on(minutes=1)
    both = teller.supersede([brussels, lease], "one office, and its lease ends in June").data.id  # type: ignore[union-attr]
    teller.supersede(ghent, "the office was always in Ghent", allow_fork=True, relation="correction")
    allergy = teller.note("Priya is allergic to peanuts", subjects=["priya", "team"], klass="allergy")
    teller.feedback([allergy], "helped")
    long = teller.note("the minutes of the meeting say this and that. " * 60, subjects=["team"])
    teller.revoke(long, "the minutes were those of another meeting. " * 40)
    teller.revoke(both, "it was the proxy")
    teller.reinstate(both, "it was not")
    teller.recall("where is the office")
    teller.store.close()
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


def whole(folder: Path) -> Whole:
    return open_whole(folder)
