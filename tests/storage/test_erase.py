"""`stilltrue erase`: the words are nowhere, the tombstone stays, and no crash leaves anything between."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest
from command_line_store import at_work, filled, stilltrue, whole
from contexts import Agent, rules, told
from hypothesis import given
from hypothesis import strategies as st
from processes import elsewhere
from strategies import START, logs

from stilltrue.event import Erased, Event, Remembered, Revoked
from stilltrue.formats.redaction import Traces, forgotten, traces_of
from stilltrue.ids import stamp
from stilltrue.lifecycle import Status, fold
from store.admin.check import check
from store.layout import INTENT
from store.open import open_store

SECRET = "Wolkenkuckucksheimverwaltung pays Tom a pension"
WORD = b"wolkenkuckucksheimverwaltung"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


def holding(folder: Path) -> list[str]:
    """The files under a folder in which the secret, or its telling word, stands in any case."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [str(file.relative_to(folder)) for file in files if WORD in file.read_bytes().lower()]


def everything(folder: Path) -> bytes:
    """All bytes of all files under a folder."""
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def numbers_of(agent: Agent, note_id: str) -> list[bytes]:
    """The vector and the sketch of a note, and the digest of its text, as bytes that a file may hold."""
    where = f"id = '{note_id}'"
    (row,) = agent.store._backend.table.search().where(where).to_arrow().to_pylist()  # type: ignore[attr-defined]
    return [np.asarray(row["vector"], np.float32).tobytes(), row["sketch"], row["digest"].encode()]


def erased(folder: Path, *arguments: str | Path) -> None:
    assert stilltrue(folder, "erase", *arguments, "--yes") == 0


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("position", ["first", "middle", "last"])
def test_the_words_are_nowhere_wherever_they_stood(folder: Path, position: str, compacted: bool) -> None:
    """In a fragment of its own or amid others: text, cues and index entries go, in all files and old versions."""
    agent = Agent(open_store(str(folder)))
    before, after = {"first": (0, 6), "middle": (3, 3), "last": (6, 0)}[position]
    for number in range(before):
        agent.note(f"fact {number} about cooking", subjects=["kitchen"], cues=["when cooking"])
    note_id = agent.note(SECRET, subjects=["tom"], cues=[f"when {SECRET} is due"])
    for number in range(after):
        agent.note(f"fact {number} about walking", subjects=["hills"], cues=["when walking"])
    if compacted:
        agent.store._backend.table.optimize()  # type: ignore[attr-defined]
    numbers = numbers_of(agent, note_id)
    assert holding(folder)
    assert numbers[0] in everything(folder)
    erased(folder, note_id)
    assert holding(folder) == []
    assert [found for found in numbers if found in everything(folder)] == []
    assert agent.status(note_id) == "erased"
    report = check(whole(folder))
    assert (report.problems, report.counts["cue"]) == ((), 6)


def test_all_that_tells_of_a_note_goes_with_it(folder: Path) -> None:
    """Pieces of a long text, why it was revoked, and why another took its place; the other's own words stay."""
    agent = filled(folder)
    note_id = agent.note(f"{SECRET} and a long story. " * 40, subjects=["tom"], request_id=f"store {SECRET}")
    agent.revoke(note_id, f"{SECRET} was wrong. " * 30)
    agent.reinstate(note_id, f"{SECRET} was right")
    newer = agent.supersede(note_id, "Tom has no pension", reason=f"not {SECRET}").data.id  # type: ignore[union-attr]
    erased(folder, note_id)
    assert holding(folder) == []
    assert agent.status(note_id, newer) == "erased, current"
    assert "Tom has no pension" in told(agent.recall("does Tom have a pension", subjects=["tom"]))
    assert check(whole(folder)).problems == ()


def test_forgetting_a_successor_does_not_bring_the_old_value_back(folder: Path) -> None:
    """The tombstone keeps its links: what it replaced stays replaced, and what binds goes on binding."""
    agent = Agent(open_store(str(folder)))
    old, new = agent.line("Priya eats anything", SECRET, subjects=["priya"], klass="allergy")
    other, fallen = agent.line("Tom is allergic to nuts", f"{SECRET}, twice", subjects=["tom"], klass="allergy")
    agent.revoke(fallen, f"{SECRET} is not about nuts")
    erased(folder, new, fallen)
    assert agent.status(old, new, other, fallen) == "superseded, erased, unsettled, erased"
    assert rules(agent.constraints(["priya"])) == []
    assert rules(agent.constraints(["tom"])) == ["Tom is allergic to nuts"]


@given(logs(max_moves=10), st.data())
def test_forgetting_changes_no_other_note(events: list[Event], data: st.DataObject) -> None:
    """For any log: with the words out and the erased events in, every other note has the status it had."""
    notes = [event.id for event in events if isinstance(event, Remembered)]
    gone = set(data.draw(st.lists(st.sampled_from(notes), min_size=1, max_size=3)))
    at = START.replace(month=6)
    erasures = [Erased(stamp(at, number).id, at, note_id) for number, note_id in enumerate(sorted(gone))]
    before, after = fold(events, at), fold([*forgotten(events, gone), *erasures], at)
    assert {n: m.status for n, m in before.items() if n not in gone} == {
        n: m.status for n, m in after.items() if n not in gone
    }
    assert all(after[note_id].status is Status.ERASED for note_id in gone)
    assert traces_of(forgotten(events, gone), gone) == Traces()
    revoked = [each for each in forgotten(events, gone) if isinstance(each, Revoked) and each.note_id in gone]
    assert not any(each.reason for each in revoked)


def test_a_subject_goes_but_for_what_is_others_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Notes that name others are listed and left; `--shared` takes them as well."""
    agent = filled(folder)
    alone = agent.note(SECRET, subjects=["Tom"])
    shared = agent.note("Tom and Priya share a desk", subjects=["tom", "priya"])
    erased(folder, "--subject", " TOM ")
    assert agent.status(alone, shared) == "erased, current"
    assert f"[{shared}]" in capsys.readouterr().out.partition("--shared")[2]
    erased(folder, "--subject", "tom", "--shared")
    assert agent.status(shared) == "erased"
    assert stilltrue(folder, "erase", "--subject", "nobody", "--yes") == 1


def test_backups_and_set_aside_files_are_cleaned_as_well(folder: Path, tmp_path: Path) -> None:
    """A copy that is named is erased and proven like the store; what a crash tore is removed."""
    agent = filled(folder)
    note_id = agent.note(SECRET, subjects=["tom"])
    assert stilltrue(folder, "backup", tmp_path / "copy") == 0
    (folder / "set-aside" / "log").mkdir(parents=True)
    (folder / "set-aside" / "log" / "torn.lance").write_bytes(SECRET.encode())
    (folder / "briefing.json").write_bytes(SECRET.encode())
    (folder / "log.lance" / "data" / ".tmpvCkPU8").write_bytes(SECRET.encode())
    erased(folder, note_id)
    assert (holding(folder), bool(holding(tmp_path / "copy"))) == ([], True)
    erased(folder, note_id, "--backup", tmp_path / "copy")
    assert holding(tmp_path / "copy") == []
    assert open_store(str(tmp_path / "copy")).events()[-1].note_id == note_id
    assert check(whole(tmp_path / "copy")).problems == ()


def test_the_proof_says_where_the_words_still_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another note that says the same, or a file that somebody put there: exit code 1, and its name."""
    agent = Agent(open_store(str(folder)))
    note_id, other = agent.note(SECRET, subjects=["tom"]), agent.note(SECRET, subjects=["priya"])
    assert stilltrue(folder, "erase", note_id, "--yes") == 1
    assert f"Note [{other}] says" in capsys.readouterr().out
    short, long = (agent.note(text, subjects=["team"]) for text in ("tea", "the team has tea"))
    for each in (short, long):
        agent.revoke(each, "it was a mistake")
    erased(folder, short)
    assert "'it was a mistake' stands in note" in capsys.readouterr().out
    (folder / "export.jsonl").write_bytes(SECRET.encode())
    assert stilltrue(folder, "erase", other, "--yes") == 1
    assert "export.jsonl holds the bytes of" in capsys.readouterr().out
    assert holding(folder) == ["export.jsonl"]
    (folder / "before" / "log.lance").mkdir(parents=True)
    assert stilltrue(folder, "erase", agent.note("Tom has a car"), "--yes") == 1
    assert "log.lance is another table, and nothing was erased from it" in capsys.readouterr().out


def test_nobody_is_surprised(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without `--yes` and a terminal, with an unknown id, or with neither a note nor a subject: nothing is erased."""
    note_id = Agent(open_store(str(folder))).note(SECRET)
    assert stilltrue(folder, "erase", note_id) == 2
    assert SECRET in capsys.readouterr().out
    assert stilltrue(folder, "erase", "--yes") == 2
    assert stilltrue(folder, "erase", note_id, note_id[:5], "--yes") == 1
    assert f"[{note_id}]" in capsys.readouterr().err
    assert not any(isinstance(event, Erased) for event in whole(folder).events())
    erased(folder, note_id)
    erased(folder, note_id)
    assert "1 of these were erased before" in capsys.readouterr().out
    assert sum(isinstance(event, Erased) for event in whole(folder).events()) == 1


def test_a_server_at_work_notices_nothing(folder: Path) -> None:
    """Another process that writes, searches and compacts meanwhile meets no error, and loses no note."""
    agent = filled(folder)
    ids = [agent.note(f"{SECRET} {number}", subjects=["tom"]) for number in range(3)]
    with at_work(folder) as acknowledged:
        for note_id in ids:
            erased(folder, note_id)
    assert holding(folder) == []
    opened = whole(folder)
    assert {event.id for event in opened.events()} >= set(acknowledged)
    assert check(opened).problems == ()


KILLED = """
import os, signal, sys
from server.cli.main import main
import {module} as module
whole = module.{function}
def die(*arguments, **more):
    if {after}:
        whole(*arguments, **more)
    os.kill(os.getpid(), signal.SIGKILL)
module.{function} = die
main(["erase", sys.argv[2], "--yes", "--store", sys.argv[1]])
"""
"""Erases a note, and is killed right before or right after one of its steps."""

MOMENTS = [
    ("_write_intent", False),
    ("_write_intent", True),
    ("_forget", True),
    ("index_columns", True),
    ("_purge", False),
    ("clean_up", True),
]


@pytest.mark.parametrize(
    ("step", "after"), MOMENTS, ids=[f"{'after' if late else 'before'} {s}" for s, late in MOMENTS]
)
def test_a_kill_leaves_the_note_whole_or_lets_the_next_start_finish(folder: Path, step: str, after: bool) -> None:
    """kill -9 between any two steps: whoever opens the store next finds the note untouched, or ends the work."""
    agent = Agent(open_store(str(folder)))
    note_id = agent.note(SECRET, subjects=["tom"], cues=["when paying"])
    agent.revoke(note_id, f"{SECRET} no more")
    agent.store.close()
    program = KILLED.format(module="store.folder.erasure", function=step, after=after)
    with elsewhere(program, folder, note_id) as process:
        assert process.wait() == -signal.SIGKILL
    again = Agent(open_store(str(folder)))
    if (step, after) == ("_write_intent", False):
        assert again.status(note_id) == "revoked"
    else:
        assert (again.status(note_id), holding(folder)) == ("erased", [])
    assert not (folder / INTENT).exists()
    assert check(whole(folder)).problems == ()
