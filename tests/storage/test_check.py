"""`stilltrue check`: it is silent about a store that is whole, and says of a damaged one what is wrong."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line_store import at_work, filled, stilltrue, whole
from contexts import NOON, Agent
from hypothesis import Phase, given, settings
from strategies import importable_logs

from stilltrue.event import Erased, Event
from stilltrue.formats.jsonl import lines, read
from stilltrue.formats.redaction import forgotten
from store.admin.check import check
from store.lance.engine import Table
from store.open import open_store
from tools.admin.import_log import bring


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which nothing is wrong."""
    folder = tmp_path_factory.mktemp("pristine") / "store"
    filled(folder)
    return folder


@pytest.fixture
def folder(pristine: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(pristine, tmp_path / "store"))


def test_a_whole_store_is_found_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every kind of event, merges, forks, cues, pieces and a feedback: exit code 0, and the counts."""
    assert stilltrue(folder, "check") == 0
    said = capsys.readouterr().out
    assert "Everything is as it should be." in said
    assert "7 remembered" in said
    assert "2 revoked" in said


@settings(max_examples=4, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # each example is a store on the disk
@given(importable_logs(max_moves=12))
def test_no_log_that_can_happen_is_called_damaged(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event]
) -> None:
    """Whatever happened to the notes, the store that holds it is whole."""
    place = tmp_path_factory.mktemp("any")
    agent = Agent(open_store(str(place)))
    # In these logs reasons outlive what they are about. Those of a real one go with it.
    kept = forgotten(events, {event.note_id for event in events if isinstance(event, Erased)})
    bring(agent.context, read(line.encode() for line in lines(kept, NOON)))
    assert check(whole(place)).problems == ()


def test_a_store_can_be_checked_while_a_server_works(tmp_path: Path) -> None:
    """What is being written is there as a whole or not at all, also for a check."""
    filled(tmp_path / "store")
    with at_work(tmp_path / "store"):
        for _ in range(2):
            assert check(whole(tmp_path / "store")).problems == ()


def values(table: Table, where: str, **new: str) -> None:
    table.update(where=where, values_sql=new)


def twice(table: Table) -> None:
    table.add(table.search().where("kind = 'rated'").to_arrow())


BROKEN: list[tuple[str, Callable[[Table], object]]] = [
    ("is not that of an event", lambda table: values(table, "kind = 'rated'", body="'{\"kind\": 1'")),
    (
        "has 'remembered' as its kind; its event says 'rated'",
        lambda t: values(t, "kind = 'rated'", kind="'remembered'"),
    ),
    ("stands in 2 rows", twice),
    ("as its text; its event says", lambda table: values(table, "kind = 'revoked'", text="'another reason'")),
    ("as its digest; its event says", lambda table: values(table, "klasses[1] = 'allergy'", digest="'0000'")),
    ("leads to note .*, which is not there", lambda table: table.delete("text = 'the office is in Bruges'")),
    ("are not reached from the oldest note", lambda t: values(t, "text LIKE 'one office%'", chain="id")),
    (
        "does not carry 'allergy' of its past in its klasses",
        lambda t: values(t, "kind = 'rated'", klasses="['note']"),
    ),
    (
        "does not carry 'priya' of its past in its subjects",
        lambda t: values(t, "kind = 'rated'", subjects="['team']"),
    ),
    ("carries 'tom' in its subjects", lambda t: values(t, "kind = 'rated'", subjects="['team', 'priya', 'tom']")),
    ("belongs to an event of note", lambda table: values(table, "kind = 'cue'", id="'nobody.0'")),
    ("has the cue 'when signing contracts', and no row", lambda table: table.delete("kind = 'cue'")),
    ("stands for nothing in the log", lambda table: values(table, "id = 's:priya'", id="'s:tom'")),
]


@pytest.mark.parametrize(("what", "damage"), BROKEN, ids=[what for what, _ in BROKEN])
def test_damage_to_the_log_is_found_and_told(folder: Path, what: str, damage: Callable[[Table], object]) -> None:
    """Each sentence comes up where it is true, so that silence means something."""
    damage(whole(folder).table)
    problems = check(whole(folder)).problems
    assert any(re.search(what, problem) for problem in problems), problems


REPAIRABLE: list[tuple[str, Callable[[Table], object]]] = [
    ("by which a join is found, is missing", lambda table: table.delete("kind = 'join'")),
    ("by which a subject is found, is missing", lambda table: table.delete("id = 's:priya'")),
    ("There is no index on text", lambda table: table.drop_index("text_idx")),
    ("There is no index on note", lambda table: table.drop_index("note_idx")),
]


@pytest.mark.parametrize(("what", "damage"), REPAIRABLE, ids=[what for what, _ in REPAIRABLE])
def test_what_follows_from_the_rows_is_made_anew(
    folder: Path, capsys: pytest.CaptureFixture[str], what: str, damage: Callable[[Table], object]
) -> None:
    """Without `--repair` it is told, exit code 1; with it the store is whole again, and found so."""
    damage(whole(folder).table)
    assert stilltrue(folder, "check") == 1
    assert what in capsys.readouterr().out
    assert stilltrue(folder, "check", "--repair") == 0
    assert f"found: {'The row' if 'missing' in what else what}" in capsys.readouterr().out
    assert stilltrue(folder, "check") == 0


def test_an_index_that_lost_its_rows_is_found(folder: Path) -> None:
    """An index whose file is damaged cannot be read, or leads elsewhere; both are told, and mended from the rows."""
    opened = whole(folder)
    opened.table.optimize()
    (index,) = (each for each in opened.table.list_indices() if each.columns == ["note"])
    for file in (opened.dataset / "_indices" / str(index.index_uuid)).iterdir():
        content = bytearray(file.read_bytes())
        content[: len(content) // 2] = bytes(len(content) // 2)
        file.write_bytes(content)
    assert any("The index on note" in problem for problem in check(whole(folder)).problems)
    assert stilltrue(folder, "check", "--repair") == 0


def test_what_cannot_be_repaired_stays_a_problem(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lost note is not in the rows, so that nothing can be made of them; the rest of the store still works."""
    whole(folder).table.delete("text = 'the office is in Bruges'")
    assert stilltrue(folder, "check", "--repair") == 1
    assert "which is not there" in capsys.readouterr().out
