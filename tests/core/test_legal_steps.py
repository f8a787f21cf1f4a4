"""What may be done to a note: the table of states, and the page that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_text import chain_of, folded

from stilltrue.lifecycle import STATES, Status, Step, is_legal, table

LIFECYCLE_PAGE = Path(__file__).resolve().parents[2] / "docs" / "lifecycle.md"


LEGAL = {
    "A current": ("A  remembered", "supersede refine revoke"),
    "A unsettled": ("A  remembered \n B  remembered updates A \n - revoked B", "supersede refine revoke"),
    "A pending": ("A  remembered from 200", "supersede refine revoke"),
    "A expired": ("A  remembered until 9", "supersede revoke"),
    "A superseded": ("A  remembered \n B  remembered updates A", "revoke"),
    "A revoked": ("A  remembered \n - revoked A", "supersede reinstate"),
    "A erased": ("A  remembered \n - erased A", ""),
}


@pytest.mark.parametrize(("expected", "case"), LEGAL.items())
def test_each_status_allows_its_own_steps_and_no_others(expected: str, case: tuple[str, str]) -> None:
    """Only an end of a chain is superseded, only a revoked note is reinstated, and an erased note is left alone."""
    text, steps = case
    member = chain_of(text).members["A"]
    assert f"A {member.status}" == expected
    assert [step for step in Step if is_legal(step, member)] == steps.split()


def test_a_revoked_note_that_has_been_replaced_cannot_be_superseded_again() -> None:
    """It is not an end of its chain: a second successor would contest the first. It can still be reinstated."""
    middle = chain_of("A  remembered \n B  remembered updates A \n -  revoked A").members["A"]
    assert not is_legal(Step.SUPERSEDE, middle)
    assert is_legal(Step.REINSTATE, middle)


def test_a_revoked_note_whose_successor_was_revoked_too_can_be_superseded() -> None:
    """Nothing in force has replaced it, so a successor opens no second branch."""
    fallen = chain_of("A  remembered \n B  remembered updates A \n -  revoked A \n -  revoked B").members["A"]
    assert is_legal(Step.SUPERSEDE, fallen)


def test_only_current_and_unsettled_notes_bind() -> None:
    """A requirement binds while it holds, and while nobody knows that it does not."""
    assert {status for status, row in STATES.items() if row.binds} == {Status.CURRENT, Status.UNSETTLED}


def test_the_table_knows_every_status_in_the_order_of_the_fold() -> None:
    """The first that fits is the status, so the order is part of the rule."""
    assert list(STATES) == ["erased", "revoked", "superseded", "unsettled", "pending", "expired", "current"]
    assert set(STATES) == set(Status)


def test_the_page_on_the_lifecycle_shows_the_table_as_it_is() -> None:
    """When the table changes, paste into docs/lifecycle.md what `stilltrue.lifecycle.table()` returns."""
    page = LIFECYCLE_PAGE.read_text(encoding="utf-8")
    assert f"\n\n{table()}\n" in page


def test_the_worked_example_of_the_page_is_what_the_fold_says() -> None:
    """Each log on the page is followed by the statuses that it leads to."""
    page = LIFECYCLE_PAGE.read_text(encoding="utf-8")
    blocks = [block.strip("\n") for block in page.split("```")[1::2]]
    shown = list(zip(blocks[::2], blocks[1::2], strict=True))
    assert len(shown) >= 3
    assert [folded(text.removeprefix("text\n")) for text, _ in shown] == [
        result.removeprefix("text\n") for _, result in shown
    ]
