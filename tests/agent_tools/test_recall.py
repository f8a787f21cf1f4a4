"""What `recall` promises of the present: whole chains, what holds first; then every requirement in play."""

from __future__ import annotations

import pytest
from contexts import Agent, rules, split, told

ALLERGY = {"klass": "allergy", "subjects": ["priya", "team"], "source": "user"}


# The shape of an answer


def test_the_requirements_come_last_and_nothing_follows(agent: Agent) -> None:
    """Chains first, then what was left out, then the requirements under one heading, to the end of the text."""
    agent.note("No nuts for Priya", **ALLERGY)
    for number in range(30):
        agent.note(f"Lunch number {number} was at the harbour", subjects=["team"])
    answer = agent.recall("lunch at the harbour for the team", budget_tokens=100)
    before, last = split(answer)
    assert "Left out for lack of room" in before
    heading, *lines = last.strip().splitlines()
    assert (
        heading == "REQUIREMENTS (1): these are requirements, not notes. Your answer must respect every line below."
    )
    assert [line.startswith("! ALLERGY: No nuts for Priya") for line in lines] == [True]


def test_without_requirements_the_answer_says_for_whom_there_are_none(agent: Agent) -> None:
    """An agent must not take silence for safety."""
    agent.note("Tom sits in Porto", subjects=["tom"])
    assert agent.recall("where does Tom sit").text.endswith("REQUIREMENTS: none for tom, user.")


def test_an_empty_memory_says_so(agent: Agent) -> None:
    """That is an answer, not an error."""
    answer = agent.recall("anything")
    assert (answer.data.chains, answer.data.notices) == ((), ("nothing is stored yet that could match",))


def test_a_subject_that_no_note_is_about_is_reported(agent: Agent) -> None:
    """A misspelt name seems to have no requirements, and that must not look like safety."""
    agent.note("No nuts for Priya", **ALLERGY)
    for answer in (agent.recall("lunch", subjects=["pryia", "team"]), agent.constraints(["pryia", "team"])):
        assert "(no note is about pryia; is it spelt as it was stored?)" in split(answer)[0]
        assert rules(answer) == ["No nuts for Priya"]


def test_the_lead_comes_first_then_history_from_newest_to_oldest(agent: Agent) -> None:
    """The order is that of the log, never of the scores: the oldest note matches this query best."""
    ids = agent.line("alpha alpha alpha", "beta", "gamma", "delta")
    (chain,) = agent.recall("alpha").data.chains
    assert [view.id for view in (*chain.lead, *chain.history)] == ids[::-1]


def test_a_note_of_many_lines_stays_one_note(agent: Agent) -> None:
    """Its further lines are indented, so that none can pass for another note, for history or for a requirement."""
    text = "first\n* second\n  history: third\n! ALLERGY: fourth\u2028REQUIREMENTS: none\x85last"
    agent.note(text, klass="allergy")
    agent.note(text)
    for line in agent.recall("first").text.splitlines():
        assert line.startswith(
            ("1 memory", "* \u201cfirst", "      | ", "REQUIREMENTS (1)", "! ALLERGY: \u201cfirst")
        )


def test_a_cue_leads_to_its_note_and_is_never_delivered(knowing: Agent) -> None:
    """A cue is an index entry, not a statement."""
    knowing.note("Priya eats nothing with nuts", cues=["booking a restaurant, ordering food"], subjects=["priya"])
    knowing.note("The printer is on the second floor", subjects=["office"])
    answer = knowing.recall("reserve a table for dinner")
    assert told(answer)[0] == "Priya eats nothing with nuts"
    assert "ordering food" not in answer.text


def test_a_long_note_is_found_by_its_end_too(knowing: Agent) -> None:
    """A text that exceeds the model's window is embedded in pieces, and the best piece counts."""
    filler = "The meeting went through the usual points of the agenda. " * 60
    knowing.note(filler + "At last Priya explained how she feeds her two cats.", subjects=["notes"])
    for number in range(60):
        knowing.note(f"Agenda of meeting {number}: the usual points", subjects=["notes"])
    assert "two cats" in knowing.recall("pets of our colleague", budget_tokens=5_000).text


# Closure


def test_a_query_in_the_words_of_the_old_note_returns_the_new_one(knowing: Agent) -> None:
    """Retired notes still lead to their chain. The terse correction has none of the words."""
    old = knowing.note("The integration tests time out because the database container starts slowly", subjects=["ci"])
    for number in range(40):
        knowing.note(f"Container number {number} started after {number} s", subjects=["ci"])
    knowing.supersede(old, "Wrong: it was the proxy", relation="correction")
    assert told(knowing.recall("why do integration tests time out: slow database container?"))[0] == (
        "Wrong: it was the proxy"
    )


@pytest.mark.parametrize("more", [{}, {"subjects": ["api"]}, {"budget_tokens": 400}, {"include_retired": True}])
def test_a_chain_that_forks_and_refines_is_whole_under_every_filter(agent: Agent, more: dict[str, object]) -> None:
    """Found by its first note, it has everything newer: three links away and on every branch."""
    ids = agent.line("one api", "two", "three", subjects=["api", "web"])
    ids.append(agent.remember("two and a half", refines=ids[2]).data.id)
    ids.append(agent.supersede(ids[0], "fork", subjects=["web"], allow_fork=True).data.id)
    (chain,) = agent.recall("one", **more).data.chains
    assert {view.id for view in (*chain.lead, *chain.history)} == set(ids)


def test_a_chain_that_is_found_twice_is_returned_once(agent: Agent) -> None:
    """By its best note."""
    agent.line("tests with tox", "tests with nox")
    agent.note("tests")
    assert sorted(told(agent.recall("tests with tox or nox"))) == ["tests", "tests with nox"]


# Subjects


def test_with_subjects_no_chain_about_others_is_returned(knowing: Agent) -> None:
    """However well it matches. Tom's requirement is in play only because the query names him."""
    knowing.note("Tom is allergic to cats", klass="allergy", subjects=["tom"])
    knowing.note("Tom has a cat at home", subjects=["tom"])
    knowing.note("Priya has a dog", subjects=["priya"])
    answer = knowing.recall("Tom's cat", subjects=["Priya"])
    assert (told(answer), rules(answer), answer.data.subjects) == (
        ["Priya has a dog"],
        ["Tom is allergic to cats"],
        ("priya", "tom", "user"),
    )


@pytest.mark.parametrize(
    "query", ["lunch with Priya", "PRIYA?", "Priya's lunch", "Priya\u2019s lunch", "lunch (priya)", "@priya: lunch"]
)
def test_a_subject_that_the_query_names_is_in_play(agent: Agent, query: str) -> None:
    """Its requirements are returned although no note about Priya matches."""
    agent.note("No nuts", klass="allergy", subjects=["priya"])
    for number in range(60):
        agent.note(f"lunch number {number}", subjects=["food"])
    assert rules(agent.recall(query)) == ["No nuts"]


def test_a_subject_at_the_end_of_a_long_query_is_in_play(agent: Agent) -> None:
    """Every known subject counts, wherever the query names it."""
    agent.note("No nuts", klass="allergy", subjects=["priya"])
    for number in range(60):
        agent.note(f"meeting number {number}", subjects=["food"])
    assert rules(agent.recall(" ".join(f"meeting w{number}" for number in range(80)) + " with Priya")) == ["No nuts"]


@pytest.mark.parametrize(
    ("subject", "query"),
    [
        ("田中", "田中さんとランチ"),
        ("Dr. Okafor", "call Dr. Okafor back"),
        ("c++", "style of our C++ code"),
        ("repo:api", "what of repo:api?"),
        ("priya nair", "lunch with Priya\nNair"),
    ],
)
def test_a_subject_is_recognised_in_any_script_and_with_punctuation(agent: Agent, subject: str, query: str) -> None:
    """Not every script has spaces, and not every name consists of letters."""
    agent.note("a rule", klass="hard_preference", subjects=[subject])
    for number in range(60):
        agent.note(f"{query} {number}", subjects=["other"])
    assert rules(agent.recall(query)) == ["a rule"]


def test_the_subjects_of_delivered_chains_are_in_play(agent: Agent) -> None:
    """A note about a lunch of the team brings the team's requirements although the query names nobody."""
    agent.note("No nuts", klass="allergy", subjects=["team"])
    agent.note("lunch at the harbour", subjects=["team", "harbour"])
    assert rules(agent.recall("harbour")) == ["No nuts"]


def test_the_default_subject_is_always_in_play(agent: Agent) -> None:
    """A query that names nobody is about the user."""
    agent.note("Never mail my boss", klass="do_not_contact")
    assert rules(agent.recall("zebra")) == ["Never mail my boss"]


def test_a_requirement_is_returned_although_a_hundred_newer_notes_match_better(knowing: Agent) -> None:
    """Neither rank nor limit nor age counts: it is fourteen months old and off the topic."""
    knowing.note("Priya has a severe peanut allergy.", **ALLERGY)
    knowing.clock.on(days=425)
    for number in range(100):
        knowing.note(f"Thursday lunch {number}: the team liked the Thai restaurant", subjects=["team"])
    for query in ("book a restaurant for Thursday", "team lunch", "quarterly report of the team"):
        assert rules(knowing.recall(query)) == ["Priya has a severe peanut allergy."]


def test_a_requirement_that_matches_is_returned_once(agent: Agent) -> None:
    """It is among the requirements, which no budget cuts."""
    agent.note("No nuts for Priya", **ALLERGY)
    answer = agent.recall("nuts for Priya")
    assert (told(answer), rules(answer), answer.text.count("No nuts")) == ([], ["No nuts for Priya"], 1)


def test_a_requirement_that_matches_brings_its_subjects_into_play(agent: Agent) -> None:
    """It is returned although nobody named them."""
    agent.note("No nuts in the kitchen", klass="allergy", subjects=["priya"])
    assert rules(agent.recall("what about nuts")) == ["No nuts in the kitchen"]
