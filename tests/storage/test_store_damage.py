"""A flipped bit: what is damaged is never returned as a fact, everything else comes through, and it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from contexts import Agent, rules

from store.admin.check import check
from store.folder.backend import open_existing
from store.open import open_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def agent(folder: Path) -> Agent:
    """An agent whose store holds an allergy, a corrected fact, and one note more."""
    agent = Agent(open_store(str(folder)))
    agent.note("Priya is allergic to peanuts", klass="allergy", subjects=["priya"])
    agent.line("The database uses port 5432", "The database uses port 6432", subjects=["repo:api"])
    agent.note("Priya likes Thai food", subjects=["priya"])
    return agent


def damaged(agent: Agent, folder: Path, where: str, **columns: Any) -> Agent:
    """The same store with other values in these columns and the old checksum, as a flipped bit leaves it."""
    agent.store._backend.table.update(where=where, values=columns)  # type: ignore[attr-defined]
    return Agent(open_store(str(folder)))


ALLERGY = "text = 'Priya is allergic to peanuts'"
SUCCESSOR = "text = 'The database uses port 6432'"


def test_a_requirement_whose_words_are_damaged_binds_as_one_that_cannot_be_read(agent: Agent, folder: Path) -> None:
    """Fail closed: it is neither returned as it reads now nor left out."""
    hurt = damaged(agent, folder, ALLERGY, text="Priya is not allergic to peanuts")
    answer = hurt.constraints(["priya"])
    assert "ALLERGY: there is a requirement here that cannot be read. Ask the user what it says." in answer.text
    assert "DAMAGED" in answer.text
    assert "not allergic" not in answer.text


def test_a_class_that_is_damaged_in_its_column_is_read_from_the_body(agent: Agent, folder: Path) -> None:
    """The column only repeats what the body says, so nothing is lost."""
    hurt = damaged(agent, folder, ALLERGY, klasses=["note"])
    assert rules(hurt.constraints(["priya"])) == ["Priya is allergic to peanuts"]


def test_a_successor_whose_chain_is_damaged_is_still_returned_with_its_chain(agent: Agent, folder: Path) -> None:
    """Links are in the body."""
    hurt = damaged(agent, folder, SUCCESSOR, chain="0000000000000000")
    (chain,) = hurt.recall("database port", subjects=["repo:api"]).data.chains
    assert [view.text for view in chain.lead] == ["The database uses port 6432"]
    assert [view.status for view in chain.history] == ["superseded"]


def test_a_successor_whose_words_are_damaged_is_named_beside_what_it_may_have_replaced(
    agent: Agent, folder: Path
) -> None:
    """The old value never comes back as if nothing had happened."""
    hurt = damaged(agent, folder, SUCCESSOR, text="The database uses port 9999")
    answer = hurt.recall("database port", subjects=["repo:api"])
    assert "9999" not in answer.text
    assert "The database uses port 5432" in answer.text
    assert "DAMAGED: [" in answer.text


def test_a_row_that_cannot_be_understood_at_all_is_said_in_every_answer(agent: Agent, folder: Path) -> None:
    """Nobody can say then what is missing."""
    hurt = damaged(agent, folder, ALLERGY, klasses=["note"], text="nothing")
    said = "DAMAGED: 1 stored rows cannot be read at all, so a requirement or a correction may be missing here."
    assert said in hurt.constraints(["priya"]).text
    assert said in hurt.recall("Thai food").text
    assert "Priya likes Thai food" in hurt.recall("Thai food").text


@pytest.mark.parametrize(
    ("columns", "what"),
    [({"text": "x"}, "words"), ({"klasses": ["note"]}, "facts"), ({"subjects": ["tom"]}, "facts")],
)
def test_check_names_each_row_that_does_not_match_its_checksum(
    agent: Agent, folder: Path, columns: dict[str, Any], what: str
) -> None:
    """Whatever was changed."""
    damaged(agent, folder, ALLERGY, **columns)
    problems = check(open_existing(folder)).problems
    assert any(f"does not match its checksum: its {what} changed" in each for each in problems)


def test_an_index_that_lost_a_row_costs_a_scan_and_no_note(agent: Agent, folder: Path) -> None:
    """What a chain holds is known without an index, so a look-up by one that brings less is made again without it."""
    store = Agent(open_store(str(folder))).store
    ledger = store._ledger  # type: ignore[attr-defined]
    ids = ledger.current().event_ids()
    whole, asked = ledger._read, []

    def forgetful(query: Any) -> Any:
        asked.append(query)
        return whole(query).slice(1) if len(asked) == 1 else whole(query)

    ledger._read = forgetful
    found = ledger.events(ids)
    assert [each for each in ids if found[each] is None] == []
    assert len(asked) == 2
