"""From any note to its whole chain: what leads, what is history, what must be told and what may be cut."""

from __future__ import annotations

from log_text import LATER, chain_of, day, ids, log, statuses, told

from stilltrue.chain import Chain, chains, deliver, partition
from stilltrue.lifecycle import Status

LINE = """
    A  remembered
    B  remembered updates A
    C  remembered updates B
"""
MERGE = """
    A  remembered
    B  remembered
    C  remembered updates A, B
"""
FORK = """
    A  remembered
    B  remembered updates A
    C  remembered updates A
"""


def test_the_head_leads_its_chain() -> None:
    """A <- B <- C is led by C alone."""
    assert told(LINE) == "C"


def test_without_a_head_the_unsettled_notes_lead() -> None:
    """B is revoked; what it replaced leads, and B goes with it, being newer."""
    chain = chain_of("A  remembered \n B  remembered updates A \n -  revoked B")
    assert chain.lead == ("A",)
    assert deliver(chain, []).must == {"A", "B"}


def test_a_revoked_merge_leaves_all_that_it_replaced_in_the_lead() -> None:
    """None of them may be dropped: each is the prior value of something."""
    assert told(MERGE + "-  revoked C") == "A (unsettled) B (unsettled)"


def test_with_neither_head_nor_unsettled_note_the_revocation_leads() -> None:
    """A note that was withdrawn and never replaced still tells that it was."""
    assert told("A  remembered \n -  revoked A") == "A (revoked)"


def test_an_expiry_or_an_erasure_leads_where_nothing_else_is_left() -> None:
    """A chain is never without a lead."""
    assert told("A  remembered until 9") == "A (expired)"
    assert told("A  remembered \n B  remembered updates A \n -  erased B") == "B (erased)"
    assert told("A  remembered from 200") == "A (pending)"


def test_a_superseded_note_never_leads() -> None:
    """Where the successor was erased and its own successor revoked, the ends lead, not what they replaced."""
    assert (
        told("""
            A  remembered
            B  remembered updates A
            -  erased B
            C  remembered updates B
            -  revoked C
        """)
        == "B (erased) C (revoked)"
    )


def test_a_revoked_note_that_was_replaced_does_not_lead_beside_its_replacement() -> None:
    """It is no end of the chain: what came of it is told by the erased note that took its place."""
    assert told("A  remembered \n -  revoked A \n B  remembered updates A \n -  erased B") == "B (erased)"


def test_a_note_that_will_hold_does_not_lead_before_one_that_holds() -> None:
    """The pending successor is told after the head, and always told."""
    chain = chain_of("A  remembered \n B  remembered updates A from 200")
    delivery = deliver(chain, ["A"])
    assert (ids(delivery.lead), ids(delivery.rest), delivery.must) == ("A", "B", {"A", "B"})


def test_two_notes_that_replace_the_same_one_are_contested_and_both_lead() -> None:
    """Nothing picks a winner."""
    assert told(FORK) == "B C contested"


def test_a_conflict_ends_when_a_note_supersedes_both_sides() -> None:
    """The merge is the one head."""
    assert told(FORK + "D  remembered updates B corrects C") == "D"


def test_a_conflict_ends_when_one_side_is_revoked() -> None:
    """One head is left, and it does not become unsettled by the other's fall."""
    assert told(FORK + "-  revoked C") == "B"


def test_a_reinstated_note_contests_what_replaced_its_base_meanwhile() -> None:
    """B was revoked, C took its place over A; with B back, both hold and that is said."""
    assert (
        told("""
            A  remembered
            B  remembered updates A
            -  revoked B
            C  remembered updates A
            -  reinstated B
        """)
        == "B C contested"
    )


def test_a_note_and_its_refinement_lead_together_and_do_not_contest() -> None:
    """Both hold: a refinement adds, it does not replace."""
    assert told("A  remembered \n B  remembered refines A") == "A B"


def test_two_refinements_of_one_note_do_not_contest() -> None:
    """A conflict takes two heads over links that supersede."""
    assert told("A  remembered \n B  remembered refines A \n C  remembered refines A") == "A B C"


def test_a_refinement_that_also_corrects_another_note_joins_their_chains() -> None:
    """Links of every kind connect."""
    assert told("A  remembered \n B  remembered \n C  remembered refines A corrects B") == "A C"


def test_notes_without_links_are_chains_of_their_own() -> None:
    """Chains come in the order of their oldest notes."""
    found = chains(log("A  remembered \n B  remembered \n C  remembered updates A"), day(LATER))
    assert [list(chain.members) for chain in found] == [["A", "C"], ["B"]]
    assert [chain.id for chain in found] == ["A", "B"]


def test_a_merge_makes_one_chain_of_two() -> None:
    """Entering by either side brings the merged note."""
    chain = chain_of(MERGE)
    assert chain.id == "A"
    assert chain.closure(["A"]) == {"A", "C"}
    assert chain.closure(["B"]) == {"B", "C"}


def test_the_closure_leads_to_everything_newer_over_links_of_every_kind() -> None:
    """Also over a refinement and what corrects the refinement in turn; never back to what is older."""
    chain = chain_of("""
        A  remembered
        B  remembered refines A
        C  remembered corrects B
        D  remembered updates A
    """)
    assert chain.closure(["A"]) == {"A", "B", "C", "D"}
    assert chain.closure(["B"]) == {"B", "C"}
    assert chain.closure([]) == frozenset()


def test_history_is_told_from_newest_to_oldest_after_the_lead() -> None:
    """The order is causal, whatever scored best."""
    delivery = deliver(chain_of(LINE), ["A"])
    assert (ids(delivery.lead), ids(delivery.rest)) == ("C", "B A")


def test_what_is_newer_than_the_note_entered_by_is_cut_last() -> None:
    """Entered by B, A goes before B does; what holds never goes."""
    chain = chain_of(LINE)
    assert deliver(chain, ["B"]).wanted == {"B", "C"}
    assert deliver(chain, ["A"]).wanted == {"A", "B", "C"}
    assert [deliver(chain, entries).must for entries in ([], ["A"])] == [{"C"}, {"C"}]


def test_several_entries_into_one_chain_are_one_telling_that_must_tell_all_of_them() -> None:
    """Entered on both branches of a merge, both must be told."""
    assert deliver(chain_of(MERGE), ["A", "B"]).wanted == {"A", "B", "C"}


def test_entries_of_other_chains_are_ignored() -> None:
    """A caller may pass all hits to each chain."""
    assert deliver(chain_of(LINE), ["Z", "C"]).wanted == {"C"}


def test_a_chain_is_about_the_subjects_of_all_its_notes() -> None:
    """A successor that names other subjects is found by the old ones as well."""
    chain = chain_of("A  remembered about priya, team \n B  remembered about team, tom updates A")
    assert chain.subjects == {"priya", "team", "tom"}


def test_a_chain_is_retired_when_nothing_in_it_holds_or_may_hold() -> None:
    """Revoked, expired or erased ends retire it; an unsettled or a pending note does not."""
    assert chain_of("A  remembered \n -  revoked A").retired
    assert chain_of("A  remembered until 9").retired
    assert not chain_of(LINE).retired
    assert not chain_of(LINE + "-  revoked C").retired
    assert not chain_of("A  remembered from 200").retired


def test_in_a_circle_every_member_leads_and_none_is_a_head() -> None:
    """All are delivered, flagged; a current note beside the circle does not hide it."""
    circle = "A  remembered updates B \n B  remembered updates A \n C  remembered refines A"
    chain = chain_of(circle)
    assert (chain.cyclic, chain.heads, chain.lead) == (True, (), ("A", "B", "C"))
    assert not chain.retired


def test_a_note_that_links_to_itself_is_a_circle() -> None:
    """It cannot be stored, but an old or foreign store may hold one."""
    assert told("A  remembered updates A") == "A (current) cyclic"


def test_a_merge_of_two_branches_is_no_circle() -> None:
    """A diamond joins again without leading back."""
    assert told(FORK + "D  remembered updates B, C") == "D"


def _then_and_now(text: str, then: float) -> tuple[Chain, Chain]:
    return chain_of(text, on=then, known=then), chain_of(text)


def test_as_of_an_earlier_day_the_head_of_that_day_leads_and_what_came_since_is_told() -> None:
    """The answer to "what did we hold then" is A; B is told as what is known since."""
    then, now = _then_and_now("A  remembered @1 \n B  remembered corrects A @5", then=3)
    delivery = deliver(then, ["A"], today=now)
    assert (ids(delivery.lead), ids(delivery.since)) == ("A", "B")
    assert statuses(then.members) == "A current"
    assert delivery.today is not None
    assert delivery.today.members["A"].status is Status.SUPERSEDED


def test_as_of_an_earlier_day_every_later_note_is_told_not_only_the_head() -> None:
    """Everything newer than what is delivered is in the same chain of the result."""
    then, now = _then_and_now("A  remembered @1 \n B  remembered updates A @5 \n C  remembered refines B @6", then=3)
    assert ids(deliver(then, [], today=now).since) == "B C"


def test_as_of_an_earlier_day_an_older_note_that_a_merge_joined_later_is_not_told() -> None:
    """The chain of that day had nothing to do with it; only what is newer counts."""
    then, now = _then_and_now("A  remembered @1 \n B  remembered @4 \n C  remembered updates A, B @5", then=3)
    assert ids(deliver(then, ["A"], today=now).since) == "C"


def test_as_of_today_there_is_nothing_since() -> None:
    """The same chain on both sides differs in nothing."""
    chain = chain_of(LINE)
    assert deliver(chain, ["A"], today=chain).since == ()
    assert deliver(chain, ["A"]).today is None


def test_the_log_is_parted_by_chain_with_every_event_beside_its_note() -> None:
    """A merge joins the parts; events of unknown notes belong nowhere."""
    events = log("""
        A  remembered
        B  remembered
        C  remembered
        -  revoked B
        D  remembered updates A, C
        -  revoked Q
        -  revoked A
    """)
    parts = partition(reversed(events))
    assert [[event.id for event in part] for part in parts] == [["A", "C", "D", "D.07"], ["B", "C.04"]]
