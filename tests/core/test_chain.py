"""From any note to its whole chain: what leads, what is history, what is never cut and what may be."""

from __future__ import annotations

from log_text import LATER, chain_of, day, ids, leads, log, statuses

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
    assert leads(LINE) == "C"


def test_without_a_head_the_unsettled_notes_lead() -> None:
    """B is revoked. What it replaced leads, and B is never cut, being newer."""
    chain = chain_of("A  remembered \n B  remembered updates A \n -  revoked B")
    assert chain.lead == ("A",)
    assert deliver(chain, []).must == {"A", "B"}


def test_a_revoked_merge_leaves_all_that_it_replaced_in_the_lead() -> None:
    """None of them may be dropped: each is the prior value of something."""
    assert leads(MERGE + "-  revoked C") == "A (unsettled) B (unsettled)"


def test_with_neither_head_nor_unsettled_note_the_revocation_leads() -> None:
    """A note that was withdrawn and never replaced is still reported as withdrawn."""
    assert leads("A  remembered \n -  revoked A") == "A (revoked)"


def test_an_expired_erased_or_pending_note_leads_if_nothing_else_is_left() -> None:
    """A chain always has a lead."""
    assert leads("A  remembered until 9") == "A (expired)"
    assert leads("A  remembered \n B  remembered updates A \n -  erased B") == "B (erased)"
    assert leads("A  remembered from 200") == "A (pending)"


def test_a_superseded_note_never_leads() -> None:
    """If the successor was erased and its own successor revoked, the ends lead, not what they replaced."""
    assert (
        leads("""
            A  remembered
            B  remembered updates A
            -  erased B
            C  remembered updates B
            -  revoked C
        """)
        == "B (erased) C (revoked)"
    )


def test_a_revoked_note_that_was_replaced_does_not_lead_beside_its_replacement() -> None:
    """It is not an end of the chain: the erased note that replaced it shows what became of it."""
    assert leads("A  remembered \n -  revoked A \n B  remembered updates A \n -  erased B") == "B (erased)"


def test_a_pending_note_does_not_lead_while_another_holds() -> None:
    """The pending successor comes after the head, and is never cut."""
    chain = chain_of("A  remembered \n B  remembered updates A from 200")
    delivery = deliver(chain, ["A"])
    assert (ids(delivery.lead), ids(delivery.rest), delivery.must) == ("A", "B", {"A", "B"})


def test_two_notes_that_replace_the_same_one_are_contested_and_both_lead() -> None:
    """Nothing picks a winner."""
    assert leads(FORK) == "B C contested"


def test_a_conflict_ends_when_a_note_supersedes_both_sides() -> None:
    """The merge is the only head."""
    assert leads(FORK + "D  remembered updates B corrects C") == "D"


def test_a_conflict_ends_when_one_side_is_revoked() -> None:
    """One head is left, and the revocation of the other does not unsettle it."""
    assert leads(FORK + "-  revoked C") == "B"


def test_a_reinstated_note_contests_what_replaced_its_base_meanwhile() -> None:
    """B was revoked and C replaced A. With B back, both hold, and the chain is contested."""
    assert (
        leads("""
            A  remembered
            B  remembered updates A
            -  revoked B
            C  remembered updates A
            -  reinstated B
        """)
        == "B C contested"
    )


def test_a_note_and_its_refinement_lead_together_and_do_not_contest() -> None:
    """Both hold: a refinement adds and does not replace."""
    assert leads("A  remembered \n B  remembered refines A") == "A B"


def test_two_refinements_of_one_note_do_not_contest() -> None:
    """A contest needs two heads connected by links that supersede."""
    assert leads("A  remembered \n B  remembered refines A \n C  remembered refines A") == "A B C"


def test_a_refinement_that_also_corrects_another_note_joins_their_chains() -> None:
    """Links of every kind connect."""
    assert leads("A  remembered \n B  remembered \n C  remembered refines A corrects B") == "A C"


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


def test_the_closure_is_everything_newer_over_links_of_every_kind() -> None:
    """That includes a refinement and what corrects the refinement; it never leads back to what is older."""
    chain = chain_of("""
        A  remembered
        B  remembered refines A
        C  remembered corrects B
        D  remembered updates A
    """)
    assert chain.closure(["A"]) == {"A", "B", "C", "D"}
    assert chain.closure(["B"]) == {"B", "C"}
    assert chain.closure([]) == frozenset()


def test_history_follows_the_lead_from_newest_to_oldest() -> None:
    """The order is causal, whatever scored best."""
    delivery = deliver(chain_of(LINE), ["A"])
    assert (ids(delivery.lead), ids(delivery.rest)) == ("C", "B A")


def test_what_is_newer_than_the_entry_is_cut_last() -> None:
    """Entered by B, A is cut before B is; what holds is never cut."""
    chain = chain_of(LINE)
    assert deliver(chain, ["B"]).wanted == {"B", "C"}
    assert deliver(chain, ["A"]).wanted == {"A", "B", "C"}
    assert [deliver(chain, entries).must for entries in ([], ["A"])] == [{"C"}, {"C"}]


def test_several_entries_into_one_chain_are_all_wanted() -> None:
    """Entered by both branches of a merge, it keeps both as long as it can."""
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
    """All of it is delivered, flagged; a current note beside the circle does not hide it."""
    circle = "A  remembered updates B \n B  remembered updates A \n C  remembered refines A"
    chain = chain_of(circle)
    assert (chain.cyclic, chain.heads, chain.lead) == (True, (), ("A", "B", "C"))
    assert not chain.retired


def test_a_note_that_links_to_itself_is_a_circle() -> None:
    """It cannot be stored, but an old or foreign store may have one."""
    assert leads("A  remembered updates A") == "A (current) cyclic"


def test_a_merge_of_two_branches_is_not_a_circle() -> None:
    """A diamond comes together again without leading back."""
    assert leads(FORK + "D  remembered updates B, C") == "D"


def _then_and_now(text: str, then: float) -> tuple[Chain, Chain]:
    return chain_of(text, on=then, known=then), chain_of(text)


def test_as_of_an_earlier_day_the_head_of_that_day_leads_and_later_notes_follow() -> None:
    """The answer to "what did we believe then" is A; B follows as recorded since."""
    then, now = _then_and_now("A  remembered @1 \n B  remembered corrects A @5", then=3)
    delivery = deliver(then, ["A"], today=now)
    assert (ids(delivery.lead), ids(delivery.since)) == ("A", "B")
    assert statuses(then.members) == "A current"
    assert delivery.today is not None
    assert delivery.today.members["A"].status is Status.SUPERSEDED


def test_as_of_an_earlier_day_every_later_note_is_delivered_not_only_the_head() -> None:
    """Everything newer than what is delivered is in the same chain of the result."""
    then, now = _then_and_now("A  remembered @1 \n B  remembered updates A @5 \n C  remembered refines B @6", then=3)
    assert ids(deliver(then, [], today=now).since) == "B C"


def test_as_of_an_earlier_day_an_older_note_that_a_merge_joined_later_is_left_out() -> None:
    """It was not in the chain on that day; only what is newer counts."""
    then, now = _then_and_now("A  remembered @1 \n B  remembered @4 \n C  remembered updates A, B @5", then=3)
    assert ids(deliver(then, ["A"], today=now).since) == "C"


def test_as_of_today_there_is_nothing_since() -> None:
    """Nothing is newer than the chain itself."""
    chain = chain_of(LINE)
    assert deliver(chain, ["A"], today=chain).since == ()
    assert deliver(chain, ["A"]).today is None


def test_partition_puts_every_event_into_the_chain_of_its_note() -> None:
    """A merge joins parts; events of unknown notes are left out."""
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
