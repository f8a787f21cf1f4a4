"""Events to and from rows: nothing is lost on the way, and nothing foreign gets in."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from log_text import day, log
from strategies import events

from stilltrue.event import KINDS, Event, Remembered, from_row, kind_of, to_row
from stilltrue.note import Note

NOTE = to_row(log("A  remembered about priya as allergy from 3 until 9 updates Z")[0])


@given(events())
def test_an_event_comes_back_from_its_row_as_it_was(event: Event) -> None:
    """That holds through JSON too, as in an export."""
    assert from_row(to_row(event)) == event
    assert from_row(json.loads(json.dumps(to_row(event)))) == event


@given(events())
def test_a_row_has_kind_note_and_time_and_leaves_out_what_is_absent(event: Event) -> None:
    """It is flat, and nothing in it is null."""
    row = to_row(event)
    assert (row["id"], row["kind"], row["note"]) == (event.id, kind_of(event), event.note_id)
    assert row["kind"] in KINDS
    assert None not in row.values()
    assert not any(isinstance(value, dict) for value in row.values())


def test_every_kind_of_event_has_a_name_for_rows() -> None:
    """The closed union and the list of names agree."""
    lines = "A  remembered \n -  revoked A \n -  reinstated A \n -  erased A \n -  helped A"
    assert [to_row(event)["kind"] for event in log(lines)] == list(KINDS)


def test_times_in_a_row_are_in_utc() -> None:
    """Whatever zone the validity was given in."""
    berlin = timezone(timedelta(hours=2))
    note = Note("A", "x", ("a",), "note", "user", day(1), valid_until=datetime(2026, 7, 1, tzinfo=berlin))
    row = to_row(Remembered(note))
    assert row["valid_until"] == "2026-06-30T22:00:00+00:00"
    assert from_row(row) == Remembered(note)


def test_an_empty_text_is_not_taken_for_an_absent_one() -> None:
    """An erased note has an empty text; a reinstatement may have no reason at all."""
    erased, _, reinstated = log("A  remembered \n -  erased A \n -  reinstated A")
    assert to_row(erased)["text"] == ""
    assert "reason" not in to_row(reinstated)


def test_an_importance_of_zero_is_kept() -> None:
    """Zero is a value."""
    note = Note("A", "x", ("a",), "note", "user", day(1), importance=0.0)
    assert from_row(to_row(Remembered(note))) == Remembered(note)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "forgotten"},
        {"kind": None},
        {"kind": ["remembered"]},
        {"at": "yesterday"},
        {"at": None},
        {"at": 1735689600},
        {"at": "2025-01-01T00:00:00"},
        {"valid_until": "2025-01-01"},
        {"links": [["Z", "contradicts"]]},
        {"links": [["Z"]]},
        {"links": 5},
        {"importance": "high"},
        {"importance": None},
        {"subjects": "priya"},
        {"subjects": None},
    ],
    ids=str,
)
def test_a_row_that_is_not_one_of_ours_is_refused(change: dict[str, Any]) -> None:
    """An unknown kind, a time that is missing or has no offset, an unknown link kind: nothing is half understood."""
    with pytest.raises((ValueError, KeyError)):
        from_row(NOTE | change)


@pytest.mark.parametrize("key", ["id", "kind", "at", "text", "subjects", "klass", "source", "importance"])
def test_a_row_that_lacks_what_a_note_needs_is_refused(key: str) -> None:
    """Nothing is filled in by guessing."""
    with pytest.raises((ValueError, KeyError)):
        from_row({name: value for name, value in NOTE.items() if name != key})


def test_the_error_for_an_unknown_kind_names_the_known_ones() -> None:
    """The message says what was wrong and what was expected."""
    with pytest.raises(ValueError, match=r"forgotten.*remembered, revoked, reinstated, erased, rated"):
        from_row(NOTE | {"kind": "forgotten"})


def test_an_event_cannot_be_changed() -> None:
    """Nothing in the log is ever updated in place."""
    event = from_row(NOTE)
    with pytest.raises(FrozenInstanceError):
        event.note = None  # type: ignore[misc, union-attr]
    assert event.at.tzinfo == UTC
