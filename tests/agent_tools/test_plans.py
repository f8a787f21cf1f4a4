"""A writing tool plans first and commits then: what lies between can make a plan stale, never wrong."""

from __future__ import annotations

import pytest
from contexts import Agent

from stilltrue.errors import Refused
from tools import remember, revoke, supersede
from tools.support import confirmation

PEANUTS = "Priya is allergic to peanuts"


@pytest.fixture
def agent() -> Agent:
    return Agent()


def test_a_plan_writes_nothing_and_its_commit_writes_what_the_tool_would(agent: Agent) -> None:
    """The tool is its plan, committed."""
    plan = remember.plan(agent.context, PEANUTS, klass="allergy", subjects=["priya"])
    assert agent.written() == 0
    assert remember.commit(plan).data.note.text == PEANUTS  # type: ignore[union-attr]


def test_a_plan_knows_the_requirements_that_it_states_replaces_and_lifts(agent: Agent) -> None:
    """The question to the user is made of this, not of the arguments."""
    stating = remember.plan(agent.context, PEANUTS, klass="allergy")
    old = agent.note(PEANUTS, klass="allergy")
    replacing = supersede.plan(agent.context, [old], "Priya is allergic to tree nuts")
    lifting = supersede.plan(agent.context, [old], "No allergy", klass="note", lifts_requirement=True, reason="test")
    ordinary = remember.plan(agent.context, "Priya likes tea")
    assert stating.effect().states is not None
    assert [note.id for note in replacing.effect().replaces] == [old]
    assert [note.id for note in lifting.effect().lifts] == [old]
    assert ordinary.effect().question() is None


def test_a_stale_plan_is_refused_at_its_commit_and_writes_nothing(agent: Agent) -> None:
    """What is legal is decided under the writers' lock, however long ago the plan was made."""
    old = agent.note("Standup at ten")
    refining = remember.plan(agent.context, "In the blue room", refines=old)
    revoking = revoke.plan(agent.context, old, "a second time")
    agent.revoke(old)
    rows = agent.written()
    with pytest.raises(Refused, match="is revoked"):
        remember.commit(refining)
    with pytest.raises(Refused, match="was revoked on"):
        revoke.commit(revoking)
    assert agent.written() == rows


def test_a_plan_that_another_call_has_carried_out_meanwhile_stores_nothing_twice(agent: Agent) -> None:
    """Two clients with the same request: the second is answered with the note of the first."""
    first, second = (remember.plan(agent.context, "Tom sits in Porto", request_id="r") for _ in range(2))
    stored = remember.commit(first).data.id  # type: ignore[union-attr]
    again = remember.commit(second).data
    assert (again.id, again.stored) == (stored, False)  # type: ignore[union-attr]


def test_a_requirement_that_began_after_the_plan_is_not_lifted_by_its_commit(agent: Agent) -> None:
    """The plan saw a plain note; a successor that was revoked since has left a requirement unsettled under it."""
    rule = agent.note(PEANUTS, klass="allergy")
    plain = agent.supersede(rule, "No allergy", klass="note", lifts_requirement=True, reason="a test").data.id  # type: ignore[union-attr]
    plan = supersede.plan(agent.context, [plain], "Priya eats everything")
    assert plan.effect().question() is None
    agent.revoke(plain)
    with pytest.raises(Refused) as refused:
        supersede.commit(plan)
    assert refused.value.code == "lifts_requirement"


def test_the_user_is_not_asked_about_a_call_that_would_be_refused(agent: Agent) -> None:
    """The plan says so instead, as the call itself would."""
    old = agent.note("Standup at ten")
    refining = remember.plan(agent.context, PEANUTS, klass="allergy", refines=old)
    agent.revoke(old)
    with pytest.raises(Refused, match="is revoked"):
        refining.effect()


def test_what_the_user_could_not_be_asked_about_is_marked_in_the_source_or_the_reason() -> None:
    """A revocation has no source, so its reason carries the mark; a reason that was not given stays none."""
    stated = confirmation.unconfirmed("remember", {"text": PEANUTS, "source": "user"})
    assert stated["source"] == f"agent for the user{confirmation.UNCONFIRMED}"
    assert confirmation.unconfirmed("revoke", {"reason": "a joke"})["reason"] == f"a joke{confirmation.UNCONFIRMED}"
    assert confirmation.unconfirmed("reinstate", {"reason": None})["reason"] is None
