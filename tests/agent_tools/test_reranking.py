"""A configured cross-encoder decides relevance. Nothing else changes, and recall works without it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from contexts import Agent
from numpy.typing import NDArray

from stilltrue.errors import StoreTrouble
from store.embed.background import Background
from store.embed.cross_encoder import load_reranker
from store.port import Reranker

ROOT = Path(__file__).resolve().parents[2]


class Longest:
    """Prefers the longest text, so that its effect cannot be mistaken for anything else."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The length of each text."""
        self.seen += texts
        return np.array([len(text) for text in texts], dtype=np.float32)


class There:
    """A loaded cross-encoder."""

    problem = None

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker

    def get(self, wait_s: float = 0.0) -> Reranker:
        """The cross-encoder."""
        return self._reranker


def broken() -> Reranker:
    """A cross-encoder that fails to load."""
    raise StoreTrouble("there is no such model.", "Take another.")


def test_the_scores_of_the_cross_encoder_replace_relevance() -> None:
    """A note that shares no word with the query leads because the cross-encoder scores it best."""
    agent = Agent(reranking=There(Longest()))
    agent.note("tests run with tox", subjects=["ci"])
    long = agent.note("the harbour is closed to all ships of more than two hundred tons", subjects=["ci"])
    assert agent.recall("tests with tox", subjects=["ci"]).data.chains[0].id == long


def test_the_cross_encoder_scores_no_more_notes_than_configured() -> None:
    """Each costs a run of the model, so only the most relevant ones are scored."""
    reranker = Longest()
    agent = Agent(reranking=There(reranker), candidates=3)
    for number in range(9):
        agent.note(f"the tests run with tox {number}", subjects=["ci"])
    agent.recall("tests with tox", subjects=["ci"])
    assert 0 < len(reranker.seen) <= 3


def test_the_cross_encoder_never_affects_requirements() -> None:
    """Whatever their scores, all of them are returned."""
    agent = Agent(reranking=There(Longest()), max_chains=1)
    rule = agent.note("no nuts", subjects=["priya"], klass="allergy")
    for number in range(5):
        agent.note(f"a much longer note about lunch, number {number}", subjects=["priya"])
    answer = agent.recall("lunch", subjects=["priya"])
    assert [view.id for each in answer.data.requirements for view in each.rules] == [rule]


def test_recall_works_without_the_cross_encoder_and_says_why_it_is_missing() -> None:
    """The ranking is the usual one."""
    missing = Background(broken, "cross-encoder", "ranked without")
    missing.start()
    missing.get(10)
    agent = Agent(reranking=missing)
    note = agent.note("tests run with tox", subjects=["ci"])
    answer = agent.recall("tests with tox", subjects=["ci"])
    assert [each.id for each in answer.data.chains] == [note]
    assert "not reranked, since there is no such model." in answer.text


def test_an_unknown_model_name_is_refused_with_what_to_do() -> None:
    """With or without the library, the error names the setting or what to install."""
    with pytest.raises(StoreTrouble, match=r"sentence-transformers|rerank_model|embedding"):
        load_reranker("nobody/no-such-model")


@pytest.mark.sentence_transformers
def test_a_real_cross_encoder_scores_pairs_from_a_folder() -> None:
    """The real class of the library, with a tiny model of random weights."""
    pytest.importorskip("sentence_transformers")
    done = subprocess.run(
        [sys.executable, "-m", "bench", "rerank", "--rounds", "2", "--only", "tiny"],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=True,
    )  # fmt: skip
    (figures,) = json.loads(done.stdout.splitlines()[-1])["models"]
    assert (figures["candidates"], figures["finite"]) == (50, True)
