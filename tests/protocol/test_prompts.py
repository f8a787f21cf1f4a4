"""What a person calls up: the rules for a system message, the review, and the completion of what is typed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from http_server import PLACES, reached
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference
from wire import ERAS, SdkClient, text_of_blocks

CHAIN = ResourceTemplateReference(type="ref/resource", uri="memory://chain/{note_id}")
RULES = ResourceTemplateReference(type="ref/resource", uri="memory://requirements/{subject}")
REVIEW = PromptReference(type="ref/prompt", name="review")


@pytest.fixture(scope="module", params=product(PLACES, ERAS), ids=" ".join)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SdkClient]:
    """One server with two rules, a contested chain, an unsettled one and a settled one, at each place."""
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
    """A client shows them by name and asks for nothing that is not optional."""
    prompts = client.portal.call(client.client.list_prompts).prompts
    assert [each.name for each in prompts] == ["requirements", "review"]
    assert not any(argument.required for each in prompts for argument in each.arguments or ())


def test_the_requirements_are_the_section_that_constraints_answers(client: SdkClient) -> None:
    """For whom it is asked, or for everybody, the prompt is that section to the letter."""
    assert prompt(client, "requirements") == text_of_blocks(client.call("constraints"))
    said = prompt(client, "requirements", subjects="Priya, repo:api")
    assert said == text_of_blocks(client.call("constraints", subjects=["priya", "repo:api"]))
    assert "nuts" in said
    assert "called" not in said


def test_a_review_goes_through_what_is_open_and_nothing_else(client: SdkClient) -> None:
    """The contested and the unsettled chain are there with all their notes; the settled one is not."""
    said = prompt(client, "review")
    assert "2 chains" in said
    assert "1. contested:" in said
    assert "2. not settled:" in said
    assert all(words in said for words in ("port is 2", "port is 3", "port is 1", "Rome", "it was a joke"))
    assert "Coffee" not in said


def test_a_review_can_be_of_a_subject_or_a_class(client: SdkClient) -> None:
    """Only what is asked about is gone through; where that is nothing, it says so."""
    assert "Rome" not in prompt(client, "review", klass="fact")
    assert "port" not in prompt(client, "review", subjects="tom")
    assert prompt(client, "review", subjects="priya").startswith("Nothing about priya needs a review")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("reviews", {}, "There are: requirements, review."),
        ("review", {"class": "x"}, "has no argument class. It takes: subjects, klass."),
        ("review", {"klass": "alergy"}, "no class is called 'alergy'"),
    ],
)
def test_a_wrong_prompt_is_told_in_a_sentence(
    client: SdkClient, name: str, arguments: dict[str, str], said: str
) -> None:
    """Whoever types it reads what there is."""
    with pytest.raises(MCPError, match=said.replace(".", r"\.")):
        prompt(client, name, **arguments)


def test_subjects_classes_and_ids_are_completed(client: SdkClient) -> None:
    """What was begun becomes what there is, in any case, and the last of several subjects."""
    assert completed(client, RULES, "subject", "T") == ["team", "tom"]
    assert completed(client, RULES, "subject", "") == ["priya", "repo:api", "team", "tom"]
    assert completed(client, REVIEW, "subjects", "priya, to") == ["priya, tom"]
    assert completed(client, REVIEW, "klass", "ac") == ["accessibility", "active_project"]
    note = client.done("recall", query="nuts", subjects=["priya"])["requirements"][0]["id"]
    assert note in completed(client, CHAIN, "note_id", note[:12])
    assert completed(client, REVIEW, "nothing", "x") == []
