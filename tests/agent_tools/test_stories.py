"""The two stories that the product exists for, with the real server, store and model, among many distractors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from sdk_client import SdkClient, sdk_client, text_of_blocks
from seeded_store import distractors, model, past, rows

from tools.remember import remember
from tools.supersede import supersede

ALLERGY = "Priya is severely allergic to peanuts; even traces put her in hospital."
OLD = (
    "The test suite of the billing service runs on Python 3.9, with `python3.9 -m unittest`.",
    "It was never 3.9: run the billing tests with tox, on 3.11.",
    "Forget tox, that was the other repository. `uv run pytest`, 3.12.",
)
SIZES = [20, 200, pytest.param(2_000, marks=pytest.mark.slow)]
ON_TOPIC = [
    "How do I run the test suite of the billing service?",
    "Which Python version do the billing tests need?",
    "python3.9 -m unittest for billing",
    "Run the billing tests before the release",
    "Set up continuous integration for the billing service",
    "Is tox still used?",
    "Which interpreter runs the tests?",
    "The unit tests fail with a syntax error, which Python should I use?",
    "Write the CONTRIBUTING file: how are tests started?",
    "pytest or unittest?",
    "What was the test command originally?",
    "How did we run the billing tests last year?",
]


@dataclass(frozen=True, slots=True)
class Stage:
    """A server whose store has both stories and `size` distractors, and the ids of the stories' notes."""

    client: SdkClient
    size: int
    allergy: str
    chain: tuple[str, ...]


@pytest.fixture(scope="module", params=SIZES)
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The allergy is fourteen months old, the notes on the interpreter ten, eight and six. Distractors are newer."""
    home = tmp_path_factory.mktemp("stage")
    with past(home / "store") as before:
        allergy = remember(before.go(425), ALLERGY, subjects=["priya", "team"], klass="allergy").data.id
        chain = [remember(before.go(300), OLD[0], subjects=["repo:billing"], klass="working_context").data.id]
        for days, text in zip((240, 180), OLD[1:], strict=True):
            chain.append(supersede(before.go(days), [chain[-1]], text, relation="correction").data.id)
        before.fill(distractors(request.param), ["team", "priya", "user", "repo:billing"], 90)
    with sdk_client(home) as client:
        client.ready()
        yield Stage(client, request.param, allergy, tuple(chain))


@cache
def off_topic() -> list[str]:
    """100 requests that have nothing to do with peanuts or with Python."""
    asked = [row["query"] for name in ("requirements", "separation") for row in rows(name)]
    return [query for query in asked if "priya" not in query.lower()][:100]


def test_a_plain_search_would_have_missed_the_allergy() -> None:
    """With 200 distractors, it is not among the six nearest notes in 95 of the 100 requests."""
    vectors = model().embed(distractors(200))
    queries = model().embed(off_topic())
    nearer = (queries @ vectors.T > queries @ model().embed([ALLERGY]).T).sum(axis=1)
    assert len(queries) == 100
    assert (nearer >= 6).sum() >= 95


def test_the_allergy_is_in_every_recall(stage: Stage) -> None:
    """100 requests by the team and Priya, on any topic: the requirement is in the data and in the text."""
    options: list[dict[str, Any]] = [{"subjects": ["team"]}, {"subjects": "Priya"}, {}, {"budget_tokens": 1}]
    asked = []
    for number, query in enumerate(off_topic()):
        way = options[number % len(options)]
        asked.append({"query": query if "subjects" in way else f"{query} It is for the team.", **way})
    for sent, result in zip(asked, stage.client.calls("recall", asked), strict=True):
        assert not result.is_error, result.content
        rules = [note["id"] for each in result.structured_content["requirements"] for note in each["rules"]]
        assert stage.allergy in rules, sent
        *_, section = text_of_blocks(result).partition("REQUIREMENTS")
        assert f"{ALLERGY} [{stage.allergy}]" in section, sent


def test_no_retired_note_is_returned_without_its_successor(stage: Stage) -> None:
    """100 requests, on the interpreter and on other topics, now and as of then: the last correction leads."""
    options: list[dict[str, Any]] = [
        {},
        {"subjects": "repo:billing"},
        {"include_retired": True},
        {"budget_tokens": 90},
    ]
    topics = [query for query in ON_TOPIC for _ in options]
    queries = [*topics, *off_topic()][:100]
    asked = [{"query": query, **options[number % len(options)]} for number, query in enumerate(queries)]
    *retired, last = stage.chain
    delivered = 0
    for sent, result in zip(asked, stage.client.calls("recall", asked), strict=True):
        assert not result.is_error, result.content
        text = text_of_blocks(result)
        if not any(f"[{note_id}]" in text for note_id in retired):
            continue
        delivered += 1
        assert text.index(f"[{last}]") < min(text.index(f"[{each}]") for each in retired if f"[{each}]" in text), sent
        [chain] = [each for each in result.structured_content["chains"] if set(retired) & set(ids(each))]
        assert [note["id"] for note in chain["lead"]] == [last], sent
        assert all("WRONG" in note["mark"] for note in chain["history"]), sent
    assert delivered >= 30


def test_what_was_believed_then_is_returned_with_what_is_known_today(stage: Stage) -> None:
    """As of the day on which it was recorded, the first note leads, marked with what replaced it since."""
    moment = stage.client.done("recall", query=ON_TOPIC[0], include_retired=True)
    first = next(note for chain in moment["chains"] for note in chain["history"] if note["id"] == stage.chain[0])
    then = stage.client.done("recall", query=ON_TOPIC[0], as_of=first["recorded_at"][:10], subjects=["repo:billing"])
    [chain] = then["chains"]
    assert [note["id"] for note in chain["lead"]] == [stage.chain[0]]
    assert {note["id"] for note in chain["since"]} >= {stage.chain[-1]}


def ids(value: Any) -> Iterator[str]:
    """All ids in a part of an answer."""
    if isinstance(value, dict):
        yield from ([value["id"]] if "id" in value else [])
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from ids(each)
