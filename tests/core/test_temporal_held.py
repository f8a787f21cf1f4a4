"""What was said or held in a span: by when a note began to hold, and by what ended it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pytest
from log_text import chain_of, day

from stilltrue.lifecycle import Member
from stilltrue.retrieval.temporal import held_in, leading_in, said_in

MOVES = """
    A  remembered "Priya lives in Porto"  @0
    B  remembered "Priya lives in Lyon" updates A  @100
    C  remembered "Priya lives in Ghent" updates B  @200
"""


def members_of(log: str) -> Mapping[str, Member]:
    """The notes of a log of one chain, long after its last line."""
    return chain_of(log, on=10_000).members


def span(start: float, end: float) -> tuple[datetime, datetime]:
    return day(start), day(end)


@pytest.mark.parametrize(("start", "end", "held"), [(0, 50, "A"), (50, 150, "AB"), (100, 200, "B"), (250, 300, "C")])
def test_a_note_holds_until_its_successor_begins(start: float, end: float, held: str) -> None:
    """The end is excluded: on the day of the move only the new place holds."""
    members = members_of(MOVES)
    assert "".join(each for each in members if held_in(members[each], members, span(start, end))) == held


def test_a_note_begins_to_hold_at_its_valid_from_whenever_it_was_recorded() -> None:
    """Ten years that were told in one afternoon are still ten years."""
    members = members_of("""
        A  remembered from 0  @1000
        B  remembered updates A from 100  @1001
    """)
    assert leading_in(members, span(40, 60)) == ("A",)
    assert leading_in(members, span(140, 160)) == ("B",)


@pytest.mark.parametrize(
    ("log", "end"),
    [("A  remembered until 9  @0", 9), ("A  remembered  @0 \n -  revoked A because 'x'  @5", 5)],
)
def test_a_note_holds_no_longer_than_its_validity_or_its_revocation(log: str, end: int) -> None:
    """What was withdrawn held until then."""
    members = members_of(log.replace("'x'", '"x"'))
    assert held_in(members["A"], members, span(0, 1))
    assert not held_in(members["A"], members, span(end, end + 9))


def test_a_revoked_successor_ends_nothing() -> None:
    """The prior value may hold again; it is asked about all the same."""
    members = members_of("""
        A  remembered  @0
        B  remembered updates A  @5
        -  revoked B because "a mix-up"  @6
    """)
    assert held_in(members["A"], members, span(20, 30))


def test_a_refinement_ends_nothing() -> None:
    """Both hold."""
    members = members_of("A  remembered  @0 \n B  remembered refines A  @5")
    assert held_in(members["A"], members, span(20, 30))


def test_what_was_said_in_a_span_need_not_have_held_in_it() -> None:
    """A plan for later was made then."""
    members = members_of("A  remembered from 200  @5")
    assert said_in(members["A"], span(0, 10))
    assert not held_in(members["A"], members, span(0, 10))
    assert leading_in(members, span(0, 10)) == ("A",)


def test_of_three_values_in_ten_years_the_one_of_the_year_leads() -> None:
    """In each year the value that held for most of it."""
    years = 365.25
    changes = [(0.0, "A"), (3.4, "B"), (6.8, "C")]
    members = members_of("""
        A  remembered  @0
        B  remembered updates A  @1241.85
        C  remembered updates B  @2483.7
    """)
    for year in range(10):
        longest = max(
            changes,
            key=lambda change: min(year + 1, {"A": 3.4, "B": 6.8, "C": 10.0}[change[1]]) - max(year, change[0]),
        )[1]
        assert leading_in(members, span(year * years, (year + 1) * years))[0] == longest
