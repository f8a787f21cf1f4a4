"""What `recall` promises of the present: whole chains, what holds first, within the budget; then every rule."""

from __future__ import annotations

from datetime import timedelta

import pytest
from contexts import Agent, rules, split, told

from stilltrue.retrieval.budget import estimate_tokens
from stilltrue.retrieval.ranking import Policy
from tools.support.retrieval import counts_of, enter, search

ALLERGY = {"klass": "allergy", "subjects": ["priya", "team"], "source": "user"}


# The shape of an answer


def test_the_requirements_stand_last_and_nothing_follows(agent: Agent) -> None:
    """Chains first, then what was left out, then the rules under one heading, to the end of the text."""
    agent.note("No nuts for Priya", **ALLERGY)
    for number in range(30):
        agent.note(f"Lunch number {number} was at the harbour", subjects=["team"])
    answer = agent.recall("lunch at the harbour for the team", budget_tokens=100)
    before, last = split(answer)
    assert "Left out for lack of room" in before
    heading, *lines = last.strip().splitlines()
    assert heading == "REQUIREMENTS (1): rules, not notes. Your answer must respect every line below."
    assert [line.startswith("! ALLERGY: No nuts for Priya") for line in lines] == [True]


def test_without_requirements_the_answer_says_for_whom_there_are_none(agent: Agent) -> None:
    """An agent must not take silence for safety."""
    agent.note("Tom sits in Porto", subjects=["tom"])
    assert agent.recall("where does Tom sit").text.endswith("REQUIREMENTS: none for tom, user.")


def test_an_empty_memory_says_so(agent: Agent) -> None:
    """Nothing recalled is an answer, not an error."""
    answer = agent.recall("anything")
    assert (answer.data.chains, answer.data.notices) == ((), ("nothing is stored yet that could match",))


def test_a_subject_that_no_note_is_about_is_named(agent: Agent) -> None:
    """A name that is spelt otherwise has no rules, and that must not look like safety."""
    agent.note("No nuts for Priya", **ALLERGY)
    for answer in (agent.recall("lunch", subjects=["pryia", "team"]), agent.constraints(["pryia", "team"])):
        assert "(no note is about pryia; is it spelt as it was stored?)" in split(answer)[0]
        assert rules(answer) == ["No nuts for Priya"]


def test_the_lead_stands_first_then_history_from_newest_to_oldest(agent: Agent) -> None:
    """By the order in which it happened, never by the score: the oldest fits this query best."""
    ids = agent.line("alpha alpha alpha", "beta", "gamma", "delta")
    (chain,) = agent.recall("alpha").data.chains
    assert [view.id for view in (*chain.lead, *chain.history)] == ids[::-1]


def test_a_note_of_many_lines_is_one_note(agent: Agent) -> None:
    """Its further lines are pushed in, so that none can pass for another note, for history or for a rule."""
    text = "first\n* second\n  history: third\n! ALLERGY: fourth\u2028REQUIREMENTS: none\x85last"
    agent.note(text, klass="allergy")
    agent.note(text)
    for line in agent.recall("first").text.splitlines():
        assert line.startswith(("1 memory", "* first", "      ", "REQUIREMENTS (1)", "! ALLERGY: first"))


def test_a_cue_leads_to_its_note_and_is_never_delivered(knowing: Agent) -> None:
    """It is a way in, not a statement."""
    knowing.note("Priya eats nothing with nuts", cues=["booking a restaurant, ordering food"], subjects=["priya"])
    knowing.note("The printer is on the second floor", subjects=["office"])
    answer = knowing.recall("reserve a table for dinner")
    assert told(answer)[0] == "Priya eats nothing with nuts"
    assert "ordering food" not in answer.text


def test_the_end_of_a_long_note_is_found_as_well_as_its_beginning(knowing: Agent) -> None:
    """A text beyond the model's window is embedded in pieces, and its best piece counts."""
    filler = "The meeting went through the usual points of the agenda. " * 60
    knowing.note(filler + "At last Priya explained how she feeds her two cats.", subjects=["notes"])
    for number in range(60):
        knowing.note(f"Agenda of meeting {number}: the usual points", subjects=["notes"])
    assert "two cats" in knowing.recall("pets of our colleague", budget_tokens=5_000).text


# Closure


def test_a_query_in_the_words_of_the_old_note_brings_the_new_one(knowing: Agent) -> None:
    """Retired notes stay ways into their chain: the terse correction has none of the words."""
    old = knowing.note("The integration tests time out because the database container starts slowly", subjects=["ci"])
    for number in range(40):
        knowing.note(f"Container number {number} started after {number} s", subjects=["ci"])
    knowing.supersede(old, "Wrong: it was the proxy", relation="correction")
    assert told(knowing.recall("why do integration tests time out: slow database container?"))[0] == (
        "Wrong: it was the proxy"
    )


@pytest.mark.parametrize("more", [{}, {"subjects": ["api"]}, {"budget_tokens": 400}, {"include_retired": True}])
def test_a_chain_that_forks_and_refines_is_whole_under_every_filter(agent: Agent, more: dict[str, object]) -> None:
    """Entered by its first note, everything newer is there, three links away and on every branch."""
    ids = agent.line("one api", "two", "three", subjects=["api", "web"])
    ids.append(agent.remember("two and a half", refines=ids[2]).data.id)
    ids.append(agent.supersede(ids[0], "fork", subjects=["web"], allow_fork=True).data.id)
    (chain,) = agent.recall("one", **more).data.chains
    assert {view.id for view in (*chain.lead, *chain.history)} == set(ids)


def test_two_entries_into_one_chain_are_one_chain(agent: Agent) -> None:
    """At the score of the better one."""
    agent.line("tests with tox", "tests with nox")
    agent.note("tests")
    assert sorted(told(agent.recall("tests with tox or nox"))) == ["tests", "tests with nox"]


# Whom it is about


def test_with_subjects_no_chain_about_others_is_told(knowing: Agent) -> None:
    """However well it fits, nor its rules."""
    knowing.note("Tom is allergic to cats", klass="allergy", subjects=["tom"])
    knowing.note("Tom has a cat at home", subjects=["tom"])
    knowing.note("Priya has a dog", subjects=["priya"])
    answer = knowing.recall("Tom's cat", subjects=["Priya"])
    assert (told(answer), rules(answer), answer.data.subjects) == (["Priya has a dog"], [], ("priya",))


@pytest.mark.parametrize(
    "query", ["lunch with Priya", "PRIYA?", "Priya's lunch", "Priya\u2019s lunch", "lunch (priya)", "@priya: lunch"]
)
def test_who_is_named_in_the_query_is_in_play(agent: Agent, query: str) -> None:
    """With the rules, though no note about Priya fits."""
    agent.note("No nuts", klass="allergy", subjects=["priya"])
    for number in range(60):
        agent.note(f"lunch number {number}", subjects=["food"])
    assert rules(agent.recall(query)) == ["No nuts"]


def test_who_is_named_at_the_end_of_a_long_query_is_in_play(agent: Agent) -> None:
    """Every known subject that the query names, wherever."""
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
def test_a_subject_is_named_in_any_script_and_with_its_marks(agent: Agent, subject: str, query: str) -> None:
    """Not every script has spaces, and not every name is letters alone."""
    agent.note("a rule", klass="hard_preference", subjects=[subject])
    for number in range(60):
        agent.note(f"{query} {number}", subjects=["other"])
    assert rules(agent.recall(query)) == ["a rule"]


def test_the_rules_of_the_subjects_of_delivered_chains_are_in_play(agent: Agent) -> None:
    """A lunch of the team brings the rules of the team, though the query names nobody."""
    agent.note("No nuts", klass="allergy", subjects=["team"])
    agent.note("lunch at the harbour", subjects=["team", "harbour"])
    assert rules(agent.recall("harbour")) == ["No nuts"]


def test_the_rules_of_the_default_subject_are_always_in_play(agent: Agent) -> None:
    """Who names nobody means the user."""
    agent.note("Never mail my boss", klass="do_not_contact")
    assert rules(agent.recall("zebra")) == ["Never mail my boss"]


def test_a_rule_is_told_though_a_hundred_newer_notes_fit_better(knowing: Agent) -> None:
    """No ranking, no limit, no age: fourteen months old and off the topic."""
    knowing.note("Priya has a severe peanut allergy.", **ALLERGY)
    knowing.clock.on(days=425)
    for number in range(100):
        knowing.note(f"Thursday lunch {number}: the team liked the Thai restaurant", subjects=["team"])
    for query in ("book a restaurant for Thursday", "team lunch", "quarterly report of the team"):
        assert rules(knowing.recall(query)) == ["Priya has a severe peanut allergy."]


def test_a_chain_that_binds_is_told_once(agent: Agent) -> None:
    """With the rules, where no budget applies."""
    agent.note("No nuts for Priya", **ALLERGY)
    answer = agent.recall("nuts for Priya")
    assert (told(answer), rules(answer), answer.text.count("No nuts")) == ([], ["No nuts for Priya"], 1)


def test_a_rule_that_was_found_brings_its_subjects_into_play(agent: Agent) -> None:
    """It is told though nobody named them."""
    agent.note("No nuts in the kitchen", klass="allergy", subjects=["priya"])
    assert rules(agent.recall("what about nuts")) == ["No nuts in the kitchen"]


# The budget


@pytest.mark.parametrize("budget", [0, 1, 40, 200, 1_000_000])
def test_the_budget_holds_and_what_it_leaves_out_is_named(agent: Agent, budget: int) -> None:
    """With its id and size; the rules are outside of it, and their size is reported."""
    agent.note("No nuts for Priya", **ALLERGY)
    ids = {agent.note(f"lunch {number} at the harbour", subjects=["team"]) for number in range(8)}
    answer = agent.recall("lunch harbour", budget_tokens=budget)
    body = [line for line in split(answer)[0].splitlines() if line.startswith(("* ", "  "))]
    assert estimate_tokens("\n".join(body)) <= answer.data.tokens <= budget
    assert {each.id for each in answer.data.chains} | {each.id for each in answer.data.omitted} == ids
    assert (answer.data.requirement_tokens > 0, rules(answer)) == (True, ["No nuts for Priya"])
    assert all(each.tokens > budget - answer.data.tokens for each in answer.data.omitted)


def test_history_is_cut_first_and_counted(agent: Agent) -> None:
    """Oldest first; entered by its head, the rest of the chain may go."""
    agent.line(*(f"old value {number} of the setting" for number in range(30)), "the present one")
    answer = agent.recall("present", budget_tokens=200)
    (chain,) = answer.data.chains
    assert (chain.lead[0].text, chain.hidden + len(chain.history)) == ("the present one", 30)
    assert chain.history[0].text == "old value 29 of the setting"
    assert f"(+{chain.hidden} older of its history not shown)" in answer.text


def test_a_fact_that_changed_many_times_is_still_told(agent: Agent) -> None:
    """Nearly every note of its chain is an entry; the present value fits into the default budget all the same."""
    agent.line(*(f"The api is at version {number} since sprint {number}" for number in range(50)), subjects=["api"])
    assert told(agent.recall("which version is the api at")) == ["The api is at version 49 since sprint 49"]


def test_a_fact_that_changed_many_times_is_told_to_who_asks_in_its_oldest_words(agent: Agent) -> None:
    """The best entry is the first of fifty notes: who believes in it needs the present value most."""
    agent.line("The api is on Jetty", *(f"It is at version {number}" for number in range(49)), subjects=["api"])
    assert told(agent.recall("is the api on Jetty")) == ["It is at version 48"]


def test_the_budget_holds_in_scripts_without_spaces(agent: Agent) -> None:
    """Four characters a token would let two to four times as much through."""
    for number in range(40):
        agent.note(f"田中さんは毎週木曜日に港のレストランで昼食をとります {number}", subjects=["team"])
    answer = agent.recall("昼食 レストラン", budget_tokens=300)
    characters = sum(len(text) for text in told(answer))
    assert (0 < answer.data.tokens <= 300, 0 < characters <= 300) == (True, True)


# How often it was told


def test_retrievals_are_counted_by_session_and_in_all(agent: Agent) -> None:
    """The answer tells how often before this one."""
    agent.note("standup at ten")
    seen = []
    for session in ("s1", "s1", "s2"):
        (chain,) = agent.recall("standup", session=session).data.chains
        seen.append((chain.retrieved_session, chain.retrieved_total))
        agent.clock.on(minutes=5)
    assert seen == [(0, 0), (1, 1), (0, 2)]
    assert "recalled 3 times before, 2 in this session" in agent.recall("standup", session="s1").text


@pytest.mark.parametrize(("pause", "counted"), [(1, 1), (59, 1), (60, 2)])
def test_a_note_that_is_read_again_within_the_floor_counts_once(agent: Agent, pause: int, counted: int) -> None:
    """For each session by itself: what one reads says nothing of another."""
    agent.note("standup at ten")
    agent.recall("standup", session="s1")
    agent.recall("standup", session="s2")
    agent.clock.now += timedelta(seconds=pause)
    agent.recall("standup", session="s1")
    (chain,) = agent.recall("standup", session="s1").data.chains
    assert (chain.retrieved_session, chain.retrieved_total) == (counted, counted + 1)


def test_what_is_left_out_or_off_the_topic_is_not_counted(agent: Agent) -> None:
    """Only delivered heads are."""
    agent.note("standup at ten")
    agent.recall("standup", budget_tokens=0)
    assert agent.recall("standup").data.chains[0].retrieved_total == 0


def test_reading_keeps_what_ages_near(agent: Agent) -> None:
    """Recency counts since the note was last read: of two that fit alike, the one that was read leads."""
    first, second = (agent.note(f"sprint goal {name}", klass="working_context") for name in ("alpha", "beta"))
    agent.clock.on(days=30)
    agent.recall("alpha")
    agent.clock.on(days=1)
    order = [chain.id for chain in agent.recall("sprint goal").data.chains]
    assert order == [first, second]


def test_what_full_text_had_no_room_for_counts_as_much_as_the_last_that_it_had_room_for(agent: Agent) -> None:
    """The words of a whole store can be so common in one subject that every note has most of the best score."""
    for text in ("port port port", "the port", "one port for each web server", "of the of the of the"):
        agent.note(text)
    alone = agent.but(policy=Policy(relevance=1.0, recency=0.0, importance=0.0, lexical_share=1.0, late_share=0.0))

    def scores(candidates: int) -> list[float]:
        context = alone.but(candidates=candidates).context
        hits, _ = search(context, "the port of the", ())
        records = context.store.chains({hit.chain for hit in (*hits.by_vector, *hits.by_text)})
        counts = counts_of(context, records, "")
        return sorted(each.score for each in enter(context, hits, records, counts, "none", None, context.clock()))

    assert scores(3)[:2] == [0.0, 0.0]  # the third of three, and what shares no word that tells anything
    assert scores(4)[0] == 0.0 < scores(4)[1]
