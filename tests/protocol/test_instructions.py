"""What a client is told as it connects: how to use the memory, and the rules, before anything heavy is loaded."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from wire import ONE_ERA_AND_LATER_BOTH, Era, until, wire

from server.config.load import load
from server.protocol.instructions import FILE, LIMIT, USAGE, composed, instructions, newest, read, size
from server.wiring import StoreRuntime

NO_BRIEFINGS = ("{", "[]", '{"subject": 1}', "\x00" * 100)

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
HEAVY = ("lancedb", "pyarrow", "onnxruntime", "tokenizers", "numpy")


def told(home: Path, era: Era = "handshake") -> str:
    """The instructions of a server that starts in `home`, ends, and is asked nothing else."""
    with wire(home, era=era) as client:
        said = client.instructions if era == "handshake" else client.ask("server/discover")["instructions"]
        client.close_stdin()
        assert client.ended() == 0
    return str(said)


@pytest.mark.parametrize("era", ONE_ERA_AND_LATER_BOTH)
def test_a_rule_reaches_the_next_client_and_a_revoked_one_does_not(tmp_path: Path, era: Era) -> None:
    """What one process stored is in the instructions of the next, whole; and gone from those after it is revoked."""
    with wire(tmp_path) as client:
        assert client.instructions == USAGE
        rule = client.done("remember", text="Never book flights before 9.", klass="hard_preference")["id"]
        client.done("remember", text="Likes tea.")
        client.done("remember", text="Tom is allergic to nuts.", klass="allergy", subjects=["tom"])
        client.close_stdin()
        assert client.ended() == 0
    said = told(tmp_path, era)
    assert said.startswith(USAGE)
    assert "REQUIREMENTS of user (1)" in said
    assert f"! HARD_PREFERENCE: Never book flights before 9. [{rule}]" in said.splitlines()[-1]
    assert "tea" not in said
    assert "constraints has" not in said
    with wire(tmp_path) as client:
        client.done("revoke", note_id=rule, reason="it was a joke")
        client.close_stdin()
        assert client.ended() == 0
    assert "before 9" not in told(tmp_path, era)


def test_rules_that_may_have_changed_since_are_told_with_a_warning(tmp_path: Path) -> None:
    """A process that was killed wrote nothing down: the last known rules are told, and where those of now are."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        client.close_stdin()
        client.ended()
    with wire(tmp_path) as client:
        client.done("constraints")
        home = StoreRuntime(load({"store.uri": str(tmp_path / "store")}, environ={}))
        client.done("remember", text="Never book flights after 21.", klass="hard_preference")
        said = instructions(home, NOW)
        client.process.kill()
        client.process.wait()
    assert "before 9" in said
    assert "constraints has the rules of now" in said


def test_a_running_server_writes_the_rules_down_soon(tmp_path: Path) -> None:
    """A second client that starts beside the first is told the rules of now, within seconds."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        home = StoreRuntime(load({"store.uri": str(tmp_path / "store")}, environ={}))
        until(lambda: "before 9" in (said := instructions(home, NOW)) and "rules of now" not in said)


def test_the_rules_are_told_before_anything_heavy_is_loaded(tmp_path: Path) -> None:
    """With libraries whose import never ends, a client is told the rules all the same."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        client.close_stdin()
        client.ended()
    for name in HEAVY:
        (tmp_path / "stuck" / name).mkdir(parents=True)
        (tmp_path / "stuck" / name / "__init__.py").write_text("import threading\nthreading.Event().wait()\n")
    with wire(tmp_path, path=[tmp_path / "stuck"]) as client:
        assert "before 9" in client.instructions


def test_what_lies_elsewhere_or_is_of_another_subject_is_not_told(tmp_path: Path) -> None:
    """Another store tells nothing of this one, and another default subject is told where the rules are."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        client.close_stdin()
        client.ended()
    for settings in (("--store", tmp_path / "other"), ("--ephemeral",), ("--set", "memory.default_subject=tom")):
        with wire(tmp_path, *settings) as client:
            assert "before 9" not in client.instructions
            assert ("constraints" in client.instructions) == ("--set" in settings)


def test_a_rule_that_ends_makes_the_file_old(tmp_path: Path) -> None:
    """From the moment on at which a rule begins or ends, what was written down is not told as the rules of now."""
    with wire(tmp_path) as client:
        client.done("remember", text="No meetings.", klass="hard_preference", valid_until="2096-03-03")
        client.close_stdin()
        client.ended()
    home = StoreRuntime(load({"store.uri": str(tmp_path / "store")}, environ={}))
    assert "rules of now" not in instructions(home, NOW)
    assert "rules of now" in instructions(home, datetime(2096, 3, 4, 0, 0, 1, tzinfo=UTC))


@pytest.mark.parametrize("content", ["", *(pytest.param(each, marks=pytest.mark.slow) for each in NO_BRIEFINGS)])
def test_a_file_that_cannot_be_read_is_no_file(tmp_path: Path, content: str) -> None:
    """Whatever became of it, a client is told that there may be rules, and the next upkeep writes it anew."""
    with wire(tmp_path) as client:
        client.done("remember", text="Never book flights before 9.", klass="hard_preference")
        client.close_stdin()
        client.ended()
    (tmp_path / "store" / FILE).write_text(content)
    assert "Rules may be stored: call constraints" in told(tmp_path)
    with wire(tmp_path) as client:
        client.done("constraints")
        until(lambda: read(tmp_path / "store") is not None)


def test_as_many_rules_are_told_as_fit_and_each_whole() -> None:
    """The limit of clients holds in their own units, no rule is cut, and what is missing is said before the rules."""
    rules = [f"! ALLERGY: {'🥜' * 100} number {number} [x]" for number in range(20)]
    said = composed("user", rules, stale=True)
    assert size(said) <= LIMIT
    shown = [rule for rule in rules if rule in said]
    assert 0 < len(shown) < 20
    assert f"{20 - len(shown)} more did not fit: call constraints" in said
    assert said.endswith(shown[-1])
    assert composed("user", ["x" * 3000], stale=False).endswith("before you answer.")
    assert composed("user", [], stale=False) == USAGE


def test_the_newest_version_is_known_by_its_name(tmp_path: Path) -> None:
    """The names of LanceDB's versions count down; where there is no log there is no version."""
    assert newest(tmp_path) == ""
    with wire(tmp_path) as client:
        client.done("remember", text="Likes tea.")
        before = newest(tmp_path / "store")
        client.done("remember", text="Likes coffee.")
        assert before > newest(tmp_path / "store") > ""
        kept = tmp_path / "store" / FILE
        until(lambda: kept.exists() and json.loads(kept.read_text())["version"] == newest(tmp_path / "store"))
