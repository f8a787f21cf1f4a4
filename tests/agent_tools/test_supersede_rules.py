"""What `supersede` promises of requirements: none ends for anybody unless the call says so and why."""

from __future__ import annotations

import pytest
from contexts import Agent, rules

from stilltrue.errors import Refused

ALLERGY = {"klass": "allergy", "subjects": ["priya", "team"]}


def refusal(agent: Agent, *args: object, **more: object) -> Refused:
    """The error of a call that must be refused and write nothing."""
    rows = agent.written()
    with pytest.raises(Refused) as refused:
        agent.supersede(*args, **more)  # type: ignore[arg-type]
    assert agent.written() == rows
    return refused.value


@pytest.mark.parametrize(
    "change",
    [
        {"klass": "note"},
        {"subjects": ["priya"]},
        {"subjects": ["team", "tom"]},
        {"klass": "note", "lifts_requirement": True},
        {"klass": "note", "lifts_requirement": True, "reason": "  "},
        {"klass": "note", "reason": "because"},
    ],
)
def test_a_requirement_is_not_lifted_without_saying_so_and_why(agent: Agent, change: dict[str, object]) -> None:
    """Neither by another class, nor by dropping a subject, nor without a reason."""
    rule = agent.note("Priya is allergic to peanuts", **ALLERGY)
    said = refusal(agent, rule, "Priya likes cashews", **change)
    assert said.code == "lifts_requirement"
    assert "klass allergy and subjects priya, team" in said.hint
    assert len(rules(agent.constraints(["team"]))) == 1


def test_a_requirement_is_lifted_if_the_call_says_so_and_why(agent: Agent) -> None:
    """The reason is kept in the history."""
    rule = agent.note("Priya is allergic to peanuts", **ALLERGY)
    agent.supersede(rule, "Priya tested negative", klass="note", lifts_requirement=True, reason="allergy test")
    assert rules(agent.constraints(["priya"])) == []
    assert '"allergy test"' in agent.recall("peanuts").text


def test_a_requirement_can_change_and_gain_subjects_freely(agent: Agent) -> None:
    """Class and subjects are kept, so nothing is lifted."""
    rule = agent.note("Priya is allergic to peanuts", **ALLERGY)
    agent.supersede(rule, "All nuts", klass="hard_preference", subjects=["team", "priya", "kitchen"])
    assert rules(agent.constraints(["kitchen"])) == ["All nuts"]


@pytest.mark.parametrize("end", ["revoked", "expired", "pending"])
def test_a_requirement_is_not_lifted_by_replacing_its_retired_successor(agent: Agent, end: str) -> None:
    """A binds again because its successor B was retired. What replaces B also replaces A."""
    rule = agent.note("Priya is allergic to peanuts", **ALLERGY)
    times = {"expired": {"valid_until": "2026-03-10"}, "pending": {"valid_from": "2027-03-10"}}.get(end, {})
    after = agent.supersede(rule, "Only to raw peanuts", **times).data.id
    if end == "revoked":
        agent.revoke(after)
    agent.clock.on(days=20)
    assert rules(agent.constraints(["priya"])) == ["Priya is allergic to peanuts"]
    assert refusal(agent, after, "Priya eats everything", klass="note").code == "lifts_requirement"
    assert refusal(agent, after, "Priya eats everything", subjects=["team"]).code == "lifts_requirement"


def test_a_requirement_that_was_replaced_for_a_time_binds_again_afterwards(agent: Agent) -> None:
    """It fails closed: nobody said that the requirement ended for good."""
    rule = agent.note("No meat for Tom", klass="hard_preference", subjects=["tom"])
    agent.supersede(
        rule, "Tom eats all", klass="note", lifts_requirement=True, reason="holiday", valid_until="2026-03-10"
    )
    assert rules(agent.constraints(["tom"])) == []
    agent.clock.on(days=30)
    assert rules(agent.constraints(["tom"])) == ["No meat for Tom"]


def test_a_pending_requirement_is_not_lifted_silently_either(agent: Agent) -> None:
    """It does not bind yet, but somebody relies on its binding later."""
    rule = agent.note("No contact with the press", klass="do_not_contact", subjects=["tom"], valid_from="2026-04-01")
    assert refusal(agent, rule, "Tom may talk to the press", klass="note").code == "lifts_requirement"
