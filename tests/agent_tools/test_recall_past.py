"""What `recall` promises of the past: what was believed then, marked with what is known today; and what expired."""

from __future__ import annotations

import pytest
from contexts import Agent, Clock, rules, split, told

from stilltrue.event import Erased, Remembered
from stilltrue.note import Link, LinkKind, Note
from store.port import Entry
from tools.support.lookup import entry, find


def day(agent: Agent) -> str:
    """The current moment of the test, as an agent would write it."""
    return agent.clock().isoformat()


# As of


def test_as_of_an_earlier_moment_a_superseded_note_leads(agent: Agent) -> None:
    """What replaced it since is delivered with it."""
    old = agent.note("Office in Ghent")
    then = day(agent)
    agent.clock.on(days=10)
    new = agent.supersede(old, "Office in Bruges").data.id
    answer = agent.recall("office", as_of=then)
    (chain,) = answer.data.chains
    assert ([each.id for each in chain.lead], [each.id for each in chain.since]) == ([old], [new])
    assert f"KNOWN TODAY: no longer true, replaced by [{new}] on 2026-03-12" in chain.lead[0].mark
    assert f"(as of {answer.data.as_of}: what was known then; requirements are today's)" in answer.text


@pytest.mark.parametrize("end", ["corrected", "revoked"])
def test_as_of_an_earlier_moment_what_proved_wrong_is_marked_with_what_is_known_today(agent: Agent, end: str) -> None:
    """In the text and in the data: nothing retracted is returned as true, not even about the past."""
    old = agent.note("It was the proxy")
    then = day(agent)
    agent.clock.on(days=1)
    if end == "corrected":
        agent.supersede(old, "It was the disk", relation="correction", reason="logs")
    else:
        agent.revoke(old, "logs")
    answer = agent.recall("proxy", as_of=then)
    mark = answer.data.chains[0].lead[0].mark
    known = "WRONG, corrected" if end == "corrected" else 'RETRACTED on 2026-03-03, "logs"'
    assert f"KNOWN TODAY: {known}" in mark
    assert "It was the disk" in answer.text or end == "revoked"


def test_as_of_an_earlier_moment_later_notes_are_not_returned(agent: Agent) -> None:
    """The search finds chains as they are today, including those that did not exist then."""
    then = day(agent)
    agent.clock.on(days=1)
    agent.note("Office in Ghent")
    answer = agent.recall("office", as_of=then)
    assert (told(answer), "No matching memories." in answer.text) == ([], True)


@pytest.mark.parametrize(("query", "leads"), [("Ghent", ["Ghent office"]), ("Bruges", ["Bruges office"])])
def test_as_of_before_a_merge_each_side_is_found_by_its_own_words(agent: Agent, query: str, leads: list[str]) -> None:
    """What is one chain today was two then, and neither hides the other."""
    ids = [agent.note("Ghent office", subjects=["office"]), agent.note("Bruges office", subjects=["office"])]
    then = day(agent)
    agent.clock.on(days=1)
    agent.supersede(ids, "Everything moved to Antwerp")
    assert told(agent.recall(query, as_of=then))[:1] == leads
    by_the_merge_alone = agent.but(candidates=1).recall("moved to Antwerp", as_of=then)
    assert sorted(told(by_the_merge_alone)) == ["Bruges office", "Ghent office"]


def test_as_of_a_date_means_the_end_of_that_day(agent: Agent) -> None:
    """What was stored in the afternoon was known on that day."""
    agent.note("Office in Ghent")
    agent.clock.on(days=3)
    assert told(agent.recall("office", as_of="2026-03-02")) == ["Office in Ghent"]
    assert told(agent.recall("office", as_of="2026-03-01")) == []
    assert told(agent.recall("office", as_of="2026-W10-1")) == ["Office in Ghent"]  # that Monday, as a week date


def test_as_of_a_future_moment_is_now_and_the_answer_says_so(agent: Agent) -> None:
    """Nobody knows what will hold, and the agent must not take the answer for a prediction."""
    agent.note("Office in Ghent", valid_until="2026-12-31")
    answer = agent.recall("office", as_of="2099-01-01")
    assert (told(answer), answer.data.as_of) == (["Office in Ghent"], "")
    assert "as_of is not in the past: this is what holds now" in answer.text


def test_as_of_an_earlier_moment_a_revoked_note_is_returned_with_what_became_of_it_since(agent: Agent) -> None:
    """A single line would hide that the note was reinstated or replaced since."""
    back, gone = agent.note("Office in Ghent"), agent.note("Office in Bruges")
    for note_id in (back, gone):
        agent.revoke(note_id, "a rumour")
    agent.clock.on(minutes=1)
    then = day(agent)
    agent.clock.on(days=1)
    agent.reinstate(back)
    agent.supersede(gone, "Office in Antwerp")
    text = agent.recall("office", as_of=then).text
    assert "KNOWN TODAY: current" in text
    assert "since then: Office in Antwerp" in text


def test_as_of_an_earlier_moment_the_requirements_are_todays(agent: Agent) -> None:
    """A requirement binds now, whatever moment is asked about. What it was then is returned as well."""
    old = agent.note("Priya avoids peanuts", klass="allergy", subjects=["priya"])
    then = day(agent)
    agent.clock.on(days=30)
    agent.supersede(old, "Priya avoids all nuts")
    answer = agent.recall("what did Priya avoid", as_of=then)
    assert (told(answer), rules(answer)) == (["Priya avoids peanuts"], ["Priya avoids all nuts"])


# Questions about the past


@pytest.mark.parametrize("query", ["What did Priya originally avoid?", "What did Priya avoid?"])
def test_the_history_of_a_requirement_is_returned_if_the_past_is_asked_about(agent: Agent, query: str) -> None:
    """A question about the present needs only the requirement."""
    agent.line("Priya avoids peanuts", "Priya avoids all nuts", klass="allergy", subjects=["priya"])
    answer = agent.recall(query)
    past = "originally" in query
    assert ("no longer true: Priya avoids peanuts" in split(answer)[0], rules(answer)) == (
        past,
        ["Priya avoids all nuts"],
    )
    assert "Priya avoids peanuts" in agent.recall("Priya", include_retired=True).text


@pytest.mark.parametrize(
    "query", ["where was the office in March 2026?", "where did the office use to be last month"]
)
def test_a_question_about_the_past_returns_what_expired(agent: Agent, query: str) -> None:
    """An expired note can answer it, and the answer says that history is shown."""
    agent.note("Office in Ghent", valid_until="2026-04-01")
    agent.clock.on(days=50)
    answer = agent.recall(query)
    assert told(answer) == ["Office in Ghent"]
    assert "* EXPIRED on 2026-04-02: Office in Ghent" in answer.text
    assert "asks about the past: history is shown and age does not count" in answer.text


def test_notes_from_the_time_that_is_asked_about_come_first(knowing: Agent) -> None:
    """Before better matches of the words."""
    knowing.note("Retro: the release was late")
    knowing.clock.on(days=60)
    knowing.note("The release retro of this quarter: the release was late again, retro")
    assert told(knowing.recall("what did the release retro say in March?"))[0] == "Retro: the release was late"


def test_originally_inverts_recency(agent: Agent) -> None:
    """Of two equal matches, the older one leads."""
    for name in ("alpha", "beta"):
        agent.note(f"sprint goal {name}", klass="working_context")
        agent.clock.on(days=20)
    assert [told(agent.recall(query))[0][-5:].strip() for query in ("sprint goal", "originally sprint goal")] == [
        "beta",
        "alpha",
    ]


# Expired, revoked, erased


def test_expired_notes_are_counted_unless_they_are_asked_for(agent: Agent) -> None:
    """Nothing is dropped silently."""
    agent.note("Office in Ghent", valid_until="2026-03-10")
    agent.clock.on(days=30)
    answer = agent.recall("office")
    assert told(answer) == []
    assert "1 matching memories are expired or erased; include_retired shows them" in answer.text
    assert told(agent.recall("office", include_retired=True)) == ["Office in Ghent"]


def test_a_revoked_note_is_reported_in_one_line_and_with_its_history_only_on_request(agent: Agent) -> None:
    """The line keeps it from being learned again. With include_retired it is marked, before its history."""
    ids = agent.line("It was the proxy", "It was the proxy of the office", subjects=["ci"])
    agent.revoke(ids[1], "no proxy")
    agent.revoke(ids[0], "none at all")
    lines = [line for line in agent.recall("proxy").text.splitlines() if line.startswith(("* ", "  "))]
    assert [line.partition(" - ")[2] for line in lines] == ['"none at all"', '"no proxy"']
    assert all(" RETRACTED on 2026-03-02: It was the proxy" in line for line in lines)
    assert "* RETRACTED on 2026-03-02: It was the proxy" in agent.recall("proxy", include_retired=True).text


def test_an_erased_successor_restores_neither_its_text_nor_the_old_value(agent: Agent) -> None:
    """A tombstone is returned in their place."""
    old, new = agent.line("PIN is 1234", "PIN is 9876")
    with agent.store.writing():
        found = find(agent.context, [new])
        stamp = agent.context.stamp(found.latest)
        agent.store.append([entry(Erased(stamp.id, stamp.at, new), found)])
    assert agent.status(old, new) == "superseded, erased"
    assert told(agent.recall("PIN")) == []
    assert "PIN is 1234" not in [view.text for view in agent.recall("PIN", include_retired=True).data.chains[0].lead]


def test_a_note_that_is_not_valid_yet_is_marked(agent: Agent) -> None:
    """It is never returned as true."""
    agent.note("Office in Bruges", valid_from="2026-06-01")
    assert "* NOT TRUE BEFORE 2026-06-01: Office in Bruges" in agent.recall("office").text


def test_a_damaged_chain_is_returned_whole_and_flagged() -> None:
    """A circle, which only a damaged log can have: all members, no head, a warning. Its requirements still bind."""
    agent = Agent(clock=Clock())
    notes = [
        Note(note_id, f"rule {note_id}", ("tom",), "allergy", "user", agent.clock())
        for note_id in ("0000000000000001", "0000000000000002")
    ]
    links = [(Link(other.id, LinkKind.UPDATE),) for other in notes[::-1]]
    with agent.store.writing():
        for note, to in zip(notes, links, strict=True):
            event = Remembered(note, to)
            agent.store.append([Entry(event, notes[0].id, subjects=("tom",), klasses=("allergy",))])
    assert "DAMAGED" in agent.constraints(["tom"]).text
    assert len(rules(agent.recall("anything", subjects=["tom"]))) == 2
