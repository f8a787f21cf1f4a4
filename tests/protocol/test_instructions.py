"""The instructions of a new connection: usage and requirements, sent before anything heavy is loaded."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from wire import ONE_ERA_AND_LATER_BOTH, Era, until, wire

from server.config.load import load
from server.protocol.instructions import LIMIT, USAGE, composed, instructions, size
from server.requirements_snapshot import FILE, newest_version, read
from server.runtime import StoreRuntime

UNREADABLE = ("{", "[]", '{"subject": 1}', "\x00" * 100)

STALE = "call constraints for the current one"
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
HEAVY = ("lancedb", "pyarrow", "onnxruntime", "tokenizers", "numpy")


def instructions_sent(home: Path, era: Era = "handshake") -> str:
    """The instructions of a server that starts in `home` and ends without another request."""
    with wire(home, era=era) as client:
        sent = client.instructions if era == "handshake" else client.ask("server/discover")["instructions"]
        client.close_stdin()
        assert client.ended() == 0
    return str(sent)


@pytest.mark.parametrize("era", ONE_ERA_AND_LATER_BOTH)
def test_a_requirement_reaches_the_next_client_until_it_is_revoked(tmp_path: Path, era: Era) -> None:
    """The next process sends it whole; once it is revoked, later ones do not."""
    with wire(tmp_path) as client:
        assert client.instructions == USAGE
        requirement = client.done("remember", text="Never book flights before 9.", klass="hard_preference")["id"]
        client.done("remember", text="Likes tea.")
        client.done("remember", text="Tom is allergic to nuts.", klass="allergy", subjects=["tom"])
        client.close_stdin()
        assert client.ended() == 0
    sent = instructions_sent(tmp_path, era)
    assert sent.startswith(USAGE)
    assert "REQUIREMENTS of user (1)" in sent
    assert f"! HARD_PREFERENCE: Never book flights before 9. [{requirement}]" in sent.splitlines()[-1]
    assert "tea" not in sent
    assert STALE not in sent
    with wire(tmp_path) as client:
        client.done("revoke", note_id=requirement, reason="it was a joke")
        client.close_stdin()
        assert client.ended() == 0
    assert "before 9" not in instructions_sent(tmp_path, era)


def test_requirements_that_may_be_stale_come_with_a_warning(tmp_path: Path) -> None:
    """A killed process leaves the last list behind: it is sent together with where to find the current one."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        client.close_stdin()
        client.ended()
    with wire(tmp_path) as client:
        client.done("constraints")
        runtime = StoreRuntime(load({"store.uri": str(tmp_path / "store")}, environ={}))
        client.done("remember", text="Never book flights after 21.", klass="hard_preference")
        sent = instructions(runtime, NOW)
        client.process.kill()
        client.process.wait()
    assert "before 9" in sent
    assert STALE in sent


def test_a_running_server_saves_the_requirements_within_seconds(tmp_path: Path) -> None:
    """A second client that connects meanwhile receives the current list."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        runtime = StoreRuntime(load({"store.uri": str(tmp_path / "store")}, environ={}))
        until(lambda: "before 9" in (sent := instructions(runtime, NOW)) and STALE not in sent)


def test_the_requirements_are_sent_before_anything_heavy_is_loaded(tmp_path: Path) -> None:
    """A client receives them even if the import of every heavy library hangs."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        client.close_stdin()
        client.ended()
    for name in HEAVY:
        (tmp_path / "stuck" / name).mkdir(parents=True)
        (tmp_path / "stuck" / name / "__init__.py").write_text("import threading\nthreading.Event().wait()\n")
    with wire(tmp_path, path=[tmp_path / "stuck"]) as client:
        assert "before 9" in client.instructions


def test_requirements_of_another_store_or_subject_are_not_sent(tmp_path: Path) -> None:
    """With another store nothing is sent; with another default subject, only where the requirements are."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        client.close_stdin()
        client.ended()
    for settings in (("--store", tmp_path / "other"), ("--ephemeral",), ("--set", "memory.default_subject=tom")):
        with wire(tmp_path, *settings) as client:
            assert "before 9" not in client.instructions
            assert ("constraints" in client.instructions) == ("--set" in settings)


def test_a_requirement_that_ends_makes_the_snapshot_stale(tmp_path: Path) -> None:
    """From the moment a requirement begins or ends, the saved list carries the warning."""
    with wire(tmp_path) as client:
        client.done("remember", text="No meetings.", klass="hard_preference", valid_until="2096-03-03")
        client.close_stdin()
        client.ended()
    runtime = StoreRuntime(load({"store.uri": str(tmp_path / "store")}, environ={}))
    assert STALE not in instructions(runtime, NOW)
    assert STALE in instructions(runtime, datetime(2096, 3, 4, 0, 0, 1, tzinfo=UTC))


@pytest.mark.parametrize("content", ["", *(pytest.param(each, marks=pytest.mark.slow) for each in UNREADABLE)])
def test_an_unreadable_snapshot_is_ignored_and_replaced(tmp_path: Path, content: str) -> None:
    """The client is sent to `constraints`, and the next round of maintenance writes the file again."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        client.close_stdin()
        client.ended()
    (tmp_path / "store" / FILE).write_text(content)
    assert "There may be requirements: before you answer, call constraints" in instructions_sent(tmp_path)
    with wire(tmp_path) as client:
        client.done("constraints")
        until(lambda: read(tmp_path / "store") is not None)


def test_as_many_requirements_are_sent_as_fit_and_none_is_cut() -> None:
    """The limit counts in the units of clients, and the number of omitted ones is stated before the list."""
    requirements = [f"! ALLERGY: {'🥜' * 100} number {number} [x]" for number in range(20)]
    sent = composed("user", requirements, stale=True)
    assert size(sent) <= LIMIT
    shown = [each for each in requirements if each in sent]
    assert 0 < len(shown) < 20
    assert f"{20 - len(shown)} more did not fit: before you answer, call constraints" in sent
    assert sent.endswith(shown[-1])
    assert composed("user", ["x" * 3000], stale=False).endswith("call constraints for all of them.")
    assert composed("user", [], stale=False) == USAGE


def test_the_newest_version_has_the_smallest_name(tmp_path: Path) -> None:
    """LanceDB's version names count down; without a log there is no version."""
    assert newest_version(tmp_path) == ""
    with wire(tmp_path) as client:
        client.done("remember", text="Likes tea.")
        before = newest_version(tmp_path / "store")
        client.done("remember", text="Likes coffee.")
        assert before > newest_version(tmp_path / "store") > ""
        snapshot = tmp_path / "store" / FILE
        until(
            lambda: (
                snapshot.exists()
                and json.loads(snapshot.read_text())["version"] == newest_version(tmp_path / "store")
            )
        )
