"""What becomes of a note as time goes by: validity, what is pending, and what was known when."""

from __future__ import annotations

from log_text import chain_of, folded


def test_an_expired_successor_leaves_the_prior_value_unsettled() -> None:
    """Nobody said whether the old value holds again after the new one expires."""
    office = """
        A  remembered "the team sits in Porto"
        B  remembered "the team sits in Lyon for the summer" updates A until 30
    """
    assert folded(office, on=29) == "A superseded, B current"
    assert folded(office, on=30) == "A unsettled, B expired"


def test_a_note_expires_at_the_very_moment_at_which_its_validity_ends() -> None:
    """The end is excluded: at `valid_until` it no longer holds."""
    assert folded("A  remembered until 30", on=29.999) == "A current"
    assert folded("A  remembered until 30", on=30) == "A expired"


def test_a_note_is_current_from_the_very_moment_at_which_its_validity_begins() -> None:
    """The start is included: at `valid_from` it holds."""
    assert folded("A  remembered from 30", on=29.999) == "A pending"
    assert folded("A  remembered from 30", on=30) == "A current"


def test_a_note_holds_until_the_time_of_its_successor_has_come() -> None:
    """A pending successor retires nothing yet."""
    move = """
        A  remembered "the team sits in Porto"
        B  remembered "the team sits in Lyon" updates A from 30
    """
    assert folded(move, on=29) == "A current, B pending"
    assert folded(move, on=30) == "A superseded, B current"


def test_a_pending_successor_does_not_shield_what_a_later_one_replaced() -> None:
    """A <- B <- C, B pending: C is in force and is reached through B."""
    assert (
        folded("""
            A  remembered
            B  remembered updates A from 200
            C  remembered updates B
        """)
        == "A superseded, B superseded, C current"
    )


def test_a_successor_revoked_before_its_time_never_replaced_anything() -> None:
    """Nothing happened on day 30, so nothing changes on it."""
    moving = """
        A  remembered "the office is in Lyon"
        B  remembered "the office is in Bonn" updates A from 30
        -  revoked B because "the move is off" @3
    """
    assert folded(moving, on=29) == "A current, B revoked"
    assert folded(moving, on=31) == "A current, B revoked"


def test_a_successor_erased_before_its_time_never_replaced_anything() -> None:
    """It was not in force when it was erased, and it never will be."""
    moving = """
        A  remembered "the office is in Lyon"
        B  remembered "the office is in Bonn" updates A from 30
        -  erased B @3
    """
    assert folded(moving, on=29) == "A current, B erased"
    assert folded(moving, on=31) == "A current, B erased"


def test_a_requirement_still_binds_after_its_pending_successor_is_erased() -> None:
    """Forgetting lifts no requirement."""
    allergy = """
        A  remembered "no peanuts" as allergy
        B  remembered "peanuts are fine" as fact updates A from 30
        -  erased B @3
    """
    assert folded(allergy, on=29) == folded(allergy, on=31) == "A current, B erased"


def test_a_note_erased_once_its_time_has_come_keeps_what_it_replaced_superseded() -> None:
    """The start is included: erased at the very moment at which it begins to hold, it was in force."""
    assert folded("A  remembered \n B  remembered updates A from 30 \n -  erased B @30") == "A superseded, B erased"


def test_the_first_of_two_revocations_decides_whether_a_note_took_effect() -> None:
    """The second, after the note's time has come, revokes what is revoked already."""
    moving = """
        A  remembered
        B  remembered updates A from 30
        -  revoked B because "the move is off" @3
        -  revoked B because "still off" @40
    """
    assert folded(moving, on=50) == "A current, B revoked"
    revocation = chain_of(moving).members["B"].revocation
    assert revocation is not None
    assert revocation.reason == "the move is off"


def test_a_note_reinstated_before_its_time_and_revoked_after_it_took_effect_in_between() -> None:
    """The revocation in force came after its time, so what it replaced is not confirmed."""
    moving = """
        A  remembered
        B  remembered updates A from 30
        -  revoked B @3
        -  reinstated B @4
        -  revoked B @40
    """
    assert folded(moving, on=35) == "A unsettled, B revoked"
    assert folded(moving, on=35, known=35) == "A superseded, B current"


def test_as_of_a_moment_only_what_was_recorded_by_then_is_known() -> None:
    """What did we believe on day 2? The note that was superseded on day 3."""
    history = """
        A  remembered  @1
        B  remembered updates A  @3
        -  revoked B  @5
        -  reinstated B  @7
    """
    assert folded(history, on=2, known=2) == "A current"
    assert folded(history, on=3, known=3) == "A superseded, B current"
    assert folded(history, on=5, known=5) == "A unsettled, B revoked"
    assert folded(history, on=7, known=7) == "A superseded, B current"
