"""Times given as arguments: which forms are taken, what they span, and which are refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from stilltrue.retrieval.temporal import given

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "start", "end"),
    [
        ("2026-03-04", "2026-03-04", "2026-03-05"),
        ("2026-W10-1", "2026-03-02", "2026-03-03"),
        ("2015", "2015-01-01", "2016-01-01"),
        ("2027", "2027-01-01", "2028-01-01"),
        ("2024-03", "2024-03-01", "2024-04-01"),
        ("12.11.2026", "2026-11-12", "2026-11-13"),
        ("1.2.2026", "2026-02-01", "2026-02-02"),
        ("25/12/2025", "2025-12-25", "2025-12-26"),
        ("12/25/2025", "2025-12-25", "2025-12-26"),
        ("4/4/2026", "2026-04-04", "2026-04-05"),
        ("2026/03/04", "2026-03-04", "2026-03-05"),
        ("March 2024", "2024-03-01", "2024-04-01"),
        ("4. März 2024", "2024-03-04", "2024-03-05"),
        ("Q3 2025", "2025-07-01", "2025-10-01"),
        ("today", "2026-03-04", "2026-03-05"),
        ("Yesterday", "2026-03-03", "2026-03-04"),
        ("gestern", "2026-03-03", "2026-03-04"),
        ("tomorrow", "2026-03-05", "2026-03-06"),
        ("last week", "2026-02-23", "2026-03-02"),
        ("3 days ago", "2026-03-01", "2026-03-02"),
        ("a month ago", "2026-02-04", "2026-02-05"),
    ],
)
def test_a_date_a_month_a_year_or_a_word_is_a_span(said: str, start: str, end: str) -> None:
    """In the past or to come."""
    expected = [datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (start, end)]
    assert [*given.read(said, NOW)] == expected


@pytest.mark.parametrize(("said", "hour"), [("now", 12), ("2026-03-04T15:00:00", 15), ("2026-03-04T15:00+02:00", 13)])
def test_a_moment_is_an_empty_span(said: str, hour: int) -> None:
    """Without an offset it is in the zone of `now`."""
    assert given.read(said, NOW) == (NOW.replace(hour=hour), NOW.replace(hour=hour))


def test_a_date_with_slashes_that_could_be_two_is_refused_with_both() -> None:
    """Guessing would be wrong for half of the world."""
    with pytest.raises(given.Ambiguous) as refused:
        given.read("03/04/2026", NOW)
    assert (refused.value.day_first, refused.value.month_first) == ("2026-04-03", "2026-03-04")


@pytest.mark.parametrize(
    "said",
    ["Monday", "March", "4 March", "summer", "whenever", "31.2.2026", "2026-13", "2026-03-04T25:00", "in 2015", ""],
)
def test_what_is_no_date_or_leaves_the_year_open_is_refused(said: str) -> None:
    """An argument is not interpreted as a question is."""
    with pytest.raises(ValueError, match="no"):
        given.read(said, NOW)


@drawn(st.text(max_size=30), st.datetimes(datetime(3, 1, 1), datetime(9990, 1, 1), timezones=st.just(UTC)))
def test_nothing_but_a_refusal_is_raised(said: str, now: datetime) -> None:
    """Whatever an agent sends."""
    try:
        start, end = given.read(said, now)
    except ValueError:
        return
    assert start <= end
