"""What time a question is about: phrases that say so, and phrases that only look as if they did."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stilltrue.retrieval.temporal import NOW, read

TODAY = datetime(2026, 3, 4, 12, tzinfo=UTC)
"""A Wednesday."""


def date(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "query",
    [
        "Where does Priya live?",
        "which port does the database use",
        "what is May allergic to?",
        "May I restart the proxy?",
        "ask May about the invoice",
        "what does May's team use",
        "in May's opinion",
        "what do we know of May",
        "the pull request was reviewed by May",
        "signed off by June and April",
        "a friend of August",
        "it may 4 times fail",
        "the build may 2026 times fail",
        "is it in may or not",
        "how do we march on",
        "they march 3 abreast",
        "the last may be wrong",
        "whoever comes last may win",
        "which tool is used to run the tests?",
        "what is the cluster being used to train",
        "these keys are used to sign releases",
        "the token can be used to deploy",
        "Priya has to get used to the new office",
        "at first glance, which parts fail?",
        "who is second in line",
        "call me on Monday",
        "the next month's budget",
        "what happens in two weeks",
        "on 2031-01-01 the licence ends",
        "in 2031-05 we move",
        "see CVE-2024-12345",
        "port 2024-99 is odd",
        "version 3.11",
        "ten minutes ago",
        "a decade",
        "marching band, mayor, junebug, decimal, octet",
        "the company Last Mile",
        "aside from March madness",
        "",
    ],
)
def test_a_question_about_the_present_is_read_as_one(query: str) -> None:
    """Nothing is guessed: names, verbs, purposes and future dates are no question about the past."""
    assert read(query, TODAY) == NOW


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("What did we originally choose?", "originally"),
        ("INITIALLY we had two", "INITIALLY"),
        ("which one was it at first?", "at first"),
        ("in the beginning, who led the team", "in the beginning"),
    ],
)
def test_a_question_for_how_it_began_prefers_what_is_older(query: str, words: str) -> None:
    """The recency term is turned round, and history is wanted."""
    intent = read(query, TODAY)
    assert (intent.recency, intent.history, intent.span, intent.words) == ("inverted", True, None, words)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("Where did Priya previously live?", "previously"),
        ("what did we use before that", "before that"),
        ("Tom used to work in Porto", "used to"),
        ("which runner did we use back then", "back then"),
        ("the history of the deploy process", "history of"),
        ("which flags are no longer valid", "no longer"),
        ("how did it change over time", "over time"),
    ],
)
def test_a_question_for_how_it_was_takes_recency_out_and_wants_history(query: str, words: str) -> None:
    """No span is named, so none is made up."""
    intent = read(query, TODAY)
    assert (intent.recency, intent.history, intent.span, intent.words) == ("none", True, None, words)


@pytest.mark.parametrize(
    ("query", "start", "end", "words"),
    [
        ("what did we decide on 2025-11-03?", "2025-11-03", "2025-11-04", "2025-11-03"),
        ("what did we decide in 2025-11?", "2025-11-01", "2025-12-01", "2025-11"),
        ("the meeting of 4 March 2025", "2025-03-04", "2025-03-05", "4 March 2025"),
        ("the 4th of March 2025", "2025-03-04", "2025-03-05", "4th of March 2025"),
        ("on March 4th, 2025 we moved", "2025-03-04", "2025-03-05", "March 4th, 2025"),
        ("on Mar. 4 2025", "2025-03-04", "2025-03-05", None),
        ("the outage of March 2025", "2025-03-01", "2025-04-01", "March 2025"),
        ("on december 24", "2025-12-24", "2025-12-25", "december 24"),
        ("what did we use in November?", "2025-11-01", "2025-12-01", "November"),
        ("what was said earlier this week", "2026-03-02", "2026-03-04T12:00", "earlier this week"),
        ("since June we had", "2025-06-01", "2026-03-04T12:00", "since June"),
        ("until August it was", "0002-01-01", "2025-09-01", "until August"),
        ("in February", "2026-02-01", "2026-03-01", "February"),
        ("in May", "2025-05-01", "2025-06-01", "May"),
        ("on May 3", "2025-05-03", "2025-05-04", "May 3"),
        ("who came on the 3rd of March?", "2026-03-03", "2026-03-04", "3rd of March"),
        ("3 May 2024", "2024-05-03", "2024-05-04", "3 May 2024"),
        ("sept 2025", "2025-09-01", "2025-10-01", "sept 2025"),
        ("29 February 2024", "2024-02-29", "2024-03-01", "29 February 2024"),
        ("last March", "2025-03-01", "2025-04-01", "last March"),
        ("what did we say last march", "2025-03-01", "2025-04-01", "last march"),
        ("last May", "2025-05-01", "2025-06-01", "last May"),
        ("last February", "2026-02-01", "2026-03-01", "last February"),
        ("last December", "2025-12-01", "2026-01-01", "last December"),
        ("last Monday", "2026-03-02", "2026-03-03", "last Monday"),
        ("last Wednesday", "2026-02-25", "2026-02-26", "last Wednesday"),
        ("last thursday", "2026-02-26", "2026-02-27", "last thursday"),
        ("last week", "2026-02-23", "2026-03-02", "last week"),
        ("last month", "2026-02-01", "2026-03-01", "last month"),
        ("last year", "2025-01-01", "2026-01-01", "last year"),
        ("what broke yesterday?", "2026-03-03", "2026-03-04", "yesterday"),
        ("2 days ago", "2026-03-02", "2026-03-03", "2 days ago"),
        ("a week ago", "2026-02-21", "2026-03-01", "a week ago"),
        ("three months ago", "2025-11-18", "2025-12-20", "three months ago"),
        ("a couple of months ago", "2025-12-19", "2026-01-20", "a couple of months ago"),
        ("where was it two years ago", "2023-09-03", "2024-09-03", "two years ago"),
    ],
)
def test_a_time_in_words_is_read_as_a_span(query: str, start: str, end: str, words: str | None) -> None:
    """The start is in it, the end is not; "ago" is as exact as its unit."""
    intent = read(query, TODAY)
    assert intent.span == (date(start), date(end))
    assert (intent.recency, intent.history, intent.as_of) == ("none", True, None)
    assert words in (None, intent.words)


def test_a_span_that_is_not_over_ends_now() -> None:
    """ "in March" asked in March is the March that has begun."""
    assert read("in March", TODAY).span == (date("2026-03-01"), TODAY)


def test_how_it_began_in_a_span_is_both() -> None:
    """The words for the beginning turn recency round, the date says where to look."""
    intent = read("what did we originally plan in November", TODAY)
    assert (intent.recency, intent.span) == ("inverted", (date("2025-11-01"), date("2025-12-01")))


@pytest.mark.parametrize(
    ("query", "moment"),
    [
        ("as of 2025-11-03, where did Priya live?", "2025-11-04"),
        ("as of March 2025", "2025-04-01"),
        ("As of the 4th of March 2025", "2025-03-05"),
        ("as of last week", "2026-03-02"),
        ("as of yesterday", "2026-03-04"),
        ("as of 2 days ago", "2026-03-03"),
        ("as of three months ago", "2025-12-05"),
        ("as of a year ago", "2025-03-05"),
    ],
)
def test_as_of_asks_for_the_state_at_the_end_of_the_time_named(query: str, moment: str) -> None:
    """It is the last moment in it, so that what ends with it still holds; a search's margin is left out."""
    intent = read(query, TODAY)
    assert intent.as_of == date(moment) - timedelta(microseconds=1)
    assert (intent.history, intent.span, intent.recency) == (True, None, "none")


def test_as_of_a_time_that_is_not_over_is_as_of_now() -> None:
    """Nobody can know more."""
    assert read("as of March 2026", TODAY).as_of == TODAY


def test_days_are_those_of_the_users_zone() -> None:
    """Yesterday in Auckland is not yesterday in London."""
    auckland = TODAY.astimezone(timezone(timedelta(hours=13)))
    span = read("yesterday", auckland).span
    assert span is not None
    assert span[0] == datetime(2026, 3, 4, tzinfo=auckland.tzinfo)


@pytest.mark.parametrize(
    "query", ["on 31 February 2025", "2025-02-31", "2025-13-01", "2025-03-00", "2025-00", "0000-01-01"]
)
def test_a_date_that_the_calendar_does_not_have_is_no_date(query: str) -> None:
    """It is not moved to a near one."""
    assert read(query, TODAY) == NOW


@given(
    st.text(max_size=40)
    | st.from_regex(r"(as of )?(last|in|of|the )?[a-z0-9]{0,4} ?(march|may|day|years?)( ago)? ?\d{0,6}"),
    st.datetimes(datetime(1100, 1, 1), datetime(9990, 1, 1), timezones=st.just(UTC)),
)
def test_no_query_breaks_the_reading_and_no_span_reaches_into_the_future(query: str, now: datetime) -> None:
    """Whatever an agent asks, at any date."""
    intent = read(query, now)
    if intent.span:
        assert intent.span[0] <= intent.span[1] <= now
    if intent.as_of:
        assert intent.as_of <= now
