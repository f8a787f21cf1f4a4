"""What `feedback` promises: it changes the rank of a note a little, and nothing else."""

from __future__ import annotations

import pytest
from contexts import Agent, rules

from stilltrue.errors import Refused


def order(agent: Agent, query: str) -> list[str]:
    """The ids of the chains that a query returns, best first."""
    return [chain.id for chain in agent.recall(query).data.chains]


def test_a_helpful_note_ranks_higher_and_a_misleading_one_lower(agent: Agent) -> None:
    """The two match the query equally well."""
    ids = [agent.note(f"deploy guide {name}", klass="fact") for name in ("alpha", "beta")]
    agent.feedback([ids[0]], "helped")
    assert order(agent, "deploy guide") == ids
    for _ in range(2):
        agent.feedback([ids[0]], "misled")
    assert order(agent, "deploy guide") == ids[::-1]


def test_one_misled_undoes_one_helped(agent: Agent) -> None:
    """They are inverses."""
    note_id = agent.note("deploy guide")
    for outcome in ("helped", "misled"):
        agent.feedback([note_id], outcome)
    assert agent.chain_of(note_id).members[note_id].ratings == 0


def test_no_number_of_ratings_lifts_a_note_above_a_better_match(agent: Agent) -> None:
    """Boosts are capped: a popular note must not answer every question."""
    popular = agent.note("deploy guide", klass="fact")
    fitting = agent.note("parking at the harbour", klass="fact")
    for _ in range(40):
        agent.feedback([popular], "helped")
    assert order(agent, "parking at the harbour")[0] == fitting


def test_no_rating_changes_what_holds_or_binds(agent: Agent) -> None:
    """A misleading requirement binds until it is revoked."""
    old, rule = agent.line("no nuts", "no peanuts", klass="allergy")
    for _ in range(20):
        agent.feedback([old, rule], "misled")
    assert (agent.status(old, rule), rules(agent.constraints())) == ("superseded, current", ["no peanuts"])


def test_each_of_several_notes_is_rated_once(agent: Agent) -> None:
    """In one chain or several, named once or twice; the answer names each of them."""
    ids = [*agent.line("one", "two"), agent.note("three")]
    answer = agent.feedback([*ids, f"[{ids[0]}]"], " Helped ")
    assert (answer.data.ids, answer.data.outcome) == (tuple(ids), "helped")
    assert [agent.chain_of(each).members[each].ratings for each in ids] == [1, 1, 1]
    assert answer.text == f"Noted: [{ids[0]}], [{ids[1]}], [{ids[2]}] helped."


def test_a_retired_note_can_be_rated(agent: Agent) -> None:
    """An answer may have used it before it was retired."""
    note_id = agent.note("one")
    agent.revoke(note_id)
    assert agent.feedback([note_id], "misled").data.ids == (note_id,)


@pytest.mark.parametrize("outcome", ["", "ok", "helpful", "\x00"])
def test_an_outcome_is_helped_or_misled(agent: Agent, outcome: str) -> None:
    """Other words are refused."""
    note_id, rows = agent.note("one"), agent.written()
    with pytest.raises(Refused, match="helped or misled"):
        agent.feedback([note_id], outcome)
    assert agent.written() == rows


def test_one_unknown_id_refuses_the_whole_call(agent: Agent) -> None:
    """The other notes are not rated either."""
    note_id, rows = agent.note("one"), agent.written()
    with pytest.raises(Refused) as refused:
        agent.feedback([note_id, note_id[:10]], "helped")
    assert (refused.value.code, agent.written()) == ("short_id", rows)
