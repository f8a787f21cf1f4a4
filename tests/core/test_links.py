"""What a link does to the older note: merges, forks, refinements, circles."""

from __future__ import annotations

import pytest
from log_text import chain_of, folded, ids


def test_a_merge_supersedes_every_note_that_it_names() -> None:
    """One note can take the place of several."""
    assert (
        folded("""
            A  remembered "Priya likes tea"
            B  remembered "Priya drinks tea in the morning"
            C  remembered "Priya drinks tea, mornings only" updates A, B
        """)
        == "A superseded, B superseded, C current"
    )


def test_revoking_a_merge_unsettles_every_note_that_it_replaced() -> None:
    """None of them is silently true again."""
    assert (
        folded("""
            A  remembered
            B  remembered
            C  remembered updates A corrects B
            -  revoked C
        """)
        == "A unsettled, B unsettled, C revoked"
    )


def test_a_note_with_two_successors_is_superseded_while_one_of_them_stands() -> None:
    """Unsettled takes that none stands."""
    fork = """
        A  remembered
        B  remembered updates A
        C  remembered updates A
        -  revoked C
    """
    assert folded(fork) == "A superseded, B current, C revoked"
    assert folded(fork + "-  revoked B") == "A unsettled, B revoked, C revoked"


def test_a_refinement_retires_nothing() -> None:
    """Both notes hold."""
    assert (
        folded("""
            A  remembered "Priya is vegetarian"
            B  remembered "she eats eggs" refines A
        """)
        == "A current, B current"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("-  revoked A", "A revoked, B current"),
        ("C  remembered updates A", "A superseded, B current, C current"),
        ("-  erased A", "A erased, B current"),
    ],
)
def test_a_refinement_keeps_its_own_status_whatever_becomes_of_its_base(line: str, expected: str) -> None:
    """It is told with what happened to its base, but it does not fall with it."""
    base = "A  remembered \n B  remembered refines A \n"
    assert folded(base + line) == expected


def test_superseding_a_refinement_leaves_its_base_alone() -> None:
    """Refinement links are not followed when the fold looks for what retires a note."""
    assert (
        folded("""
            A  remembered
            B  remembered refines A
            C  remembered updates B
            -  revoked C
        """)
        == "A current, B unsettled, C revoked"
    )


def test_in_a_circle_no_note_is_current() -> None:
    """Only an import could make one; each is superseded by the other."""
    assert folded("A  remembered updates B \n B  remembered updates A") == "A superseded, B superseded"


def test_the_fold_ignores_links_and_events_that_name_unknown_notes() -> None:
    """The events of a chain are enough; what points elsewhere is no part of it."""
    assert folded("A  remembered updates Z \n -  revoked Q") == "A current"


def test_an_unsettled_note_names_what_fell_away() -> None:
    """The successors that once retired it, nearest first; a pending one is not among them."""
    chain = chain_of("""
        A  remembered
        B  remembered updates A until 50
        C  remembered updates B from 200
        D  remembered corrects B
        -  revoked D
    """)
    assert chain.members["A"].fallen == ("B", "D")
    assert chain.members["A"].superseders == ()


def test_a_superseded_note_names_the_nearest_that_stand() -> None:
    """What replaced the replacement in turn is that one's own business."""
    chain = chain_of("""
        A  remembered
        B  remembered updates A
        C  remembered updates B
        D  remembered updates A
        -  revoked B
    """)
    assert ids(chain.members["A"].superseders) == "D C"
