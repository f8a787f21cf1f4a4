"""What becomes of a note: the rules of the fold, each as a log and the statuses that follow from it."""

from __future__ import annotations

from log_text import FORMATTER, chain_of, day, folded, leads, log, statuses

from stilltrue.event import Rated
from stilltrue.lifecycle import Status, fold
from stilltrue.text.status_text import status_text_of


def test_only_the_newest_of_a_line_of_updates_is_current() -> None:
    """A <- B <- C: C is current, A and B are history."""
    assert (
        folded("""
            A  remembered "tests run with tox"
            B  remembered "tests run with nox" updates A
            C  remembered "tests run with pytest alone" updates B
        """)
        == "A superseded, B superseded, C current"
    )


def test_a_correction_supersedes_like_an_update() -> None:
    """The two kinds differ in what is shown of the old note, not in its status."""
    assert (
        folded("""
            A  remembered "the outage was the database"
            B  remembered "the outage was the proxy" corrects A
        """)
        == "A superseded, B current"
    )


def test_revoking_the_head_leaves_the_prior_value_unsettled() -> None:
    """What B replaced does not become true again: nobody has confirmed it."""
    assert (
        folded("""
            A  remembered "tests run with tox"
            B  remembered "tests run with nox" updates A
            -  revoked B because "it was the proxy"
        """)
        == "A unsettled, B revoked"
    )


def test_revoking_the_middle_changes_only_its_own_status() -> None:
    """A stays superseded, by C, through the revoked B."""
    assert (
        folded("""
            A  remembered
            B  remembered updates A
            C  remembered updates B
            -  revoked B
        """)
        == "A superseded, B revoked, C current"
    )


def test_revoking_head_and_middle_unsettles_what_both_replaced() -> None:
    """With nothing left in force, A is the prior value again, not confirmed."""
    assert (
        folded("""
            A  remembered
            B  remembered updates A
            C  remembered updates B
            -  revoked B
            -  revoked C
        """)
        == "A unsettled, B revoked, C revoked"
    )


def test_revoking_only_the_head_of_three_unsettles_the_middle_alone() -> None:
    """B is the prior value, not confirmed. It was not revoked, so A stays superseded by it."""
    assert (
        folded("""
            A  remembered
            B  remembered updates A
            C  remembered updates B
            -  revoked C
        """)
        == "A superseded, B unsettled, C revoked"
    )


def test_a_revoked_note_that_nothing_replaced_is_simply_revoked() -> None:
    """Revoking needs no successor."""
    assert folded("A  remembered \n -  revoked A") == "A revoked"


def test_reinstating_brings_back_exactly_what_was_before_the_revoke() -> None:
    """After a revoke and a reinstate, the head is current and what it replaced is superseded."""
    assert (
        folded("""
            A  remembered
            B  remembered updates A
            -  revoked B
            -  reinstated B
        """)
        == "A superseded, B current"
    )


def test_the_last_of_several_revocations_and_reinstatements_counts() -> None:
    """A note that is revoked again after it was reinstated is revoked."""
    assert (
        folded("""
            A  remembered
            -  revoked A
            -  reinstated A
            -  revoked A because "and wrong it was"
        """)
        == "A revoked"
    )


def test_the_revocation_in_force_is_the_one_that_is_known() -> None:
    """After a reinstatement, a new revocation gives the reason; a reinstated note has none."""
    chain = chain_of("""
        A  remembered
        -  revoked A because "first"
        -  reinstated A
        -  revoked A because "second"
        B  remembered refines A
        -  revoked B
        -  reinstated B
    """)
    assert chain.members["A"].revocation is not None
    assert chain.members["A"].revocation.reason == "second"
    assert chain.members["B"].revocation is None


def test_reinstating_the_middle_does_not_touch_its_neighbours() -> None:
    """B is history again, as before, because C is still in force."""
    assert (
        folded("""
            A  remembered
            B  remembered updates A
            C  remembered updates B
            -  revoked B
            -  reinstated B
        """)
        == "A superseded, B superseded, C current"
    )


def test_a_return_to_the_old_value_is_a_new_note() -> None:
    """A, then B, then A again: the third note supersedes B and is not a duplicate of the first."""
    assert (
        folded("""
            A  remembered "port 5432"
            B  remembered "port 5433" updates A
            C  remembered "port 5432" updates B
        """)
        == "A superseded, B superseded, C current"
    )


def test_a_retired_text_stored_again_without_a_link_resurrects_nothing() -> None:
    """It is a new note in a chain of its own, and the old one stays superseded."""
    again = """
        A  remembered "port 5432"
        B  remembered "port 5433" updates A
        C  remembered "port 5432"
    """
    assert folded(again) == "A superseded, B current, C current"
    assert leads(again) == "B | C"


def test_what_an_erased_note_replaced_stays_superseded() -> None:
    """Forgetting a successor must not bring the old value back."""
    assert (
        folded("""
            A  remembered
            B  remembered updates A
            -  erased B
        """)
        == "A superseded, B erased"
    )


def test_erasing_a_revoked_successor_lifts_no_requirement() -> None:
    """B was revoked, so A binds again; erasing B's text must not change that."""
    allergy = """
        A  remembered "no peanuts" as allergy
        B  remembered "peanuts are fine" as allergy updates A
        -  revoked B because "said of somebody else"
    """
    assert folded(allergy) == "A unsettled, B revoked"
    assert folded(f"{allergy}\n-  erased B") == "A unsettled, B erased"


def test_erasing_an_expired_successor_changes_nothing_for_what_it_replaced() -> None:
    """It had expired before it was erased."""
    assert (
        folded("""
            A  remembered
            B  remembered updates A until 5
            -  erased B @9
        """)
        == "A unsettled, B erased"
    )


def test_erasing_a_note_twice_changes_nothing() -> None:
    """The first erasure counts: B was in force then, though it has expired by the second."""
    erased = """
        A  remembered
        B  remembered updates A until 5
        -  erased B @4
    """
    assert folded(erased) == "A superseded, B erased"
    assert folded(f"{erased}\n-  erased B @9") == "A superseded, B erased"


def test_a_note_erased_later_kept_what_it_replaced_superseded_until_it_expired() -> None:
    """What counts is the moment that is asked about, however late the erasure is."""
    erased = """
        A  remembered
        B  remembered updates A until 5
        -  erased B @9
    """
    assert folded(erased, on=3) == "A superseded, B erased"


def test_an_erased_note_stays_erased_whatever_happens_to_it_later() -> None:
    """Erasure is final: a revocation, a reinstatement or a successor does not change the status."""
    assert (
        folded("""
            A  remembered
            -  revoked A
            -  erased A
            -  reinstated A
            B  remembered updates A
        """)
        == "A erased, B current"
    )


def test_a_revoked_note_with_a_successor_in_force_is_revoked() -> None:
    """Revoked comes before superseded, and what replaced it is still known."""
    chain = chain_of("""
        A  remembered
        B  remembered updates A
        -  revoked A
    """)
    assert statuses(chain.members) == "A revoked, B current"
    assert chain.members["A"].superseders == ("B",)


def test_ratings_are_counted_and_change_no_status() -> None:
    """The count is helped minus misled."""
    events = log("""
        A  remembered
        -  helped A
        -  helped A
        -  misled A
    """)
    assert sum(isinstance(event, Rated) for event in events) == 3
    (member,) = fold(events, day(100)).values()
    assert (member.status, member.ratings) == (Status.CURRENT, 1)


def test_an_unsettled_note_is_marked_with_the_reason_that_unsettled_it() -> None:
    """It is never delivered silently as current."""
    chain = chain_of('A  remembered \n B  remembered updates A \n -  revoked B because "it was the proxy"')
    mark = str(status_text_of(chain.members["A"], chain, FORMATTER))
    assert mark.startswith("NOT CONFIRMED")
    assert "it was the proxy" in mark
