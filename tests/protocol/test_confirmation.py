"""With `requirements.confirm = "elicit"` the user confirms each change of a requirement."""

from __future__ import annotations

from typing import Any

import pytest
from in_process import in_process_client
from mcp.types import ElicitResult, ErrorData
from sdk_client import SdkClient, text_of_blocks
from wire import ERAS, Era

from tools.support.confirmation import UNCONFIRMED

ELICIT = {"requirements__confirm": "elicit"}
NUTS = {"text": "Priya is allergic to peanuts.", "klass": "allergy", "subjects": ["priya"]}


class User:
    """Gives these answers in order, repeating the last one, and records the questions."""

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


def requirements(client: SdkClient) -> str:
    """The requirements of everybody, as returned by `constraints`."""
    return text_of_blocks(client.call("constraints"))


@pytest.mark.parametrize("era", ERAS)
def test_a_requirement_the_user_confirms_has_the_user_as_its_source(era: Era) -> None:
    """The question shows the exact text and subjects; the stored note has the source `user`."""
    with in_process_client(era, elicit=(user := User("accept")), **ELICIT) as client:
        stored = client.done("remember", **NUTS, source="a mail")
        assert stored["note"]["source"] == "user"
        assert "NOT said by the user" not in requirements(client)
    assert len(user.asked) == 1
    assert "ALLERGY: Priya is allergic to peanuts." in user.asked[0]
    assert "about priya" in user.asked[0]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", ["decline", "cancel", "unticked"])
def test_what_the_user_declines_is_refused_and_nothing_is_written(era: Era, answer: str) -> None:
    """The agent gets a sentence that says so, and the memory is unchanged."""
    with in_process_client(era, elicit=User(answer), **ELICIT) as client:
        assert "did not agree. Nothing was written." in refused(client, "remember", **NUTS)
        assert "none for anyone" in requirements(client)


@pytest.mark.parametrize("era", ERAS)
def test_replacing_and_lifting_a_requirement_are_confirmed_too(era: Era) -> None:
    """The user is asked about every way to end or change a requirement, with the old text and the reason."""
    user = User("accept", "decline")
    with in_process_client(era, elicit=user, **ELICIT) as client:
        requirement = client.done("remember", **NUTS)["id"]
        refused(client, "supersede", note_ids=[requirement], text="Priya is allergic to tree nuts.", reason="a test")
        refused(client, "supersede", note_ids=[requirement], text="No allergy.", klass="note", lifts_requirement=True,
                reason="a new test")  # fmt: skip
        refused(client, "revoke", note_id=requirement, reason="it was Tom")
        assert "allergic to peanuts" in requirements(client)
    replacing, lifting, revoking = user.asked[1:]
    assert "replace" in replacing
    assert "tree nuts" in replacing
    for question, reason in ((replacing, "a test"), (lifting, "a new test"), (revoking, "it was Tom")):
        assert "ALLERGY: Priya is allergic to peanuts." in question
        assert f"because: {reason}" in question
    assert "wants to lift these requirements" in lifting
    assert "wants to lift these requirements" in revoking


@pytest.mark.parametrize("era", ERAS)
def test_reinstating_is_confirmed_if_it_changes_a_requirement(era: Era) -> None:
    """The user is asked if a requirement starts to hold again, or is replaced again."""
    user = User("accept")
    with in_process_client(era, elicit=user, **ELICIT) as client:
        requirement = client.done("remember", **NUTS)["id"]
        lift = {"text": "No allergy.", "klass": "note", "lifts_requirement": True, "reason": "a test"}
        over = client.done("supersede", note_ids=[requirement], **lift)["id"]
        client.done("revoke", note_id=over, reason="the test was wrong")  # it binds again: no question
        client.done("reinstate", note_id=over)
        client.done("revoke", note_id=over, reason="wrong again")
        client.done("revoke", note_id=requirement, reason="a joke")
        client.done("reinstate", note_id=requirement)
    assert ["bind again" in question for question in user.asked[2:]] == [True, False, True, False, True]


@pytest.mark.parametrize("era", ERAS)
def test_if_the_client_cannot_ask_a_requirement_is_stored_as_unconfirmed(era: Era) -> None:
    """A requirement is not lost: it binds, and both the answer and its line mark it as unconfirmed."""
    with in_process_client(era, **ELICIT) as client:
        stored = client.done("remember", **NUTS, source="user")
        assert stored["note"]["source"].endswith(UNCONFIRMED)
        assert stored["notices"][-1].startswith("UNCONFIRMED")
        assert "NOT said by the user but by \u201cagent for the user (unconfirmed)\u201d" in requirements(client)
        gone = client.done("revoke", note_id=stored["id"], reason="a joke")
        assert "a joke (unconfirmed)" in gone["chain"]["lead"][0]["mark"]


def test_a_client_that_fails_to_ask_counts_as_unable_to_ask() -> None:
    """A client that declares forms and then fails does not lose the requirement."""
    with in_process_client("handshake", elicit=User("error"), **ELICIT) as client:
        assert client.done("remember", **NUTS)["note"]["source"] == f"agent{UNCONFIRMED}"


@pytest.mark.parametrize("era", ERAS)
def test_the_user_is_not_asked_about_other_notes_or_refused_calls(era: Era) -> None:
    """Ordinary notes, reads, invalid calls and the setting `never` ask no question."""
    user = User("decline")
    with in_process_client(era, elicit=user, **ELICIT) as client:
        note = client.done("remember", text="Priya likes tea.", subjects=["priya"])["id"]
        client.done("supersede", note_ids=[note], text="Priya likes coffee.")
        client.done("recall", query="tea")
        assert "text is empty" in refused(client, "remember", text=" ", klass="allergy")
        assert "there is no note" in refused(client, "revoke", note_id="0" * 16, reason="x")
    with in_process_client(era, elicit=user) as client:
        assert client.done("remember", **NUTS)["note"]["source"] == "agent"
    assert user.asked == []


def test_an_unconfirmed_requirement_is_confirmed_by_a_supersede_with_the_same_text() -> None:
    """It works once the user can be asked."""
    user = User("error", "accept")
    with in_process_client("handshake", elicit=user, **ELICIT) as client:
        requirement = client.done("remember", **NUTS)["id"]
        client.done("supersede", note_ids=[requirement], text=NUTS["text"])
        assert "unconfirmed" not in requirements(client).splitlines()[1]
