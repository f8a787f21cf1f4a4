"""What `revoke` and `reinstate` promise: a revocation has a reason, and can be undone."""

from __future__ import annotations

import pytest
from contexts import Agent, Ready, rules, told

from stilltrue.errors import Refused
from stilltrue.event import Erased
from tools.support.lookup import entry, find


def refusal(agent: Agent, verb: str, note_id: str, *args: str) -> Refused:
    """The error of a call that must be refused and write nothing."""
    rows = agent.written()
    with pytest.raises(Refused) as refused:
        getattr(agent, verb)(note_id, *args)
    assert agent.written() == rows
    assert refused.value.hint
    return refused.value


def erase(agent: Agent, note_id: str) -> None:
    """Appends the tombstone of a note, as erasure does."""
    with agent.store.writing():
        found = find(agent.context, [note_id])
        stamp = agent.context.stamp(found.latest)
        agent.store.append([entry(Erased(stamp.id, stamp.at, note_id), found)])


# Revoke


def test_revoking_the_head_unsettles_what_it_replaced(agent: Agent) -> None:
    """A <- B, B revoked: A is the prior value, not confirmed. It is never silently current again."""
    old, new = agent.line("Office in Ghent", "Office in Bruges")
    answer = agent.revoke(new, "that was a rumour")
    assert agent.status(old, new) == "unsettled, revoked"
    assert [view.id for view in answer.data.chain.lead] == [old]
    assert "* NOT CONFIRMED: Office in Ghent" in answer.text
    assert '"that was a rumour"' in answer.text


def test_revoking_the_middle_of_a_chain_changes_only_its_own_mark(agent: Agent) -> None:
    """A <- B <- C, B revoked: C is current, and A is still superseded, by C."""
    ids = agent.line("Office in Ghent", "Office in Bruges", "Office in Antwerp")
    before = told(agent.recall("office"))
    agent.revoke(ids[1])
    assert (agent.status(*ids), told(agent.recall("office"))) == ("superseded, revoked, current", before)


def test_a_revoked_note_is_reported_in_one_line_with_its_reason(agent: Agent) -> None:
    """The line keeps it from being learned again."""
    note_id = agent.note("Tests fail because of the proxy", subjects=["ci"])
    agent.revoke(note_id, "the proxy was never used")
    lines = agent.recall("why do the tests fail").text.splitlines()
    (line,) = [line for line in lines if note_id in line]
    assert line.endswith('- "the proxy was never used"')


def test_a_note_is_found_by_the_reason_of_its_revocation(knowing: Agent) -> None:
    """Later questions use the words of the reason."""
    note_id = knowing.note("The nightly build is red", subjects=["ci"])
    knowing.note("Lunch is at noon", subjects=["ci"])
    knowing.revoke(note_id, "a full disk on the runner was to blame")
    assert knowing.recall("did the runner run out of disk space").data.chains[0].lead[0].id == note_id


def test_the_answer_says_whether_a_requirement_still_binds(agent: Agent) -> None:
    """Revoking the successor of a requirement leaves the requirement; revoking that too leaves none."""
    rule, after = agent.line("No nuts for Priya", "No peanuts for Priya", klass="allergy", subjects=["priya"])
    assert "a requirement of this chain binds." in agent.revoke(after).data.notices
    assert rules(agent.recall("lunch", subjects=["priya"])) == ["No nuts for Priya"]
    assert "no requirement of this chain binds any more." in agent.revoke(rule).data.notices
    assert rules(agent.constraints(["priya"])) == []


def test_a_requirement_whose_successor_was_revoked_binds_and_is_marked_as_not_confirmed(agent: Agent) -> None:
    """It fails closed, and shows the revocation."""
    _, after = agent.line("No nuts for Priya", "No peanuts for Priya", klass="allergy", subjects=["priya"])
    agent.revoke(after, "never tested")
    text = agent.constraints(["priya"]).text
    assert "NOT CONFIRMED, its successor" in text
    assert 'retracted on 2026-03-02: "never tested"' in text


def test_a_refinement_outlives_its_base_and_shows_what_became_of_it(agent: Agent) -> None:
    """It keeps its own status, and its line shows the revocation of its base."""
    base = agent.note("The team meets on Mondays")
    added = agent.remember("The Monday meeting is in room 4", refines=base).data.id
    agent.revoke(base, "Tuesdays, in fact")
    assert agent.status(base, added) == "revoked, current"
    mark = f'adds to [{base}], which was retracted on 2026-03-02: "Tuesdays, in fact"'
    assert mark in agent.recall("room 4").text


def test_a_note_cannot_be_revoked_twice(agent: Agent) -> None:
    """The error says when it was revoked and why."""
    note_id = agent.note("Office in Ghent")
    agent.revoke(note_id, "moved")
    said = refusal(agent, "revoke", note_id, "moved again")
    assert (said.code, '"moved"' in said.message, "reinstate" in said.hint) == ("already_revoked", True, True)


@pytest.mark.parametrize("reason", ["", "  \n", "\x00", "x" * 2_001, "\ud800"])
def test_a_revocation_needs_a_reason(agent: Agent, reason: str) -> None:
    """Without one, nobody could judge it later."""
    assert refusal(agent, "revoke", agent.note("Office in Ghent"), reason).code == "bad_reason"


def test_a_note_that_is_superseded_or_pending_or_expired_can_be_revoked(agent: Agent) -> None:
    """It was never true, or never will be, which matters for history too."""
    old, _ = agent.line("Office in Ghent", "Office in Bruges")
    coming = agent.note("Office in Antwerp", valid_from="2027-01-01")
    over = agent.note("Office in Aalst", valid_until="2026-01-01")
    for note_id in (old, coming, over):
        assert agent.revoke(note_id).data.status == "revoked"


def test_a_revoked_note_can_be_superseded(agent: Agent) -> None:
    """The successor leads, and the revoked note is its history."""
    note_id = agent.note("Office in Ghent")
    agent.revoke(note_id, "a rumour")
    agent.supersede(note_id, "Office in Bruges", relation="correction")
    answer = agent.recall("Ghent office")
    assert told(answer) == ["Office in Bruges"]
    assert "RETRACTED" not in answer.text.splitlines()[1]


def test_without_a_model_the_answer_says_that_the_reason_is_found_by_its_words_only() -> None:
    """Every affected answer says that it is degraded."""
    agent = Agent(embedding=Ready(None, "the weights are missing"))
    answer = agent.revoke(agent.note("Office in Ghent"), "a rumour")
    assert "DEGRADED: the reason is found by its words only, since the weights are missing." in answer.data.notices


# Reinstate


@pytest.mark.parametrize("position", [0, 1, 2])
def test_reinstate_is_the_inverse_of_revoke(agent: Agent, position: int) -> None:
    """At every place in a chain: statuses and answers are as before."""
    ids = agent.line("Office in Ghent", "Office in Bruges", "Office in Antwerp", klass="hard_preference")
    before = agent.status(*ids), agent.constraints().text
    agent.revoke(ids[position])
    answer = agent.reinstate(ids[position], "it was right after all")
    assert (agent.status(*ids), agent.constraints().text) == before
    assert answer.data.status == before[0].split(", ")[position]


def test_a_reinstated_requirement_binds_again(agent: Agent) -> None:
    """The answer says so."""
    rule = agent.note("No nuts for Priya", klass="allergy", subjects=["priya"])
    agent.revoke(rule)
    assert "a requirement of this chain binds." in agent.reinstate(rule).text
    assert rules(agent.constraints(["priya"])) == ["No nuts for Priya"]


def test_reinstating_a_note_beside_its_replacement_is_reported_as_a_conflict(agent: Agent) -> None:
    """A <- B, B revoked, A <- C, B reinstated: B and C are both current."""
    old, first = agent.line("Office in Ghent", "Office in Bruges")
    agent.revoke(first)
    second = agent.supersede(old, "Office in Antwerp").data.id
    answer = agent.reinstate(first)
    assert (answer.data.chain.contested, {view.id for view in answer.data.chain.lead}) == (True, {first, second})
    assert "CONTESTED" in answer.text


def test_a_superseded_note_is_not_reinstated_and_the_error_names_its_successor(agent: Agent) -> None:
    """It also says what to do instead."""
    old, new = agent.line("Office in Ghent", "Office in Bruges")
    said = refusal(agent, "reinstate", old)
    assert said.code == "not_revoked"
    assert f"[{old}] is superseded" in said.message
    assert f"[{new}]: revoke that, or supersede that" in said.hint


@pytest.mark.parametrize(
    ("more", "status", "hint"),
    [
        ({}, "current", "does not need to be reinstated"),
        ({"valid_from": "2027-01-01"}, "pending", "does not need to be reinstated"),
        ({"valid_until": "2026-01-01"}, "expired", "a new valid_until"),
    ],
)
def test_only_a_revoked_note_can_be_reinstated(agent: Agent, more: dict[str, str], status: str, hint: str) -> None:
    """The error says what the status is and what to do."""
    said = refusal(agent, "reinstate", agent.note("Office in Ghent", **more))
    assert (said.code, f"is {status}" in said.message, hint in said.hint) == ("not_revoked", True, True)


def test_an_unsettled_note_is_confirmed_by_repeating_it(agent: Agent) -> None:
    """The call in the hint works."""
    old, new = agent.line("Office in Ghent", "Office in Bruges")
    agent.revoke(new)
    assert "supersede it with a note that repeats it" in refusal(agent, "reinstate", old).hint
    agent.supersede(old, "Office in Ghent")
    assert told(agent.recall("office")) == ["Office in Ghent"]


def test_nothing_can_be_done_to_an_erased_note(agent: Agent) -> None:
    """Its text is gone, so the error must not say that it needs nothing."""
    old, new = agent.line("Office in Ghent", "Office in Bruges")
    erase(agent, new)
    assert agent.status(old, new) == "superseded, erased"
    assert "cannot be restored" in refusal(agent, "reinstate", new).hint
    assert "Nothing can be done to it" in refusal(agent, "revoke", new, "why").hint
    assert refusal(agent, "supersede", new, "Office in Antwerp").code == "illegal_step"


@pytest.mark.parametrize("verb", ["revoke", "reinstate"])
@pytest.mark.parametrize("bad", ["", "  ", "[]", "0000000000000000", "' OR 1=1 --", "\x00", "x" * 300])
def test_an_invalid_or_unknown_id_is_refused(agent: Agent, verb: str, bad: str) -> None:
    """It is never a silent success, and never taken for the nearest match."""
    agent.note("Office in Ghent")
    assert refusal(agent, verb, bad, "a reason").code in {"bad_note_ids", "unknown_note"}
