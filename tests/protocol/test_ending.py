"""How a server over stdio ends: soon, at any age and whatever it waits for, with all that it acknowledged."""

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
PARENT = () if sys.platform == "win32" else ("parent",)  # Windows does not report that the parent is gone
WAYS = ("eof", *SIGNALS, *PARENT)
AGES_S = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5)
"""From the start of Python to the import of LanceDB on a thread."""


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


def command_for(way: str) -> tuple[str, ...]:
    """The command that starts the server, with a process in between if that is what dies."""
    return (sys.executable, "-c", LAUNCHER) if way == "parent" else FRONT_DOOR


def end(client: Wire, way: str) -> None:
    """End the server in this way, and check that it did."""
    if way == "eof":
        client.close_stdin()
    elif way == "parent":
        client.process.kill()  # the pipes stay open
    else:
        client.process.send_signal(getattr(signal, way))
    client.ended()  # with a launcher too: stdout ends with the server


@pytest.mark.slow
@pytest.mark.parametrize("age_s", AGES_S)
@pytest.mark.parametrize("way", WAYS)
def test_it_ends_at_any_moment_of_its_start(tmp_path: Path, way: str, age_s: float) -> None:
    """With a write in progress it ends while Python, the protocol, LanceDB and the model are being imported.

    The parent has to live until Python has started: before that the server cannot know its parent.
    """
    (tmp_path / "spy").mkdir()
    (tmp_path / "spy" / "sitecustomize.py").write_text(BEGUN)
    with wire(tmp_path, era="modern", command=command_for(way), path=[tmp_path / "spy"]) as client:
        client.send("tools/list")
        client.start_call("remember", text="Unacknowledged, so it may be there or not.")
        if way == "parent":
            until(lambda: "begun" in client.stderr)
        sleep(age_s)
        end(client, way)


@pytest.mark.skipif(not PARENT, reason="Windows does not report that the parent is gone")
def test_a_parent_that_dies_at_once_is_noticed(tmp_path: Path) -> None:
    """The client is gone before the protocol has been imported; the server ends as well."""
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / "sitecustomize.py").write_text(ORPHANED)
    with wire(tmp_path, era="modern", command=command_for("parent"), path=[tmp_path / "early"]) as client:
        assert client.ended() == -signal.SIGKILL
        assert "the store is" in client.stderr  # it was orphaned during its start


@pytest.mark.parametrize("way", ["eof", *SIGNALS])
def test_a_write_that_waits_for_another_does_not_block_the_end(tmp_path: Path, way: str) -> None:
    """Another process holds the lock for half a minute; the server ends and keeps what it acknowledged."""
    with wire(tmp_path, *WORDS_ALONE) as client:
        client.done("remember", text="Acknowledged.")
        with ProcessLock(tmp_path / "store" / "write.lock", 30.0).held():
            client.start_call("remember", text="Lost.")
            client.done("recall", query="what was acknowledged?")  # by now the write has reached the lock
            end(client, way)
    assert texts_in(tmp_path / "store") == ["Acknowledged."]


@pytest.mark.parametrize("way", ["eof", *SIGNALS])
def test_counts_that_cannot_be_written_are_reported(tmp_path: Path, way: str) -> None:
    """Another process holds the lock of the counts for too long; stderr says what is lost."""
    with wire(tmp_path, *WORDS_ALONE) as client:
        client.done("remember", text="Priya prefers tea.")
        client.done("recall", query="what does Priya drink?")
        with ProcessLock(tmp_path / "store" / "usage.lock", 30.0).held():
            end(client, way)
        assert "the last retrieval counts were not written" in client.stderr


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_what_was_acknowledged_survives_an_end_during_maintenance(tmp_path: Path, way: str) -> None:
    """Maintenance begins two seconds after a write. Ended around then, under load, the server keeps every note."""
    with wire(tmp_path, *WORDS_ALONE, command=command_for(way)) as client:
        client.done("remember", text="Number 0.")
        began, number = monotonic(), 0
        while monotonic() - began < 2.3:
            number += 1
            client.done("remember", text=f"Number {number}.")
        client.start_call("remember", text="Unacknowledged.")
        end(client, way)
    assert {f"Number {each}." for each in range(number + 1)} <= set(texts_in(tmp_path / "store"))
