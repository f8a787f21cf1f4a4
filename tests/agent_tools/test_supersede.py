"""What `supersede` promises: the old notes become history, the new one leads, and nothing else changes."""

from __future__ import annotations

import threading

import pytest
from contexts import Agent, Ready, told

from stilltrue.errors import Refused


def refusal(agent: Agent, *args: object, **more: object) -> Refused:
    """The error of a call that must be refused and write nothing."""
    rows = agent.written()
    with pytest.raises(Refused) as refused:
        agent.supersede(*args, **more)  # type: ignore[arg-type]
    assert agent.written() == rows
    assert refused.value.hint
    return refused.value


# What holds


def test_of_three_versions_the_last_holds_and_the_others_are_history(agent: Agent) -> None:
    """A <- B <- C is one chain: the current value first, the rest from newest to oldest."""
    ids = agent.line("port 5432", "port 5433", "port 5434", subjects=["db"])
    assert agent.status(*ids) == "superseded, superseded, current"
    (chain,) = agent.recall("port 5432").data.chains
    assert [view.id for view in (*chain.lead, *chain.history)] == ids[::-1]


def test_ten_versions_of_one_fact_are_one_chain_with_the_current_value_first(knowing: Agent) -> None:
    """However well the old values match the query, they come after the current one, marked as history."""
    ids = knowing.line(*(f"The api server runs version {number}.0" for number in range(1, 11)), subjects=["api"])
    answer = knowing.recall("api server version 3.0")
    assert told(answer) == ["The api server runs version 10.0"]
    lines = answer.text.splitlines()[1:-1]
    assert [line.startswith("  no longer true: ") for line in lines] == [False] + [True] * (len(ids) - 1)


def test_the_answer_names_the_new_note_and_what_it_replaced(agent: Agent) -> None:
    """It says how and why, and cuts no text."""
    old = agent.note("Tests run with tox", subjects=["ci"])
    new = agent.supersede(old, "Tests run with nox", relation="correction", reason="it was never tox")
    (replaced,) = new.data.replaced
    assert (replaced.id, replaced.status) == (old, "superseded")
    assert replaced.mark == f'WRONG, corrected by [{new.data.id}] on 2026-03-02: "it was never tox"'
    assert f"Now holds [{new.data.id}] about ci, as note, from agent." in new.text


@pytest.mark.parametrize(("relation", "said"), [("update", "  no longer true: "), ("correction", "  WRONG: ")])
def test_history_tells_an_update_from_a_correction(agent: Agent, relation: str, said: str) -> None:
    """What an update replaced was true once; what a correction replaced never was."""
    old = agent.note("Tests run with tox")
    agent.supersede(old, "Tests run with nox", relation=relation)
    assert said in agent.recall("tests").text


def test_a_then_b_then_a_again_is_a_new_note(agent: Agent) -> None:
    """It is not taken for a duplicate of the first, which stays history."""
    first, second = agent.line("Office in Ghent", "Office in Bruges")
    third = agent.supersede(second, "Office in Ghent").data
    assert (third.stored, third.id != first) == (True, True)
    assert agent.status(first, second, third.id) == "superseded, superseded, current"


def test_one_note_replaces_several_and_is_found_by_any_of_them(agent: Agent) -> None:
    """A merge leads, whichever side is found."""
    ids = [agent.note("Ghent office open", subjects=["office"]), agent.note("Bruges lease", subjects=["office"])]
    agent.supersede(ids, "Everything moved to Antwerp")
    assert agent.status(*ids) == "superseded, superseded"
    for query in ("Ghent", "Bruges", "Antwerp"):
        assert told(agent.recall(query)) == ["Everything moved to Antwerp"]


def test_revoking_a_merge_unsettles_all_the_notes_that_it_replaced(agent: Agent) -> None:
    """None of them is silently current again, and none is lost."""
    ids = [agent.note("Ghent office"), agent.note("Bruges office")]
    agent.revoke(agent.supersede(ids, "Antwerp office").data.id)
    assert agent.status(*ids) == "unsettled, unsettled"
    assert told(agent.recall("office")) == ["Ghent office | Bruges office"]


def test_a_successor_that_expires_leaves_what_it_replaced_unsettled(agent: Agent) -> None:
    """The prior value is returned as not confirmed, never as current."""
    old = agent.note("Standup at ten")
    agent.supersede(old, "Standup at nine", valid_until="2026-03-10")
    agent.clock.on(days=30)
    assert agent.status(old) == "unsettled"
    assert "* NOT CONFIRMED: Standup at ten" in agent.recall("standup").text


def test_a_successor_that_is_not_valid_yet_leaves_the_old_note_current(agent: Agent) -> None:
    """The answer must not say that the new note holds."""
    old = agent.note("Office in Ghent")
    new = agent.supersede(old, "Office in Bruges", valid_from="2026-06-01")
    assert agent.status(old, new.data.id) == "current, pending"
    assert "Now holds" not in new.text
    assert f"Replaces [{old}] Office in Ghent - still current" in new.text
    assert "(valid from 2026-06-01T00:00:00+00:00.)" in new.text
    agent.clock.on(days=120)
    assert told(agent.recall("office")) == ["Office in Bruges"]


def test_only_the_named_notes_are_retired(agent: Agent) -> None:
    """A note that mentions the old one, or says the same, keeps its status."""
    other = agent.note("See the note on tox: tests run with tox", subjects=["ci"])
    twin = agent.note("Tests run with tox", subjects=["ci"], klass="fact")
    old = agent.note("Tests run with tox", subjects=["ci"])
    agent.supersede(old, "Tests run with nox")
    assert agent.status(other, twin, old) == "current, current, superseded"


def test_notes_that_still_say_what_was_replaced_are_listed(knowing: Agent) -> None:
    """Near repetitions would still be returned as true, so the answer has the call that replaces them."""
    echo = knowing.note("Tests of the api run with tox", subjects=["ci"])
    knowing.note("The cafeteria closes at three", subjects=["ci"])
    old = knowing.note("Tests run with tox", subjects=["ci"])
    new = knowing.supersede(old, "The suite is started by nox")
    assert [near.note.id for near in new.data.still_standing] == [echo]
    assert f'supersede(note_ids=["{echo}"], text=...)' in new.text


def test_near_repetitions_are_listed_even_if_the_old_note_has_no_vector(knowing: Agent) -> None:
    """It was stored without a model, so its text is embedded now."""
    without = Agent(knowing.store, embedding=Ready(None, "still missing"), clock=knowing.clock)
    old = without.note("Tests run with tox", subjects=["ci"])
    echo = knowing.note("Tests are run with tox", subjects=["ci"])
    assert [each.note.id for each in knowing.supersede(old, "nox it is").data.still_standing] == [echo]


# What it inherits


def test_a_successor_inherits_class_subjects_importance_and_attribute(agent: Agent) -> None:
    """What is not given stays as it was, except the source: the new note is from whoever stores it."""
    old = agent.note("9 pm", klass="fact", subjects=["tom"], attribute="curfew", importance=0.9, source="user")
    new = agent.chain_of(agent.supersede(old, "10 pm").data.id).members
    note = [*new.values()][-1].note
    assert (note.klass, note.subjects, note.importance, note.attribute) == ("fact", ("tom",), 0.9, "curfew")
    assert note.source == "agent"


def test_a_merge_inherits_all_subjects_and_the_class_that_binds(agent: Agent) -> None:
    """A plain note merged with a requirement is a requirement, for all subjects of both."""
    plain = agent.note("Tom dislikes nuts", subjects=["tom"])
    rule = agent.note("No nuts for Priya", klass="allergy", subjects=["priya"])
    new = agent.supersede([plain, rule], "No nuts for Priya, and Tom dislikes them").data.note
    assert (new.klass, set(new.subjects)) == ("allergy", {"tom", "priya"})


def test_a_successor_about_fewer_subjects_is_still_found_under_those_of_the_old_note(agent: Agent) -> None:
    """A chain is about the subjects of all its notes."""
    old = agent.note("The lease of Ghent ends in May", subjects=["office", "ghent"])
    agent.supersede(old, "It ends in June", subjects=["office"])
    assert told(agent.recall("lease", subjects=["ghent"])) == ["It ends in June"]


# What is refused


def test_a_note_that_is_not_a_head_is_refused_and_the_heads_are_named(agent: Agent) -> None:
    """Superseding history would create a branch that nobody intended."""
    old, now = agent.line("Standup at ten", "Standup at nine")
    said = refusal(agent, old, "Standup at eight")
    assert (said.code, f'[{now}] "Standup at nine"' in said.message) == ("not_head", True)


def test_a_deliberate_fork_is_possible_and_reported_as_a_conflict(agent: Agent) -> None:
    """Both heads are delivered."""
    old, now = agent.line("Standup at ten", "Standup at nine")
    forked = agent.supersede(old, "Standup at eight", allow_fork=True)
    assert f"CONTESTED: [{now}]" in forked.text
    (chain,) = agent.recall("standup").data.chains
    assert (chain.contested, [each.text for each in chain.lead]) == (True, ["Standup at nine", "Standup at eight"])


def test_only_one_of_several_concurrent_successors_is_stored(agent: Agent) -> None:
    """The check and the append are one step, so the others are refused."""
    old = agent.note("Standup at ten")
    outcomes: list[str] = []

    def attempt(hour: int) -> None:
        try:
            agent.supersede(old, f"Standup at {hour}")
            outcomes.append("stored")
        except Refused as refused:
            outcomes.append(refused.code)

    threads = [threading.Thread(target=attempt, args=(hour,)) for hour in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["not_head"] * 5 + ["stored"]


def test_notes_about_somebody_else_are_not_replaced(agent: Agent) -> None:
    """Each of the old notes needs a subject in common with the new one."""
    tom, priya = agent.note("Tom sits in Porto", subjects=["tom"]), agent.note("Ghent", subjects=["priya"])
    assert refusal(agent, tom, "Lisbon", subjects=["priya"]).code == "disjoint_subjects"
    said = refusal(agent, [tom, priya], "Lisbon", subjects=["priya"])
    assert (said.code, tom in said.message) == ("disjoint_subjects", True)


@pytest.mark.parametrize("cut", [1, 4, 8])
def test_an_abbreviated_id_is_refused_with_the_ids_that_begin_like_it(agent: Agent, cut: int) -> None:
    """A write never goes to the nearest match."""
    ids = [agent.remember(f"fact {number}").data.id for number in range(3)]
    said = refusal(agent, ids[0][:cut], "another fact")
    assert said.code == "ambiguous_id"
    assert all(f"[{each}]" in said.message for each in ids)


def test_an_id_that_lacks_one_character_is_refused_even_if_it_is_unambiguous(agent: Agent) -> None:
    """The message has the whole id, to be sent deliberately."""
    note_id = agent.note("Standup at ten")
    said = refusal(agent, note_id[:-1], "Standup at nine")
    assert (said.code, f"[{note_id}]" in said.message) == ("short_id", True)


@pytest.mark.parametrize("spoil", [str.upper, lambda each: each + "0", lambda each: each[:-1] + "z", str.__add__])
def test_an_unknown_id_is_refused_and_nothing_is_guessed(agent: Agent, spoil: object) -> None:
    """Neither case nor length nor a single character is corrected."""
    known = agent.note("Standup at ten")
    unknown = spoil(known, " x") if spoil is str.__add__ else spoil(known)  # type: ignore[operator]
    said = refusal(agent, unknown, "Standup at nine")
    assert (said.code, f"[{known}]" in said.message) == ("unknown_note", True)


def test_one_unknown_id_among_known_ones_refuses_the_whole_call(agent: Agent) -> None:
    """Half a merge would leave the rest current."""
    known = agent.note("Standup at ten")
    assert refusal(agent, [known, "0000000000000000"], "Standup at nine").code == "unknown_note"
    assert refusal(agent, [known, " "], "Standup at nine").code == "bad_note_ids"
    assert agent.status(known) == "current"


# Duplicates


def test_the_same_request_or_the_same_replacement_twice_is_one_note(agent: Agent) -> None:
    """A retry is answered with what it stored, even without a request id."""
    old = agent.note("Standup at ten")
    first = agent.supersede(old, "Standup at nine", request_id="r").data.id
    rows = agent.written()
    for more in ({"request_id": "r"}, {}):
        again = agent.supersede(old, "Standup at nine", **more)
        assert (again.data.id, again.data.stored, agent.written()) == (first, False, rows)
        assert "already stored" in again.text


def test_a_request_id_is_not_shared_with_another_call(agent: Agent) -> None:
    """Storing a text and replacing a note by it are two requests."""
    old = agent.note("Standup at ten")
    agent.remember("Standup at nine", request_id="r")
    assert refusal(agent, old, "Standup at nine", request_id="r").code == "request_id_reused"


def test_what_goes_wrong_after_the_append_does_not_make_the_answer_an_error(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note is stored by then, and a client that gets an error would repeat the call."""
    old = agent.note("Standup at ten")

    def broken(*_: object) -> None:
        raise RuntimeError("the index is gone")

    monkeypatch.setattr(agent.store, "by_vector", broken)
    answer = agent.supersede(old, "Standup at nine")
    assert "the note is stored, but near repetitions could not be looked for: the index is gone" in answer.text
