"""`stilltrue import`: to the same fold, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line_store import filled, stilltrue, whole
from contexts import NOON, Agent
from hypothesis import given
from strategies import HORIZON_DAYS, KLASSES, START, importable_logs

from stilltrue.errors import Refused
from stilltrue.event import Event
from stilltrue.formats.jsonl import lines, read
from stilltrue.lifecycle import fold
from store.admin.check import check
from store.open import open_store
from tools.admin.import_log import bring


def brought(events: list[Event], *, into: Agent | None = None) -> Agent:
    """A context whose store these events were imported into, through the lines of an export."""
    agent = into or Agent()
    bring(agent.context, read(line.encode() for line in lines(events, NOON)))
    return agent


def texts(rows: list[dict[str, Any]]) -> list[bytes]:
    """The lines of these rows below a header."""
    header = {"format": "stilltrue-log", "version": 1}
    return [json.dumps(row).encode() for row in [header, *rows]]


@given(importable_logs())
def test_an_import_comes_to_the_same_fold(events: list[Event]) -> None:
    """For any log and moment: the same notes in the same status, in the same chains, entered by any of them."""
    store = brought(events).store
    assert store.events() == sorted(events, key=lambda event: event.id)
    moment = START.replace(month=2)
    for event in events:
        (record,) = store.chains_of([event.note_id])
        members = fold(record.events, moment)
        assert members == {note_id: fold(events, moment)[note_id] for note_id in members}
    assert HORIZON_DAYS > 31


@given(importable_logs(max_moves=10), importable_logs(max_moves=6))
def test_what_binds_is_found_after_an_import_as_after_the_verbs(first: list[Event], second: list[Event]) -> None:
    """Rows carry their causal past: each query by class and subject finds every note of it and all that is newer."""
    store = brought(first).store
    for klass in KLASSES:
        for subject in ("team", "priya", "tom"):
            found = {event.id for event in store.binding([klass], [subject])}
            for event in first:
                (record,) = store.chains_of([event.note_id])
                notes = {e.id: e.note for e in record.events if hasattr(e, "note")}
                if event.note_id in notes:
                    note = notes[event.note_id]
                    assert event.id in found or note.klass != klass or subject not in note.subjects


def test_a_store_comes_back_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Export, import into an empty store, check: the same events, nothing wrong, and words lead to them."""
    filled(tmp_path / "store")
    stilltrue(tmp_path / "store", "export", "--output", tmp_path / "log.jsonl")
    assert stilltrue(tmp_path / "other", "import", tmp_path / "log.jsonl") == 0
    assert "found by their words only: embedding.engine is none" in capsys.readouterr().out
    assert whole(tmp_path / "other").events() == whole(tmp_path / "store").events()
    assert stilltrue(tmp_path / "other", "check") == 0


def test_texts_cues_and_reasons_are_embedded_anew(tmp_path: Path) -> None:
    """With a model, meaning leads to an imported note as to one that was remembered; progress is told."""
    events = filled(tmp_path / "store").store.events()
    agent, told = Agent(open_store(str(tmp_path / "other"))), []
    bring(agent.context, read(line.encode() for line in lines(events, NOON)), lambda *how: told.append(how))
    assert told[-1] == (len(events), len(events))
    report = check(whole(tmp_path / "other"))
    assert (report.problems, report.remarks) == ((), ())
    assert report.counts == check(whole(tmp_path / "store")).counts


def test_a_second_log_joins_the_first(tmp_path: Path) -> None:
    """Into a store that is not empty, a file may link to its notes; their chain is one."""
    agent = filled(tmp_path / "store")
    (note_id, *_) = agent.line("the tests run with tox", "the tests run with nox", subjects=["api"])
    row = {
        "id": "zzzzzzzzzzzzzz00",
        "kind": "remembered",
        "at": "2027-01-01T00:00:00+00:00",
        "note": "zzzzzzzzzzzzzz00",
    }
    row |= {"text": "tox, with coverage", "subjects": ["api"], "klass": "fact", "source": "user", "importance": 0.5}
    bring(agent.context, read(texts([row | {"links": [[note_id, "refinement"]]}])))
    assert "zzzzzzzzzzzzzz00" in agent.chain_of(note_id).members
    assert check(whole(tmp_path / "store")).problems == ()


def at(number: int) -> str:
    return f"01kjq6rm3{number:07}"


def note(number: int, **more: Any) -> dict[str, Any]:
    row = {"id": at(number), "kind": "remembered", "at": "2026-03-02T12:00:00+00:00", "note": at(number)}
    said = {"text": f"fact {number}", "subjects": ["team"], "klass": "note", "source": "user", "importance": 0.5}
    return row | said | more


def late(number: int, to: int, kind: str = "revoked", **more: Any) -> dict[str, Any]:
    row = {"id": at(number), "kind": kind, "at": "2026-03-02T12:00:00+00:00", "note": at(to)}
    return row | ({"reason": "it was wrong"} if kind == "revoked" else {}) | more


def updates(*numbers: int) -> dict[str, Any]:
    return {"links": [[at(number), "update"] for number in numbers]}


REFUSED = [
    ("line 3: the id .* is on line 2 already", [note(1), note(1)]),
    ("line 2: the id .* is in the store already", [note(0)]),
    ("line 2: it links to note .*, which is in neither", [note(1, **updates(9))]),
    ("line 2: it refers to note .*, which is in neither", [late(2, 1)]),
    ("line 2: its links make a cycle: .*1 -> .*2 -> .*1", [note(1, **updates(2)), note(2, **updates(1))]),
    ("line 2: its links make a cycle", [note(1, **updates(1))]),
    ("line 2: it links to note .*, which is newer", [note(1, **updates(2)), note(2)]),
    ("line 3: .* newer", [note(2), late(1, 2)]),
    ("line 2: 'forgot' is not a kind of event", [note(1, kind="forgot")]),
    ("line 2: a remembered event has no field 'mood'", [note(1, mood="glad")]),
    ("line 2: the field 'klass' is missing", [{k: v for k, v in note(1).items() if k != "klass"}]),
    ("line 2: text is 5; it has to be a str", [note(1, text=5)]),
    ("line 2: subjects has to be a list of strings", [note(1, subjects=[1])]),
    ("line 2: subjects is empty", [note(1, subjects=[])]),
    ("line 2: importance is 2", [note(1, importance=2)]),
    ("line 2: importance is True", [note(1, importance=True)]),
    ("line 2: importance is nan", [note(1, importance=float("nan"))]),
    ("line 2: a time needs an offset", [note(1, at="2026-03-02T12:00:00")]),
    (
        "line 2: .*not after",
        [note(1, valid_from="2026-03-02T12:00:00+00:00", valid_until="2026-03-01T12:00:00+00:00")],
    ),
    ("line 2: .*surrogate", [note(1, text="\ud800")]),
    ("line 2: .* is not an id", [note(1, id="x", note="x")]),
    ("line 2: `note` is", [note(1, note=at(2))]),
    ("line 2: its text is empty", [note(1, text="")]),
    ("line 2: note .* is erased, but still has its text", [note(1), late(2, 1, "erased")]),
    ("line 2: it erases note .*, whose text is in the store.*stilltrue erase", [late(2, 0, "erased")]),
    ("line 2: 'loved' is not a valid", [note(1, links=[[at(0), "loved"]])]),
    ("line 4: it revokes note .*, which is revoked already", [note(1), late(2, 1), late(3, 1)]),
    ("line 3: it reinstates note .*, which is not revoked", [note(1), late(2, 1, "reinstated")]),
    ("line 4: it revokes note .*, which is erased", [note(1, text=""), late(2, 1, "erased"), late(3, 1)]),
    (
        "line 5: it reinstates note .*, which is erased",
        [note(1, text=""), late(2, 1, reason=""), late(3, 1, "erased"), late(4, 1, "reinstated")],
    ),
]


@pytest.mark.parametrize(("why", "rows"), REFUSED, ids=[why for why, _ in REFUSED])
def test_a_file_with_one_wrong_line_is_refused_whole(why: str, rows: list[dict[str, Any]]) -> None:
    """The error names the line and what is wrong with it; nothing of the file is stored, not even its good lines."""
    agent = brought(read_rows([note(0)]))
    before = agent.written()
    with pytest.raises(Refused, match=why):
        bring(agent.context, read(texts([*rows, note(7), late(8, 7)])))
    assert agent.written() == before


def test_a_file_that_makes_a_step_of_the_store_impossible_is_refused() -> None:
    """The store's revocation came after the one in the file, which is the line to blame."""
    agent = brought(read_rows([note(0), late(5, 0)]))
    with pytest.raises(
        Refused, match=r"line 2: with it, event .*5 of the store revokes note .*, which is revoked al"
    ):
        bring(agent.context, read(texts([late(3, 0)])))


def test_a_note_may_be_revoked_again_after_it_was_reinstated() -> None:
    """Also where the steps are partly in the store and partly in the file; a rating of it is always let through."""
    agent = brought(read_rows([note(0), late(1, 0)]))
    rated = late(4, 0, "rated", outcome="helped")
    bring(agent.context, read(texts([late(2, 0, "reinstated"), late(3, 0), rated])))
    assert agent.status(at(0)) == "revoked"


def test_a_rating_of_an_erased_note_is_imported() -> None:
    """`feedback` accepts it, so an export can hold it."""
    rows = [note(1, text=""), late(2, 1, "erased"), late(3, 1, "rated", outcome="helped")]
    assert len(brought(read_rows(rows)).store.events()) == 3


def read_rows(rows: list[dict[str, Any]]) -> list[Event]:
    return [each.event for each in read(texts(rows))]


HEADERS: list[tuple[str, Callable[[list[bytes]], list[bytes]]]] = [
    ("the file is empty", lambda good: []),
    ("line 1: the first line has to contain", lambda good: good[1:]),
    ("line 1: the format has version 2", lambda good: [b'{"format":"stilltrue-log","version":2}', *good[1:]]),
    ("the header says 3 events, but the file has 2", lambda good: good[:-1]),
    ("line 4: it is not JSON", lambda good: [*good[:-1], good[-1][:-9]]),
    ("line 4: it has to be a JSON object", lambda good: [*good[:-1], b"[1]"]),
    ("line 4: it is not JSON", lambda good: [*good[:-1], b"\xff\xfe"]),
]


@pytest.mark.parametrize(("why", "spoil"), HEADERS, ids=[why for why, _ in HEADERS])
def test_a_file_that_is_cut_off_or_of_another_kind_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], why: str, spoil: Callable[[list[bytes]], list[bytes]]
) -> None:
    """Half a file is never taken for a whole one."""
    good = [line.encode() for line in lines(read_rows([note(1), note(2), late(3, 1)]), NOON)]
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(spoil(good)))
    assert stilltrue(tmp_path / "store", "import", tmp_path / "log.jsonl") == 1
    assert why in capsys.readouterr().err
    assert not (tmp_path / "store").exists()


def test_the_same_file_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An id names one event, for ever."""
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(texts([note(1), note(2)])))
    assert stilltrue(tmp_path / "store", "import", tmp_path / "log.jsonl") == 0
    assert stilltrue(tmp_path / "store", "import", tmp_path / "log.jsonl") == 1
    assert "is in the store already" in capsys.readouterr().err
    assert stilltrue(tmp_path / "store", "import", tmp_path / "nothing.jsonl") == 1
