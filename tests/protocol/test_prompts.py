"""The prompts for requirements and for a review, and the completion of their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from http_server import PLACES, reached
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference
from sdk_client import SdkClient, text_of_blocks
from wire import ERAS

CHAIN = ResourceTemplateReference(type="ref/resource", uri="memory://chain/{note_id}")
REQUIREMENTS = ResourceTemplateReference(type="ref/resource", uri="memory://requirements/{subject}")
REVIEW = PromptReference(type="ref/prompt", name="review")


@pytest.fixture(scope="module", params=product(PLACES, ERAS), ids=" ".join)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SdkClient]:
    """A server with two requirements, a contested chain, an unsettled one and a settled one, over each transport."""
    with reached(*request.param, tmp_path_factory.mktemp("server")) as connected:
        connected.done("remember", text="Priya eats no nuts.", klass="allergy", subjects=["priya", "team"])
        connected.done("remember", text="Tom is never called.", klass="do_not_contact", subjects=["tom"])
        base = connected.done("remember", text="The port is 1.", subjects=["repo:api"], klass="fact")["id"]
        connected.done("supersede", note_ids=[base], text="The port is 2.")
        connected.done("supersede", note_ids=[base], text="The port is 3.", allow_fork=True)
        old = connected.done("remember", text="Tom lives in Rome.", subjects=["tom"])["id"]
        new = connected.done("supersede", note_ids=[old], text="Tom lives in Oslo.")["id"]
        connected.done("revoke", note_id=new, reason="it was a joke")
        settled = connected.done("remember", text="Tea.", subjects=["priya"])["id"]
        connected.done("supersede", note_ids=[settled], text="Coffee.")
        yield connected


def prompt(client: SdkClient, name: str, **arguments: str) -> str:
    result = client.portal.call(client.client.get_prompt, name, arguments)
    (message,) = result.messages
    assert message.role == "user"
    return message.content.text  # type: ignore[no-any-return]


def completed(client: SdkClient, ref: Any, name: str, value: str) -> list[str]:
    argument = {"name": name, "value": value}
    return list(client.portal.call(client.client.complete, ref, argument).completion.values)


def test_both_prompts_are_listed_with_their_arguments(client: SdkClient) -> None:
    """All their arguments are optional."""
    prompts = client.portal.call(client.client.list_prompts).prompts
    assert [each.name for each in prompts] == ["requirements", "review"]
    assert not any(argument.required for each in prompts for argument in each.arguments or ())


def test_the_requirements_prompt_is_the_answer_of_constraints(client: SdkClient) -> None:
    """For the given subjects, or for everybody, the text is exactly the same."""
    assert prompt(client, "requirements") == text_of_blocks(client.call("constraints"))
    text = prompt(client, "requirements", subjects="Priya, repo:api")
    assert text == text_of_blocks(client.call("constraints", subjects=["priya", "repo:api"]))
    assert "nuts" in text
    assert "called" not in text


def test_a_review_covers_what_is_open_and_nothing_else(client: SdkClient) -> None:
    """The contested and the unsettled chain are included with all their notes; the settled one is not."""
    text = prompt(client, "review")
    assert "2 chains" in text
    assert "1. contested:" in text
    assert "2. not settled:" in text
    assert all(words in text for words in ("port is 2", "port is 3", "port is 1", "Rome", "it was a joke"))
    assert "Coffee" not in text


def test_a_review_can_be_limited_to_a_subject_or_a_class(client: SdkClient) -> None:
    """Only matching chains are included; if there are none, the text says so."""
    assert "Rome" not in prompt(client, "review", klass="fact")
    assert "port" not in prompt(client, "review", subjects="tom")
    assert prompt(client, "review", subjects="priya").startswith("Nothing about priya needs a review")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("reviews", {}, "The prompts are: requirements, review."),
        ("review", {"class": "x"}, "has no argument class. It takes: subjects, klass."),
        ("review", {"klass": "alergy"}, "no class is called 'alergy'"),
    ],
)
def test_a_wrong_prompt_or_argument_is_refused_with_a_sentence(
    client: SdkClient, name: str, arguments: dict[str, str], message: str
) -> None:
    """The error lists the valid names."""
    with pytest.raises(MCPError, match=message.replace(".", r"\.")):
        prompt(client, name, **arguments)


def test_subjects_classes_and_ids_are_completed(client: SdkClient) -> None:
    """Completion ignores case, and completes the last of several subjects."""
    assert completed(client, REQUIREMENTS, "subject", "T") == ["team", "tom"]
    assert completed(client, REQUIREMENTS, "subject", "") == ["priya", "repo:api", "team", "tom"]
    assert completed(client, REVIEW, "subjects", "priya, to") == ["priya, tom"]
    assert completed(client, REVIEW, "klass", "ac") == ["accessibility", "active_project"]
    note = client.done("recall", query="nuts", subjects=["priya"])["requirements"][0]["id"]
    assert note in completed(client, CHAIN, "note_id", note[:12])
    assert completed(client, REVIEW, "nothing", "x") == []
