"""What `recall` promises if something is missing: it says so, searches by words, and never loses a requirement."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from contexts import Agent, Ready, rules, told
from fakes import FakeEmbedder
from numpy.typing import NDArray

from stilltrue.errors import Refused, StoreTrouble
from store.embed.load import BackgroundEmbedder
from store.port import Fingerprint


class OtherSpace(FakeEmbedder):
    """The same words along other axes, so that its vectors cannot be compared with those of the first one."""

    fingerprint = Fingerprint(model="another", sha256="1" * 64, dimension=64)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), 64), the axes in reverse."""
        return super().embed(texts)[:, ::-1]


class Broken(FakeEmbedder):
    """A model that loads and then fails."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raises, like a runtime that is out of memory."""
        raise RuntimeError("out of memory")


def filled(agent: Agent) -> Agent:
    agent.note("No nuts for Priya", klass="allergy", subjects=["priya"])
    agent.line("The invoice is due in May", "The invoice is due in June", subjects=["books"])
    return agent


def held(answer: object) -> tuple[list[str], list[str]]:
    """Checks what must be returned without a model: the chain, by its words, and the requirement."""
    return told(answer), rules(answer)  # type: ignore[arg-type]


ALL = (["The invoice is due in June"], ["No nuts for Priya"])


def test_recall_searches_by_words_until_the_model_is_loaded() -> None:
    """A read never waits. What was stored before is found by its words afterwards, too."""
    go = threading.Event()

    def load() -> FakeEmbedder:
        go.wait(60)
        return FakeEmbedder()

    loading = BackgroundEmbedder(load)
    loading.start()
    agent = filled(Agent(embedding=loading))
    early = agent.recall("invoice for Priya")
    assert (held(early), early.data.degraded) == (ALL, True)
    assert "(DEGRADED: searched by words only, since the embedding model is still loading)" in early.text
    go.set()
    assert loading.get(60) is not None
    late = agent.recall("invoice for Priya")
    assert (held(late), late.data.degraded, "DEGRADED" in late.text) == (ALL, False, False)


def test_every_answer_says_why_the_model_could_not_be_loaded() -> None:
    """The operator needs the reason to fix it."""
    gone = BackgroundEmbedder(lambda: (_ for _ in ()).throw(StoreTrouble("The weights are gone.", "Reinstall.")))
    gone.start()
    gone.get(60)
    agent = filled(Agent(embedding=gone))
    for _ in range(2):
        answer = agent.recall("invoice for Priya")
        assert (held(answer), answer.data.degraded) == (ALL, True)
        assert "searched by words only, since The weights are gone. Reinstall." in answer.text


@pytest.mark.parametrize("verb", ["remember", "supersede", "recall", "revoke"])
def test_a_store_of_another_model_is_never_mixed_with_the_configured_one(agent: Agent, verb: str) -> None:
    """The answer names both, the search is by words, and no vector of the wrong space is written."""
    filled(agent)
    other = Agent(agent.store, OtherSpace(), clock=agent.clock)
    note_id = agent.note("Tom sits in Porto")
    answer = {
        "remember": lambda: other.remember("a new one", subjects=["tom"]),
        "supersede": lambda: other.supersede(note_id, "a new one"),
        "recall": lambda: other.recall("invoice for Priya"),
        "revoke": lambda: other.revoke(note_id),
    }[verb]()
    assert "DEGRADED" in answer.text
    assert str(agent.store.fingerprint) in answer.text
    assert "another@111111111111/64" in answer.text
    assert agent.store.fingerprint == FakeEmbedder.fingerprint
    assert held(other.recall("invoice for Priya")) == ALL
    (record,) = agent.store.chains_of([getattr(answer.data, "id", note_id)])
    assert set(record.vectors) <= {note_id}


def test_a_store_on_disk_knows_its_model(on_disk: Callable[..., Agent]) -> None:
    """The next process, with another model, searches by words and says so."""
    first = filled(on_disk())
    other = on_disk(embedder=OtherSpace(), clock=first.clock)
    answer = other.recall("invoice for Priya")
    assert (held(answer), answer.data.degraded) == (ALL, True)
    assert not on_disk(clock=first.clock).recall("invoice").data.degraded


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("by_vector", "searched by words only, since the search by meaning failed: The index is damaged."),
        ("by_text", "the search by words failed: The index is damaged."),
    ],
)
def test_if_one_search_fails_the_other_answers(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, broken: str, said: str
) -> None:
    """The requirements are returned too."""
    filled(agent)

    def fail(*_: object) -> None:
        raise StoreTrouble("The index is damaged.", "Rebuild it.")

    monkeypatch.setattr(agent.store, broken, fail)
    answer = agent.recall("invoice for Priya")
    assert (held(answer), answer.data.degraded, said in answer.text) == (ALL, True, True)


def test_requirements_are_returned_even_if_both_searches_fail(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """They need neither search."""
    filled(agent)

    def fail(*_: object) -> None:
        raise StoreTrouble("The index is damaged.", "Rebuild it.")

    for search in ("by_vector", "by_text"):
        monkeypatch.setattr(agent.store, search, fail)
    answer = agent.recall("lunch with Priya")
    assert (held(answer), answer.data.degraded) == (([], ["No nuts for Priya"]), True)


def test_a_model_that_fails_at_run_time_costs_no_answer(agent: Agent) -> None:
    """The search is by words, and the answer says so."""
    filled(agent)
    answer = Agent(agent.store, Broken(), clock=agent.clock).recall("invoice for Priya")
    assert (held(answer), "failed: out of memory" in answer.text) == (ALL, True)


def test_a_store_that_cannot_adopt_a_model_still_answers(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adopting it is a write, and a read must not fail because of it."""

    def locked(_: object) -> bool:
        raise StoreTrouble("The lock is held.", "Wait.")

    filled(agent)
    monkeypatch.setattr(agent.store, "adopt", locked)
    assert held(agent.recall("invoice for Priya")) == ALL


def test_a_lookup_by_id_needs_no_model(agent: Agent) -> None:
    """Every tool that takes ids works without one."""
    bare = Agent(agent.store, embedding=Ready(None, "no model"), clock=agent.clock)
    old = bare.note("Office in Ghent")
    new = bare.supersede(old, "Office in Bruges").data.id
    bare.revoke(new)
    bare.reinstate(new)
    bare.feedback([new], "helped")
    assert bare.status(old, new) == "superseded, current"
    with pytest.raises(Refused, match=new):
        bare.supersede(old, "Office in Antwerp")
