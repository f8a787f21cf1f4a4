"""What models send for arguments that they do not mean to set, and words in place of the exact ones."""

from __future__ import annotations

from typing import Any

import pytest
from in_process import in_process_client

from stilltrue.classes import DEFAULT_CLASSES

STRICT: dict[str, Any] = {
    "subjects": [], "klass": "", "cues": [], "importance": 0, "attribute": "null", "valid_from": "now",
    "valid_until": "", "source": "None", "refines": "null", "request_id": "1",
}  # fmt: skip
"""The optional arguments of `remember` as a model in strict mode fills them in."""


def test_a_model_that_fills_in_every_argument_stores_a_plain_note() -> None:
    """Fillers set nothing."""
    with in_process_client("modern") as client:
        filled = client.done("remember", text="Priya prefers tea.", **STRICT)["note"]
        plain = client.done("remember", text="Priya prefers coffee.")["note"]
        differing = {name for name in filled.keys() | plain.keys() if filled.get(name) != plain.get(name)}
        assert differing <= {"id", "text", "recorded_at"}
        found = client.done("recall", query="Priya", budget_tokens=0, as_of="today", session="", subjects=["null"])
        assert len(found["chains"]) == 2


def test_a_constant_request_id_is_neither_a_reuse_nor_a_repeat() -> None:
    """Different calls with the request id "1" are all stored, even with the same words; a repeated call is not."""
    with in_process_client("modern") as client:
        first = client.done("remember", text="Allergic to nuts.", subjects=["priya"], klass="allergy", request_id="1")
        other = client.done("remember", text="Never book the red room.", klass="hard_preference", request_id="1")
        same = client.done("remember", text="Allergic to nuts.", subjects=["tom"], klass="allergy", request_id="1")
        again = client.done("remember", text="Allergic to nuts.", subjects=["tom"], klass="allergy", request_id=1)
        assert [first["stored"], other["stored"], same["stored"], again["stored"]] == [True, True, True, False]
        assert again["id"] == same["id"]
        assert client.done("constraints", subjects=["tom"])["requirements"]


def test_a_long_request_id_is_still_a_key() -> None:
    """From 8 characters on, reuse with another text is refused."""
    with in_process_client("modern") as client:
        client.done("remember", text="Priya prefers tea.", request_id="request-1")
        assert client.call("remember", text="Priya prefers coffee.", request_id="request-1").is_error


def test_a_note_that_would_be_over_at_once_is_refused() -> None:
    """Taken for unset it would hold for ever, taken literally it would be over: the model has to say when."""
    with in_process_client("modern") as client:
        refused = client.call("remember", text="The offer is valid.", valid_until="now")
        assert refused.is_error
        assert "valid_until is 'now'" in str(refused.content)
        stored = client.done("remember", text="The offer is valid today.", valid_until="today")
        assert stored["note"]["status"] == "current"


@pytest.mark.parametrize(
    ("said", "klass"),
    [("hard preference", "hard_preference"), ("hard-preference", "hard_preference"),
     ("Hard_Preference", "hard_preference"), ("HARD PREFERENCES", "hard_preference"), ("allergies", "allergy"),
     ("Allergy ", "allergy"), ("None", "note"), ("notes", "note")],
)  # fmt: skip
def test_a_class_is_understood_in_any_spelling(said: str, klass: str) -> None:
    """Case, spaces, hyphens and a plural do not matter."""
    with in_process_client("modern") as client:
        assert client.done("remember", text="No nuts.", klass=said)["note"]["klass"] == klass


@pytest.mark.parametrize(("said", "nearest"), [("allergic", "allergy"), ("prefer", "preference"), ("zzz", None)])
def test_an_unknown_class_is_answered_with_the_nearest(said: str, nearest: str | None) -> None:
    """And with all of them."""
    with in_process_client("modern") as client:
        refused = client.call("remember", text="No nuts.", klass=said)
        assert refused.is_error
        assert (f"The closest is {nearest}." in str(refused.content)) is (nearest is not None)
        assert all(each.name in str(refused.content) for each in DEFAULT_CLASSES)


@pytest.mark.parametrize("said", ["user", "User", "the user", "The User.", "'user'"])
def test_the_user_is_the_user_in_any_spelling(said: str) -> None:
    """A requirement that the user stated is not marked as somebody else's."""
    with in_process_client("modern") as client:
        assert client.done("remember", text="No nuts.", klass="allergy", source=said)["note"]["source"] == "user"
        assert (
            client.done("remember", text="No eggs.", source="the user manual")["note"]["source"] == "the user manual"
        )


@pytest.mark.parametrize("sent", ["['priya']", ['["priya"]'], ["uma,priya"], "uma and priya"])
def test_a_requirement_is_found_however_its_subjects_were_sent(sent: Any) -> None:
    """What was stored for a list inside a string binds the people in it."""
    with in_process_client("modern") as client:
        client.done("remember", text="No nuts.", klass="allergy", subjects=sent)
        assert len(client.done("constraints", subjects=["priya"])["requirements"]) == 1
        assert len(client.done("constraints", subjects=sent)["requirements"]) == 1
