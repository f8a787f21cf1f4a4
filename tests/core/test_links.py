"""What a link does to the older note: merges, forks, refinements, circles."""

from __future__ import annotations

import pytest
from log_text import chain_of, folded, ids


def test_a_merge_supersedes_every_note_that_it_names() -> None:
    """One note can replace several."""
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


def test_a_note_with_two_successors_is_superseded_while_one_of_them_is_in_force() -> None:
    """It is unsettled only if none is."""
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
    """It is shown with what happened to its base, but its status does not depend on it."""
    base = "A  remembered \n B  remembered refines A \n"
    assert folded(base + line) == expected


def test_superseding_a_refinement_leaves_its_base_alone() -> None:
    """The fold does not follow refinement links when it looks for what retires a note."""
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
    """Each is superseded by the other. Only an import could make a circle."""
    assert folded("A  remembered updates B \n B  remembered updates A") == "A superseded, B superseded"


def test_the_fold_ignores_links_and_events_that_name_unknown_notes() -> None:
    """The events of a chain are enough; what refers to something else is not part of it."""
    assert folded("A  remembered updates Z \n -  revoked Q") == "A current"


def test_an_unsettled_note_names_the_successors_no_longer_in_force() -> None:
    """Nearest first; a pending successor is not among them."""
    chain = chain_of("""
        A  remembered
        B  remembered updates A until 50
        C  remembered updates B from 200
        D  remembered corrects B
        -  revoked D
    """)
    assert chain.members["A"].fallen == ("B", "D")
    assert chain.members["A"].superseders == ()


def test_a_superseded_note_names_the_nearest_successors_in_force() -> None:
    """What replaced the replacement in turn is not among them."""
    chain = chain_of("""
        A  remembered
        B  remembered updates A
        C  remembered updates B
        D  remembered updates A
        -  revoked B
    """)
    assert ids(chain.members["A"].superseders) == "D C"
