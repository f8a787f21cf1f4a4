"""The invariants of the fold, of the chains and of the packing, over random logs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from log_text import FORMATTER
from strategies import logs, moments

from stilltrue.chain import Chain, chains, deliver
from stilltrue.event import Event, Reinstated, Revoked
from stilltrue.ids import stamp
from stilltrue.lifecycle import Status, Step, fold, is_legal
from stilltrue.text.budget import Packed, Parcel, estimate_tokens, pack
from stilltrue.text.render import render_chain

thorough = settings(deadline=None)
budgets = st.integers(0, 600)
entries = st.sets(st.integers(0, 30), max_size=3)


def pick(log: list[Event], chosen: set[int]) -> list[str]:
    """The ids of some notes of the log."""
    notes = sorted({event.note_id for event in log})
    return [notes[number % len(notes)] for number in sorted(chosen)]


def delivered(chain: Chain, entered: list[str], budget: int, today: Chain | None = None) -> Packed | None:
    """The chain as it is delivered within that budget; None if it does not fit."""
    delivery = deliver(chain, entered, today)
    packed, omitted = pack([Parcel(chain.id, render_chain(delivery, FORMATTER).lines)], budget)
    assert len(packed) + len(omitted) == 1
    return packed[0] if packed else None


def shown(packed: Packed) -> dict[str, str]:
    """The line of each note in the delivered chain, by its id."""
    return {line.note_id: line.text for line in packed.lines if line.note_id}


# Invariant 1, closure


@given(logs(), moments(), entries, budgets)
@thorough
def test_no_note_is_delivered_without_all_that_is_newer_in_its_chain(
    log: list[Event], moment: datetime, chosen: set[int], budget: int
) -> None:
    """Every note reachable over links towards newer ones is in the same chain of the result, at any budget."""
    for chain in chains(log, moment):
        packed = delivered(chain, pick(log, chosen), budget)
        if packed:
            assert chain.closure(shown(packed)) <= shown(packed).keys()


@given(logs(), moments(), entries, budgets)
@thorough
def test_no_note_is_delivered_without_every_revocation_of_it_and_of_what_is_newer(
    log: list[Event], moment: datetime, chosen: set[int], budget: int
) -> None:
    """The reason of the revocation in force is on the note's own line."""
    for chain in chains(log, moment):
        packed = delivered(chain, pick(log, chosen), budget)
        for note_id in chain.closure(shown(packed)) if packed else ():
            member = chain.members[note_id]
            if member.revocation and member.status is not Status.ERASED:
                assert member.revocation.reason in shown(packed)[note_id]


@given(logs(), moments(), entries, budgets)
@thorough
def test_the_notes_by_which_a_chain_was_entered_are_cut_after_all_others(
    log: list[Event], moment: datetime, chosen: set[int], budget: int
) -> None:
    """If one of them is missing, only the path from them to what holds is left, and what holds."""
    entered = pick(log, chosen)
    for chain in chains(log, moment):
        packed = delivered(chain, entered, budget)
        if packed and not {*entered} & chain.members.keys() <= shown(packed).keys():
            delivery = deliver(chain, entered)
            assert shown(packed).keys() <= delivery.must | delivery.wanted


@given(logs(), moments(), entries, budgets)
@thorough
def test_as_of_a_moment_no_note_is_delivered_without_what_is_newer_today(
    log: list[Event], moment: datetime, chosen: set[int], budget: int
) -> None:
    """What was believed then is shown with everything that has replaced it since."""
    end = max(event.at for event in log) + timedelta(days=1)
    now = {note_id: chain for chain in chains(log, end) for note_id in chain.members}
    for chain in chains(log, moment, recorded_until=moment):
        packed = delivered(chain, pick(log, chosen), budget, now[chain.id])
        if packed:
            assert now[chain.id].closure(shown(packed)) <= shown(packed).keys()


@given(logs(), moments())
@thorough
def test_as_of_a_moment_a_note_whose_status_has_changed_since_says_so(log: list[Event], moment: datetime) -> None:
    """A note with another status today is never shown as if nothing had happened to it."""
    end = max(event.at for event in log) + timedelta(days=100)
    now = {note_id: chain for chain in chains(log, end) for note_id in chain.members}
    for chain in chains(log, moment, recorded_until=moment):
        packed = delivered(chain, [], 10**6, now[chain.id])
        assert packed is not None
        for note_id, line in shown(packed).items():
            then, today = chain.members.get(note_id), now[chain.id].members[note_id]
            assert then is None or then.status is today.status or "KNOWN TODAY" in line


# Invariant 3, lead first


@given(logs(), moments(), entries)
@thorough
def test_every_chain_has_a_lead_and_no_superseded_note_is_in_it(
    log: list[Event], moment: datetime, chosen: set[int]
) -> None:
    """Heads lead; without them, the unsettled notes; without those, the ends."""
    for chain in chains(log, moment):
        led_by = {chain.members[note_id].status for note_id in chain.lead}
        present = {member.status for member in chain.members.values()}
        assert led_by
        assert Status.SUPERSEDED not in led_by
        assert led_by == {Status.CURRENT} or Status.CURRENT not in present
        assert led_by <= {Status.CURRENT, Status.UNSETTLED} or not present & {Status.CURRENT, Status.UNSETTLED}


@given(logs(), moments(), entries)
@thorough
def test_history_follows_the_lead_from_newest_to_oldest(log: list[Event], moment: datetime, chosen: set[int]) -> None:
    """The order inside a chain is causal, whatever scored well."""
    for chain in chains(log, moment):
        packed = delivered(chain, pick(log, chosen), 10**6)
        assert packed is not None
        order = list(shown(packed))
        assert tuple(order[: len(chain.lead)]) == chain.lead
        assert order[len(chain.lead) :] == sorted(chain.members.keys() - {*chain.lead}, reverse=True)


# Invariant 4, budget


@given(logs(), moments(), entries, budgets, st.sampled_from([estimate_tokens, len]))
@thorough
def test_the_delivered_chains_do_not_exceed_the_budget_and_the_others_are_named(
    log: list[Event], moment: datetime, chosen: set[int], budget: int, count: Callable[[str], int]
) -> None:
    """Counted over the text as it is delivered."""
    found = chains(log, moment)
    parcels = [Parcel(chain.id, render_chain(deliver(chain, pick(log, chosen)), FORMATTER).lines) for chain in found]
    packed, omitted = pack(parcels, budget, count)
    assert count("\n".join(each.text for each in packed)) <= budget or not packed
    assert {each.parcel.key for each in packed} | {each.key for each in omitted} == {chain.id for chain in found}
    for each in packed:
        assert each.hidden == len(each.parcel.lines) - len(each.lines)


# Invariant 6, replay


@given(logs(), moments(), moments())
@thorough
def test_folding_up_to_a_moment_does_not_depend_on_what_was_recorded_later(
    log: list[Event], moment: datetime, known: datetime
) -> None:
    """Later events do not change the past of a log."""
    past = [event for event in log if event.at <= known]
    assert fold(log, moment, recorded_until=known) == fold(past, moment)
    assert chains(log, moment, recorded_until=known) == chains(past, moment)


# Invariant 7, inverse


@given(logs(), moments(), st.integers(0, 30), st.integers(0, 400))
@thorough
def test_revoking_and_reinstating_changes_no_status(
    log: list[Event], moment: datetime, chosen: int, hours: int
) -> None:
    """For any note that may be revoked and any moment, everything that the fold says stays the same."""
    (note_id,) = pick(log, {chosen})
    last = max(event.at for event in log)
    assume(is_legal(Step.REVOKE, fold(log, last)[note_id]))
    first = stamp(last, 1, after=last)
    second = stamp(last + timedelta(hours=hours), 2, after=first.at)
    undone = [Revoked(first.id, first.at, note_id, "no"), Reinstated(second.id, second.at, note_id)]
    assert fold([*log, *undone], moment) == fold(log, moment)
