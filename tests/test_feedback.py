"""What `feedback` promises: it moves the rank of a note a little, and nothing else."""

from __future__ import annotations

import pytest
from keepers import Teller, rules

from stilltrue.errors import Refused


def order(teller: Teller, query: str) -> list[str]:
    """The ids of the chains that a query brings, best first."""
    return [chain.id for chain in teller.recall(query).data.chains]


def test_what_helped_leads_and_what_misled_falls_behind(teller: Teller) -> None:
    """Of two that fit alike."""
    ids = [teller.note(f"deploy guide {name}", klass="fact") for name in ("alpha", "beta")]
    teller.feedback([ids[0]], "helped")
    assert order(teller, "deploy guide") == ids
    for _ in range(2):
        teller.feedback([ids[0]], "misled")
    assert order(teller, "deploy guide") == ids[::-1]


def test_one_misled_undoes_one_helped(teller: Teller) -> None:
    """The two are inverses."""
    note_id = teller.note("deploy guide")
    for outcome in ("helped", "misled"):
        teller.feedback([note_id], outcome)
    assert teller.chain_of(note_id).members[note_id].ratings == 0


def test_no_number_of_ratings_lifts_a_note_over_one_that_fits_better(teller: Teller) -> None:
    """Boosts are bounded: a popular note must not answer every question."""
    popular = teller.note("deploy guide", klass="fact")
    fitting = teller.note("parking at the harbour", klass="fact")
    for _ in range(40):
        teller.feedback([popular], "helped")
    assert order(teller, "parking at the harbour")[0] == fitting


def test_no_rating_changes_what_holds_or_binds(teller: Teller) -> None:
    """A rule that misled is a rule until somebody revokes it."""
    old, rule = teller.line("no nuts", "no peanuts", klass="allergy")
    for _ in range(20):
        teller.feedback([old, rule], "misled")
    assert (teller.status(old, rule), rules(teller.constraints())) == ("superseded, current", ["no peanuts"])


def test_each_of_several_notes_is_rated_once(teller: Teller) -> None:
    """Of one chain or of several, named twice or not; the answer names each."""
    ids = [*teller.line("one", "two"), teller.note("three")]
    answer = teller.feedback([*ids, f"[{ids[0]}]"], " Helped ")
    assert (answer.data.ids, answer.data.outcome) == (tuple(ids), "helped")
    assert [teller.chain_of(each).members[each].ratings for each in ids] == [1, 1, 1]
    assert answer.text == f"Noted: [{ids[0]}], [{ids[1]}], [{ids[2]}] helped."


def test_what_is_retired_can_be_rated(teller: Teller) -> None:
    """An answer used it before it was withdrawn."""
    note_id = teller.note("one")
    teller.revoke(note_id)
    assert teller.feedback([note_id], "misled").data.ids == (note_id,)


@pytest.mark.parametrize("outcome", ["", "ok", "helpful", "\x00"])
def test_an_outcome_is_helped_or_misled(teller: Teller, outcome: str) -> None:
    """Nothing is guessed."""
    note_id, rows = teller.note("one"), teller.written()
    with pytest.raises(Refused, match="helped or misled"):
        teller.feedback([note_id], outcome)
    assert teller.written() == rows


def test_one_unknown_id_refuses_the_whole_call(teller: Teller) -> None:
    """All or nothing."""
    note_id, rows = teller.note("one"), teller.written()
    with pytest.raises(Refused) as refused:
        teller.feedback([note_id, note_id[:10]], "helped")
    assert (refused.value.code, teller.written()) == ("short_id", rows)
