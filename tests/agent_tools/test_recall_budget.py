"""What `recall` promises of its size and its order: the budget holds, and what was read before counts a little."""

from __future__ import annotations

from datetime import timedelta

import pytest
from contexts import Agent, rules, split, told

from stilltrue.retrieval.ranking import Policy
from stilltrue.text.budget import estimate_tokens
from tools.support.retrieval import counts_of, enter, search

ALLERGY = {"klass": "allergy", "subjects": ["priya", "team"], "source": "user"}


# The budget


@pytest.mark.parametrize("budget", [0, 1, 40, 200, 1_000_000])
def test_the_budget_holds_and_what_it_leaves_out_is_listed(agent: Agent, budget: int) -> None:
    """With id and size. Requirements do not count against it, and their size is reported."""
    agent.note("No nuts for Priya", **ALLERGY)
    ids = {agent.note(f"lunch {number} at the harbour", subjects=["team"]) for number in range(8)}
    answer = agent.recall("lunch harbour", budget_tokens=budget)
    body = [line for line in split(answer)[0].splitlines() if line.startswith(("* ", "  "))]
    assert estimate_tokens("\n".join(body)) <= answer.data.tokens <= budget
    assert {each.id for each in answer.data.chains} | {each.id for each in answer.data.omitted} == ids
    assert (answer.data.requirement_tokens > 0, rules(answer)) == (True, ["No nuts for Priya"])
    assert all(each.tokens > budget - answer.data.tokens for each in answer.data.omitted)


def test_history_is_cut_first_and_counted(agent: Agent) -> None:
    """Oldest first. The chain is found by its head, so all of the rest may be cut."""
    agent.line(*(f"old value {number} of the setting" for number in range(30)), "the present one")
    answer = agent.recall("present", budget_tokens=200)
    (chain,) = answer.data.chains
    assert (chain.lead[0].text, chain.hidden + len(chain.history)) == ("the present one", 30)
    assert chain.history[0].text == "old value 29 of the setting"
    assert f"(+{chain.hidden} older of its history not shown)" in answer.text


def test_a_fact_that_changed_many_times_still_fits(agent: Agent) -> None:
    """Nearly every note of its chain matches, and the current value fits into the default budget all the same."""
    agent.line(*(f"The api is at version {number} since sprint {number}" for number in range(50)), subjects=["api"])
    assert told(agent.recall("which version is the api at")) == ["The api is at version 49 since sprint 49"]


def test_a_fact_that_changed_many_times_is_found_by_its_oldest_words(agent: Agent) -> None:
    """The best match is the first of fifty notes. An agent that believes it needs the current value most."""
    agent.line("The api is on Jetty", *(f"It is at version {number}" for number in range(49)), subjects=["api"])
    assert told(agent.recall("is the api on Jetty")) == ["It is at version 48"]


def test_the_budget_holds_in_scripts_without_spaces(agent: Agent) -> None:
    """Counting four characters per token would let two to four times as much through."""
    for number in range(40):
        agent.note(f"田中さんは毎週木曜日に港のレストランで昼食をとります {number}", subjects=["team"])
    answer = agent.recall("昼食 レストラン", budget_tokens=300)
    characters = sum(len(text) for text in told(answer))
    assert (0 < answer.data.tokens <= 300, 0 < characters <= 300) == (True, True)


# Earlier deliveries


def test_retrievals_are_counted_per_session_and_in_total(agent: Agent) -> None:
    """The answer shows the count before itself."""
    agent.note("standup at ten")
    seen = []
    for session in ("s1", "s1", "s2"):
        (chain,) = agent.recall("standup", session=session).data.chains
        seen.append((chain.retrieved_session, chain.retrieved_total))
        agent.clock.on(minutes=5)
    assert seen == [(0, 0), (1, 1), (0, 2)]
    assert "recalled" not in agent.recall("standup", session="s1").text


@pytest.mark.parametrize(("pause", "counted"), [(1, 1), (59, 1), (60, 2)])
def test_a_note_that_is_read_again_within_the_refresh_floor_counts_once(
    agent: Agent, pause: int, counted: int
) -> None:
    """Each session counts by itself."""
    agent.note("standup at ten")
    agent.recall("standup", session="s1")
    agent.recall("standup", session="s2")
    agent.clock.now += timedelta(seconds=pause)
    agent.recall("standup", session="s1")
    (chain,) = agent.recall("standup", session="s1").data.chains
    assert (chain.retrieved_session, chain.retrieved_total) == (counted, counted + 1)


def test_what_is_left_out_is_not_counted(agent: Agent) -> None:
    """Only delivered leads are."""
    agent.note("standup at ten")
    agent.recall("standup", budget_tokens=0)
    assert agent.recall("standup").data.chains[0].retrieved_total == 0


def test_reading_a_note_refreshes_its_recency(agent: Agent) -> None:
    """Of two equal matches, the one that was read leads."""
    first, second = (agent.note(f"sprint goal {name}", klass="working_context") for name in ("alpha", "beta"))
    agent.clock.on(days=30)
    agent.recall("alpha")
    agent.clock.on(days=1)
    order = [chain.id for chain in agent.recall("sprint goal").data.chains]
    assert order == [first, second]


def test_what_the_limit_of_full_text_cut_scores_like_the_last_row_above_it(agent: Agent) -> None:
    """Words can be so common in one subject that every note scores nearly as high as the best."""
    for text in ("port port port", "the port", "one port for each web server", "of the of the of the"):
        agent.note(text)
    alone = agent.but(policy=Policy(relevance=1.0, recency=0.0, importance=0.0, lexical_share=1.0, late_share=0.0))

    def scores(candidates: int) -> list[float]:
        context = alone.but(candidates=candidates).context
        hits, _ = search(context, "the port of the", ())
        records = context.store.chains({hit.chain for hit in (*hits.by_vector, *hits.by_text)})
        counts = counts_of(context, records, "")
        return sorted(each.score for each in enter(context, hits, records, counts, "none", None, context.clock()))

    assert scores(3)[:2] == [0.0, 0.0]  # the third of three, and what shares no telling word
    assert scores(4)[0] == 0.0 < scores(4)[1]
