"""Dates as an agent gives them: words, months, years, and the last day on which something holds."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest
from contexts import Agent, told

from stilltrue.errors import Refused
from stilltrue.text.formatting import Formatter


def test_the_last_day_of_a_note_is_shown_as_the_day_that_was_given(agent: Agent) -> None:
    """By the answer that stores it, and by the one that recalls it."""
    answer = agent.remember("Office in Ghent", valid_until="2026-10-19")
    assert "until the end of 2026-10-19." in answer.text
    assert "valid until 2026-10-19" in agent.recall("office").text


def test_an_end_with_a_time_of_day_is_shown_with_it(agent: Agent) -> None:
    """Nothing is rounded where it is stored."""
    answer = agent.remember("Office in Ghent", valid_until="2026-10-19T15:00:00")
    assert "until 2026-10-19T15:00:00+00:00." in answer.text


def test_the_last_day_is_that_of_the_configured_zone(agent: Agent) -> None:
    """Midnight in Auckland is noon in London."""
    there = agent.but(formatter=Formatter(timezone(timedelta(hours=12))))
    answer = there.remember("Office in Ghent", valid_until="2026-10-19")
    assert answer.data.note.valid_until == "2026-10-20T00:00:00+12:00"
    assert "until the end of 2026-10-19." in answer.text


def test_a_note_holds_on_its_last_day_as_of_that_day(agent: Agent) -> None:
    """The day as of which is asked is the one that was given, and not the midnight after it."""
    agent.note("Office in Ghent", valid_until="2026-03-10")
    agent.clock.on(days=30)
    answer = agent.recall("office", as_of="2026-03-10")
    assert answer.data.as_of == "2026-03-10T23:59:59+00:00"
    assert told(answer) == ["Office in Ghent"]
    assert answer.data.chains[0].lead[0].status == "current"


@pytest.mark.parametrize("query", ["the office as of 2026-03-10", "the office as of 10.3.2026"])
def test_as_of_in_the_words_of_a_question_means_the_same(agent: Agent, query: str) -> None:
    """However the day is named."""
    agent.note("Office in Ghent", valid_until="2026-03-10")
    agent.clock.on(days=30)
    answer = agent.recall(query)
    assert answer.data.as_of == "2026-03-10T23:59:59+00:00"
    assert answer.data.chains[0].lead[0].status == "current"


@pytest.mark.parametrize(
    ("said", "end"),
    [("2027", "2028-01-01"), ("2026-10", "2026-11-01"), ("tomorrow", "2026-03-04"), ("12.11.2026", "2026-11-13")],
)
def test_a_year_a_month_or_a_word_as_an_end_is_included(agent: Agent, said: str, end: str) -> None:
    """Today is the second of March."""
    note = agent.remember("Office in Ghent", valid_until=said).data.note
    assert note.valid_until == f"{end}T00:00:00+00:00"


@pytest.mark.parametrize(
    ("said", "start"), [("2015", "2015-01-01"), ("2024-03", "2024-03-01"), ("today", "2026-03-02")]
)
def test_a_year_a_month_or_a_word_as_a_start_means_its_beginning(agent: Agent, said: str, start: str) -> None:
    """It holds from the first moment of it."""
    note = agent.remember("Office in Ghent", valid_from=said).data.note
    assert note.valid_from == f"{start}T00:00:00+00:00"


@pytest.mark.parametrize(
    ("said", "shown"), [("yesterday", "2026-04-10"), ("2026-03", "2026-03-31"), ("a week ago", "2026-04-04")]
)
def test_as_of_a_word_or_a_month_means_its_last_moment(agent: Agent, said: str, shown: str) -> None:
    """Seen from the eleventh of April."""
    agent.note("Office in Ghent")
    agent.clock.on(days=40)
    assert agent.recall("office", as_of=said).data.as_of == f"{shown}T23:59:59+00:00"


@pytest.mark.parametrize("said", ["now", "today", "2026"])
def test_as_of_what_is_not_over_is_the_present(agent: Agent, said: str) -> None:
    """Nobody can know more."""
    agent.note("Office in Ghent")
    agent.clock.on(days=1)
    assert (told(answer := agent.recall("office", as_of=said)), answer.data.as_of) == (["Office in Ghent"], "")


def test_a_date_that_is_one_of_two_is_refused_with_both(agent: Agent) -> None:
    """The agent is told what to write."""
    with pytest.raises(Refused) as refused:
        agent.remember("Office in Ghent", valid_until="03/04/2027")
    assert "2027-04-03 or 2027-03-04" in str(refused.value)
    assert "Write the year first" in str(refused.value)
