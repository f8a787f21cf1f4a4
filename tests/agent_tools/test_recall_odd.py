"""What `recall` answers to odd queries, and with more notes than an answer can hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from contexts import Agent, rules, told
from fakes import FakeEmbedder

from stilltrue.errors import Refused
from stilltrue.note import USER, Note
from stilltrue.retrieval.ranking import Policy
from tools.admin.bulk_load import append_notes


@pytest.mark.parametrize(
    ("asked", "more", "said"),
    [
        ("", {}, "is empty"),
        ("x" * 100_000, {}, "query has 100000 characters; the limit is"),
        ("the port of the api " * 400, {"budget_tokens": 1_000_000}, "The port of the api is 8080"),
        ("port", {"budget_tokens": 0}, "Left out for lack of room"),
        ("port", {"budget_tokens": 1}, "Left out for lack of room"),
        ("port", {"subjects": ["nobody"]}, "REQUIREMENTS: none for nobody"),
        ("port", {"as_of": "1999-01-01"}, "No matching memories"),
    ],
)
def test_an_odd_question_has_a_clear_answer_or_a_clear_error(
    agent: Agent, asked: str, more: dict[str, Any], said: str
) -> None:
    """Empty, as long as a book, about nobody, about a time before any note, or without room for an answer."""
    agent.note("The port of the api is 8080")
    try:
        answer = agent.recall(asked, **more).text
    except Refused as refused:
        answer = str(refused)
    assert said in answer


def test_a_subject_of_five_thousand_notes_is_answered_within_the_budget(on_disk: Callable[..., Agent]) -> None:
    """The best match leads, the rest is counted, and the requirement among them is returned."""
    agent = on_disk(policy=Policy(lexical_share=0.9, late_share=0.0))
    context, about = agent.context, ("api",)
    notes = [
        Note(made.id, f"setting {number} is {number % 17}", about, "note", USER, made.at)
        for number, made in enumerate(context.stamp(None) for _ in range(5_000))
    ]
    append_notes(context, notes, FakeEmbedder())
    agent.note("never restart the api by hand", subjects=about, klass="hard_preference")
    answer = agent.recall("what is setting 4711", subjects=about, budget_tokens=400)
    assert told(answer)[0] == "setting 4711 is 2"
    assert rules(answer) == ["never restart the api by hand"]
    assert answer.data.tokens <= 400
    assert answer.data.further > 0
