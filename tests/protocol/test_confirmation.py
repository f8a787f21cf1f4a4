"""With `requirements.confirm = "elicit"` the user decides what becomes a rule and what ceases to be one."""

from __future__ import annotations

from typing import Any

import pytest
from in_process import inside
from mcp.types import ElicitResult, ErrorData
from wire import ERAS, Era, SdkClient, text_of_blocks

from tools.support.confirmation import UNCONFIRMED

ELICIT = {"requirements__confirm": "elicit"}
NUTS = {"text": "Priya is allergic to peanuts.", "klass": "allergy", "subjects": ["priya"]}


class User:
    """Answers what it is asked, one answer after the other, the last one for good; keeps the questions."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult | ErrorData:
        self.asked.append(params.message)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer == "error":
            return ErrorData(code=-32603, message="no window")
        if answer == "unticked":
            return ElicitResult(action="accept", content={"agreed": False})
        return ElicitResult(action=answer, content={} if answer == "accept" else None)  # type: ignore[arg-type]


def refused(client: SdkClient, tool: str, **arguments: Any) -> str:
    result = client.call(tool, **arguments)
    assert result.is_error
    return text_of_blocks(result)


def rules(client: SdkClient) -> str:
    """The requirements of everybody, as they are told."""
    return text_of_blocks(client.call("constraints"))


@pytest.mark.parametrize("era", ERAS)
def test_a_rule_that_the_user_agrees_to_is_the_users_own_word(era: Era) -> None:
    """The user sees the very words and whom they bind; what is then stored has the user as its source."""
    with inside(era, elicit=(user := User("accept")), **ELICIT) as client:
        stored = client.done("remember", **NUTS, source="a mail")
        assert stored["note"]["source"] == "user"
        assert "NOT said by the user" not in rules(client)
    assert len(user.asked) == 1
    assert "ALLERGY: Priya is allergic to peanuts." in user.asked[0]
    assert "about priya" in user.asked[0]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", ["decline", "cancel", "unticked"])
def test_what_the_user_declines_is_refused_and_nothing_is_written(era: Era, answer: str) -> None:
    """The agent reads in a sentence that the user said no, and the memory holds what it held."""
    with inside(era, elicit=User(answer), **ELICIT) as client:
        assert "did not agree. Nothing was written." in refused(client, "remember", **NUTS)
        assert "none for anyone" in rules(client)


@pytest.mark.parametrize("era", ERAS)
def test_to_replace_and_to_lift_a_rule_is_asked_as_well(era: Era) -> None:
    """Each way in which a rule can cease to bind as it did is put to the user, with the old words and the reason."""
    user = User("accept", "decline")
    with inside(era, elicit=user, **ELICIT) as client:
        rule = client.done("remember", **NUTS)["id"]
        refused(client, "supersede", note_ids=[rule], text="Priya is allergic to tree nuts.", reason="a test")
        refused(client, "supersede", note_ids=[rule], text="No allergy.", klass="note", lifts_requirement=True,
                reason="a new test")  # fmt: skip
        refused(client, "revoke", note_id=rule, reason="it was Tom")
        assert "allergic to peanuts" in rules(client)
    replacing, lifting, revoking = user.asked[1:]
    assert "replace" in replacing
    assert "tree nuts" in replacing
    for said, reason in ((replacing, "a test"), (lifting, "a new test"), (revoking, "it was Tom")):
        assert "ALLERGY: Priya is allergic to peanuts." in said
        assert f"because: {reason}" in said
    assert "bind nobody any more" in lifting
    assert "bind nobody any more" in revoking


@pytest.mark.parametrize("era", ERAS)
def test_to_take_back_what_lifted_a_rule_and_what_kept_it_is_asked(era: Era) -> None:
    """Reinstating a rule asks whether it holds again; reinstating what had replaced one asks whether that may go."""
    user = User("accept")
    with inside(era, elicit=user, **ELICIT) as client:
        rule = client.done("remember", **NUTS)["id"]
        over = client.done("supersede", note_ids=[rule], text="No allergy.", klass="note", lifts_requirement=True,
                           reason="a test")["id"]  # fmt: skip
        client.done("revoke", note_id=over, reason="the test was wrong")  # brings the rule back: nobody need agree
        client.done("reinstate", note_id=over)
        client.done("revoke", note_id=over, reason="wrong again")
        client.done("revoke", note_id=rule, reason="a joke")
        client.done("reinstate", note_id=rule)
    assert ["hold again" in said for said in user.asked[2:]] == [True, False, True, False, True]


@pytest.mark.parametrize("era", ERAS)
def test_where_nobody_can_be_asked_it_is_stored_and_marked(era: Era) -> None:
    """A rule is not lost over a client without forms: it binds, and its line and its answer say how it came about."""
    with inside(era, **ELICIT) as client:
        stored = client.done("remember", **NUTS, source="user")
        assert stored["note"]["source"].endswith(UNCONFIRMED)
        assert stored["notices"][-1].startswith("UNCONFIRMED")
        assert "NOT said by the user but by agent for the user (unconfirmed)" in rules(client)
        gone = client.done("revoke", note_id=stored["id"], reason="a joke")
        assert "a joke (unconfirmed)" in gone["chain"]["lead"][0]["mark"]


def test_a_client_that_fails_to_ask_could_not_ask() -> None:
    """What a client said that it can and then could not is no reason to lose a rule."""
    with inside("handshake", elicit=User("error"), **ELICIT) as client:
        assert client.done("remember", **NUTS)["note"]["source"] == f"agent{UNCONFIRMED}"


@pytest.mark.parametrize("era", ERAS)
def test_nobody_is_asked_about_what_is_no_rule_or_will_be_refused(era: Era) -> None:
    """Ordinary notes, readings and calls that are wrong anyway cost the user no question; nor does `never`."""
    user = User("decline")
    with inside(era, elicit=user, **ELICIT) as client:
        note = client.done("remember", text="Priya likes tea.", subjects=["priya"])["id"]
        client.done("supersede", note_ids=[note], text="Priya likes coffee.")
        client.done("recall", query="tea")
        assert "text is empty" in refused(client, "remember", text=" ", klass="allergy")
        assert "there is no note" in refused(client, "revoke", note_id="0" * 16, reason="x")
    with inside(era, elicit=user) as client:
        assert client.done("remember", **NUTS)["note"]["source"] == "agent"
    assert user.asked == []


def test_a_rule_is_confirmed_later_by_its_own_words() -> None:
    """What was stored unconfirmed is confirmed by a supersede with the same words, once the user can be asked."""
    user = User("error", "accept")
    with inside("handshake", elicit=user, **ELICIT) as client:
        rule = client.done("remember", **NUTS)["id"]
        client.done("supersede", note_ids=[rule], text=NUTS["text"])
        assert "unconfirmed" not in rules(client).splitlines()[1]
