"""Whose requirements a recall returns: all that matter, not everybody's without need, and never a false none."""

from __future__ import annotations

from contexts import Agent, rules


def test_the_default_subject_is_in_play_where_others_are_named(agent: Agent) -> None:
    """The user eats along, whoever the question is about."""
    agent.note("I am severely allergic to peanuts", klass="allergy", source="user")
    agent.note("Priya likes Thai food", subjects=["priya"])
    answer = agent.recall("Book a Thai dinner for me and Priya", subjects=["priya"])
    assert rules(answer) == ["I am severely allergic to peanuts"]


def test_who_is_named_is_in_play_beside_the_subjects_given(agent: Agent) -> None:
    """The subjects of the call narrow the search, not the requirements."""
    agent.note("The deal closes in May", subjects=["deal 17", "acme"])
    agent.note("Never email Acme", klass="do_not_contact", subjects=["acme"])
    answer = agent.recall("When does the deal with Acme close?", subjects=["deal 17"])
    assert rules(answer) == ["Never email Acme"]


def test_the_subjects_of_a_returned_chain_are_in_play(agent: Agent) -> None:
    """Though neither the call nor the question names them."""
    agent.note("The deal closes in May", subjects=["deal 17", "acme"])
    agent.note("Never email them", klass="do_not_contact", subjects=["acme"])
    assert rules(agent.recall("When does the deal close?", subjects=["deal 17"])) == ["Never email them"]


def test_a_crowd_that_is_reached_only_through_a_note_is_named_with_the_call_that_lists_it(agent: Agent) -> None:
    """300 people share a subject; a question about one of them does not return 300 requirements."""
    for number in range(300):
        agent.note(f"p{number} drinks number {number}", subjects=[f"p{number}", "team"])
        agent.note(f"no nuts for p{number}", subjects=[f"p{number}", "team"], klass="allergy")
    answer = agent.recall("What does p7 drink?", limit=1)
    assert "no nuts for p7" in rules(answer)
    assert len(rules(answer)) <= 2  # that of p7, whom the question names, and what was found
    assert [(each.subject, each.requirements) for each in answer.data.withheld] == [("team", 300)]
    assert answer.text.splitlines()[-1] == (
        '! 300 requirements of team are not listed: before you act for team, call constraints(subjects=["team"]).'
    )


def test_where_nobody_is_named_everybody_is_in_play_while_they_are_few(agent: Agent) -> None:
    """An allergy that is filed under one name matters to a question that names nobody."""
    agent.note("Priya is allergic to peanuts", klass="allergy", subjects=["priya"])
    assert rules(agent.recall("Book somewhere for the team")) == ["Priya is allergic to peanuts"]


def test_where_nobody_is_named_and_there_are_many_the_answer_says_whose_they_are(agent: Agent) -> None:
    """None is never said as if there were none."""
    for number in range(60):
        agent.note(f"no nuts, no shellfish and no sesame for p{number}", subjects=[f"p{number}"], klass="allergy")
    agent.note("The printer is in the hall", subjects=["office"])
    answer = agent.recall("Where is the printer?", limit=1)
    last = answer.text.splitlines()[-1]
    assert last.startswith("REQUIREMENTS: none for office, user. Others have some (p0 1, p1 1, p10 1, ")
    assert last.endswith(", and 52 more): constraints returns them.")


def test_none_is_said_only_of_those_who_have_none(agent: Agent) -> None:
    """With a subject given, the requirements of others are counted and named."""
    agent.note("No nuts", klass="allergy", subjects=["priya"])
    agent.note("Tom plays the cello", subjects=["tom"])
    answer = agent.recall("which instrument", subjects=["tom"])
    assert answer.text.endswith(
        "REQUIREMENTS: none for tom, user. Others have some (priya 1): constraints returns them."
    )


def test_a_requirement_that_matches_takes_a_place_in_the_ranking_and_no_budget(agent: Agent) -> None:
    """It is returned with the requirements, and its subjects are in play."""
    agent.note("Priya may not eat peanuts", klass="allergy", subjects=["priya"])
    for number in range(60):
        agent.note(
            f"no shellfish for p{number}, nor sesame, celery or mustard", subjects=[f"p{number}"], klass="allergy"
        )
    answer = agent.recall("who may eat peanuts", budget_tokens=0)
    assert "Priya may not eat peanuts" in rules(answer)
