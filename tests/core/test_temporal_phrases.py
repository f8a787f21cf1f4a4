"""What people say about time, kind by kind, and what only sounds like it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stilltrue.retrieval.temporal import NOW, read

TODAY = datetime(2026, 3, 4, 12, tzinfo=UTC)
"""A Wednesday."""


def date(text: str) -> datetime:
    return TODAY if text == "now" else datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("what did we eat in the last 5 days", "2026-02-27", "now"),
        ("what broke in the past three months", "2025-12-04", "now"),
        ("what was decided in the past weeks", "2026-02-04", "now"),
        ("what did I say today", "2026-03-04", "now"),
        ("what have we promised this week", "2026-03-02", "now"),
        ("what changed since Friday", "2026-02-27", "now"),
        ("what did she say on Monday", "2026-03-02", "2026-03-03"),
        ("what broke over the weekend", "2026-02-28", "2026-03-02"),
        ("where was he a fortnight ago", "2026-02-14", "2026-02-22"),
        ("what was the plan a few months ago", "2025-10-19", "2026-01-19"),
        ("the day before yesterday", "2026-03-02", "2026-03-03"),
        ("the targets of Q3 2025", "2025-07-01", "2025-10-01"),
        ("the third quarter of 2025", "2025-07-01", "2025-10-01"),
        ("last quarter", "2025-10-01", "2026-01-01"),
        ("last summer", "2025-06-01", "2025-09-01"),
        ("autumn 2023", "2023-09-01", "2023-12-01"),
        ("in the 90s", "1990-01-01", "2000-01-01"),
        ("the 2010s", "2010-01-01", "2020-01-01"),
        ("where did we live in 2015", "2015-01-01", "2016-01-01"),
        ("what did we use at the end of 2023", "2023-09-01", "2024-01-01"),
        ("the plan of September 2024", "2024-09-01", "2024-10-01"),
        ("March of last year", "2025-03-01", "2025-04-01"),
        ("between 2018 and 2021", "2018-01-01", "2022-01-01"),
        ("July through September 2024", "2024-07-01", "2024-10-01"),
        ("from November 2024 to February", "2024-11-01", "2025-03-01"),
        ("before 2020", "0002-01-01", "2020-01-01"),
        ("after May 2023", "2023-06-01", "now"),
        ("on 12.11.2025", "2025-11-12", "2025-11-13"),
        ("on 25/03/2025", "2025-03-25", "2025-03-26"),
        ("the week before last", "2026-02-16", "2026-02-23"),
    ],
)
def test_each_kind_of_time_is_read_as_its_span(query: str, start: str, end: str) -> None:
    """A calendar time is met to the day; what says "a few" has a margin around it."""
    span = read(query, TODAY).span
    assert span is not None
    days = [
        round((found - date(wanted)).total_seconds() / 86400)
        for found, wanted in zip(span, (start, end), strict=True)
    ]
    assert all(abs(each) <= 1 for each in days), span


@pytest.mark.parametrize(
    "query",
    [
        "until recently we had a dog", "which songs did she like as a child", "what was I like when I was little",
        "Tom used to live in Porto", "what was the old address", "what did we use before the move",
    ],
)  # fmt: skip
def test_the_past_without_a_date_asks_for_history(query: str) -> None:
    """No span is made up."""
    intent = read(query, TODAY)
    assert (intent.history, intent.span, intent.recency) == (True, None, "none")


@pytest.mark.parametrize(
    "query",
    [
        "is the old bakery open", "what must I check before we ship", "which tool is used to lint", "prior to flying",
        "a speech no longer than five minutes", "the history of art", "who likes Your Lie in April",
        'is "Summer of 1969" good',
        "may I join", "does April eat meat", "what does June think", "is June's flat warm", "she believes in May",
        "version 3.12", "does it listen on 2015", "GPT 2024 pricing", "RTX 2080 or 3090", "it costs $2019",
        "in 2015 rooms",
        "the sum of 2015 and 4", "CVE-2024-12345", "v2024.1", "call 2015-2016", "room 2019", "Office 2019",
        "call me on Monday", "next Friday", "every year in March", "until next week", "is it closed until Friday",
        "what is for lunch today", "what do we plan this weekend", "on 12.11.2026 we move", "is 03/04/2025 right",
        "what will we grow in May", "Spring Boot", "prices fall", "run as a child process", "her last name",
        "last but not least",
        "the last week of term", "between 9 and 5", "in her thirties", "she is in her 30s",
        "does it run from January to March",
    ],
)  # fmt: skip
def test_what_only_sounds_like_the_past_is_about_the_present(query: str) -> None:
    """Names, titles, purposes, numbers, plans and habits."""
    assert read(query, TODAY) == NOW


@pytest.mark.parametrize(
    "piece",
    [
        "last ", "2015 ", "in 2015 to ", "in March ", "from May to ", "between 2015 and ", "the ", "of ", " ", "a",
        "1", "-",
        "'", '"', "“a” ", "年", "3年前", "前に", "1.1.2020 ", "9999999999 ", "\u0301", "A B in May ", "last week of ",
    ],
)  # fmt: skip
def test_a_long_and_hostile_query_is_read_as_every_other(piece: str) -> None:
    """32 KB of the same piece: each word is looked at a bounded number of times, and no repetition explodes."""
    intent = read((piece * 32_768)[:32_768], TODAY)
    assert intent.span is None or intent.span[0] < intent.span[1] <= TODAY


def test_a_long_query_is_read_at_both_ends() -> None:
    """That is where a question is asked about a text that was pasted."""
    pasted = "lorem ipsum " * 2_000
    assert read(f"{pasted} what did we use in 2015?", TODAY).span == (date("2015-01-01"), date("2016-01-01"))
    assert read(f"what did we use in 2015? {pasted}", TODAY).span == (date("2015-01-01"), date("2016-01-01"))


PIECES = (
    "last|in|since|between|and|from|to|before|after|the|of|as of|ago|2015|March|May|Monday|weekend|summer|Q3|90s|"
    "three|days|"
    "vor|Jahren|il y a|ans|hace|fa|há|geleden|年|前|去年|から|3月|12.11.2025|0000-01-01|9999|year|week|did|next|,|."
)


@given(
    st.lists(st.sampled_from(PIECES.split("|")), max_size=9).map(" ".join) | st.text(max_size=60),
    st.datetimes(datetime(2, 1, 1), datetime(9990, 1, 1), timezones=st.just(UTC)),
)
def test_a_span_has_a_length_and_ends_by_now(query: str, now: datetime) -> None:
    """Whatever is asked, in whatever mix of languages, in whatever year."""
    intent = read(query, now)
    if intent.span:
        assert intent.span[0] < intent.span[1] <= now
    if intent.as_of:
        assert intent.as_of <= now
