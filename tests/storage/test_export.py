"""`stilltrue export`: the whole log as lines, and as pages to read."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from command_line_store import at_work, filled, stilltrue, whole
from contexts import NOON
from hypothesis import given
from hypothesis import strategies as st
from log_text import FORMATTER, day, log
from strategies import importable_logs

from stilltrue.chain import chains
from stilltrue.classes import Classes
from stilltrue.event import KINDS, Event, from_row
from stilltrue.formats.jsonl import lines, linked, read
from stilltrue.formats.markdown import INDEX, file_name, pages


@given(importable_logs(texts=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)))
def test_what_is_read_is_what_was_written(events: list[Event]) -> None:
    """Any log, with words in any script, comes back event by event, in log order."""
    found = read(line.encode() for line in lines(events, NOON))
    assert [each.event for each in found] == sorted(events, key=lambda event: event.id)
    linked(found, [])


def test_each_event_is_a_line_below_a_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The header names the format and the number of events; each further line is an event as a row."""
    filled(tmp_path / "store")
    assert stilltrue(tmp_path / "store", "export") == 0
    header, *rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    events = whole(tmp_path / "store").events()
    assert (header["format"], header["version"], header["events"]) == ("stilltrue-log", 1, len(events))
    assert [from_row(row) for row in rows] == events
    assert {row["kind"] for row in rows} == set(KINDS) - {"erased"}


def test_a_file_is_replaced_as_a_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--output` holds the same lines as stdout, and nothing of an older file."""
    filled(tmp_path / "store")
    target = tmp_path / "log.jsonl"
    target.write_text("old\n" * 10_000)
    assert stilltrue(tmp_path / "store", "export", "--output", target) == 0
    stilltrue(tmp_path / "store", "export")
    assert target.read_text("utf-8").splitlines()[1:] == capsys.readouterr().out.splitlines()[1:]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log.jsonl", "store"]


def test_an_export_is_of_one_moment_while_a_server_writes(tmp_path: Path) -> None:
    """No link of it leads to a note that it does not hold, and each is a beginning of the next one."""
    filled(tmp_path / "store")
    seen: list[list[Event]] = []
    with at_work(tmp_path / "store"):
        for number in range(3):
            target = tmp_path / f"{number}.jsonl"
            assert stilltrue(tmp_path / "store", "export", "--output", target) == 0
            found = read(target.read_bytes().splitlines())
            linked(found, [])
            seen.append([each.event for each in found])
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(seen))


def test_there_has_to_be_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong path is an error, and no empty store appears there."""
    for command in (["export"], ["check"], ["backup", tmp_path / "copy"], ["erase", "x"]):
        assert stilltrue(tmp_path / "nowhere", *command) == 1
        assert "There is no store at" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


STORY = """
    A  remembered "the tests run with <b>tox</b>" about api
    B  remembered "the tests run with nox" about api updates A because "tox is gone"
    C  remembered "Priya is allergic to peanuts" about priya, team as allergy
    D  remembered "the build is red" about api
    -  revoked D because "it was the proxy"
"""


def test_a_page_tells_what_holds_first_and_marks_the_rest() -> None:
    """Requirements are marked as such, history as history, and words of others are no HTML."""
    made = pages(chains(log(STORY), day(99)), Classes(), FORMATTER, day(99))
    assert set(made) == {"api.md", "priya.md", "team.md", INDEX}
    assert "- **REQUIREMENT** Priya is allergic to peanuts [C]" in made["team.md"]
    now, before, gone = (
        made["api.md"].index(text) for text in ("run with nox", "  - no longer true: the tests", "## History")
    )
    assert now < before < gone < made["api.md"].index("RETRACTED on 2025-01-06: the build is red")
    assert "\\<b>" in made["api.md"]
    assert "[api](api.md): 1 that hold, 1 that no longer do" in made[INDEX]


@given(st.lists(st.text(min_size=1, max_size=80), min_size=2, max_size=6, unique=True))
def test_every_subject_has_a_file_of_its_own_that_any_system_takes(subjects: list[str]) -> None:
    """No name leaves the folder, begins with a dot, is long or reserved, or differs from another by case alone."""
    every = {*subjects, "con", "../x", "..", "_index", "a/b", "a-b"}
    names = [file_name(subject) for subject in every]
    for name in names:
        assert re.fullmatch(r"\w[\w-]*\.md", name), name
        assert len(name) < 80
        assert name.lower() not in ("con.md", INDEX)
    assert len({name.casefold() for name in names}) == len(every)


def test_pages_go_into_an_empty_folder_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second export beside the first would leave pages of subjects that are no more."""
    filled(tmp_path / "store")
    command = ("export", "--format", "markdown")
    assert stilltrue(tmp_path / "store", *command) == 2
    assert stilltrue(tmp_path / "store", *command, "--output", tmp_path / "pages") == 0
    assert "allergic to peanuts" in (tmp_path / "pages" / "priya.md").read_text("utf-8")
    assert stilltrue(tmp_path / "store", *command, "--output", tmp_path / "pages") == 1
    assert "is not empty" in capsys.readouterr().err
