"""How a server over stdio ends: soon, however young it is and whatever it waits for, with all it acknowledged."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from seeded_store import texts_in
from test_stdio import LAUNCHER, SIGNALS
from wire import FRONT_DOOR, Wire, until, wire

from store.files import ProcessLock

WORDS_ALONE = ("--set", "embedding.engine=none")
PARENT = () if sys.platform == "win32" else ("parent",)  # Windows does not tell a process that its parent is gone
WAYS = ("eof", *SIGNALS, *PARENT)
AGES_S = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5)
"""From the first import of Python to that of LanceDB on a thread."""


BEGUN = """
import os, sys
class Begun:
    def find_spec(self, name, path=None, target=None):
        if name == "server":
            os.write(2, b"begun\\n")
sys.meta_path.insert(0, Begun())
"""
ORPHANED = """
import os, signal, sys
class Orphaned:
    def find_spec(self, name, path=None, target=None):
        if name == "mcp":
            sys.meta_path.remove(self)
            os.kill(os.getppid(), signal.SIGKILL)
sys.meta_path.insert(0, Orphaned())
"""


def door(way: str) -> tuple[str, ...]:
    """What the server is started by: a process in between, where that is what dies."""
    return (sys.executable, "-c", LAUNCHER) if way == "parent" else FRONT_DOOR


def end(client: Wire, way: str) -> None:
    """Have it end in this way, and see that it did."""
    if way == "eof":
        client.close_stdin()
    elif way == "parent":
        client.process.kill()  # the pipes stay open
    else:
        client.process.send_signal(getattr(signal, way))
    client.ended()  # for a launcher as well: the end of stdout is that of the server


@pytest.mark.slow
@pytest.mark.parametrize("age_s", AGES_S)
@pytest.mark.parametrize("way", WAYS)
def test_it_ends_at_any_moment_of_its_youth(tmp_path: Path, way: str, age_s: float) -> None:
    """With a write under way it ends while Python, the protocol, LanceDB and the model are being imported.

    A parent has to live until Python itself has started: before that nobody can know whose child this is.
    """
    (tmp_path / "spy").mkdir()
    (tmp_path / "spy" / "sitecustomize.py").write_text(BEGUN)
    with wire(tmp_path, era="modern", command=door(way), path=[tmp_path / "spy"]) as client:
        client.send("tools/list")
        client.start_call("remember", text="Unacknowledged, so it may be there or not.")
        if way == "parent":
            until(lambda: "begun" in client.stderr)
        sleep(age_s)
        end(client, way)


@pytest.mark.skipif(not PARENT, reason="Windows does not tell a process that its parent is gone")
def test_a_parent_that_dies_at_once_is_noticed(tmp_path: Path) -> None:
    """Where the client is gone before the protocol has been imported, the server does not live on without it."""
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / "sitecustomize.py").write_text(ORPHANED)
    with wire(tmp_path, era="modern", command=door("parent"), path=[tmp_path / "early"]) as client:
        assert client.ended() == -signal.SIGKILL
        assert "the store is" in client.stderr  # so it was orphaned while it started


@pytest.mark.parametrize("way", ["eof", *SIGNALS])
def test_a_write_that_waits_for_another_does_not_hold_it_up(tmp_path: Path, way: str) -> None:
    """Where another process holds the lock for half a minute, it ends all the same, and has stored what it said."""
    with wire(tmp_path, *WORDS_ALONE) as client:
        client.done("remember", text="Acknowledged.")
        with ProcessLock(tmp_path / "store" / "write.lock", 30.0).held():
            client.start_call("remember", text="Lost.")
            client.done("recall", query="what was acknowledged?")  # by now the write has reached the lock
            end(client, way)
    assert texts_in(tmp_path / "store") == ["Acknowledged."]


@pytest.mark.parametrize("way", ["eof", *SIGNALS])
def test_counts_that_cannot_be_written_are_told(tmp_path: Path, way: str) -> None:
    """Where another process is at the counts for longer than the end may take, stderr says what is lost."""
    with wire(tmp_path, *WORDS_ALONE) as client:
        client.done("remember", text="Priya prefers tea.")
        client.done("recall", query="what does Priya drink?")
        with ProcessLock(tmp_path / "store" / "usage.lock", 30.0).held():
            end(client, way)
        assert "the last retrieval counts were not written" in client.stderr


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_what_was_acknowledged_survives_an_end_during_upkeep(tmp_path: Path, way: str) -> None:
    """Upkeep begins two seconds after a write: ended around then, under load, it has kept every note it answered."""
    with wire(tmp_path, *WORDS_ALONE, command=door(way)) as client:
        client.done("remember", text="Number 0.")
        began, number = monotonic(), 0
        while monotonic() - began < 2.3:
            number += 1
            client.done("remember", text=f"Number {number}.")
        client.start_call("remember", text="Unacknowledged.")
        end(client, way)
    assert {f"Number {each}." for each in range(number + 1)} <= set(texts_in(tmp_path / "store"))
