"""The fold against the contract: its rules written down a second time, over random logs."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import logs, moments, single_chains

from stilltrue.chain import chains, partition
from stilltrue.classes import Classes
from stilltrue.event import Event, Remembered
from stilltrue.lifecycle import Member, Status, fold
from stilltrue.note import RETIRING
from stilltrue.requirements.binding import requirements

thorough = settings(deadline=None)


def revoked_so_far(moves: list[str]) -> bool:
    """Whether the last of these kinds of event that revoke or reinstate is a revocation."""
    return [move for move in moves if move in {"Revoked", "Reinstated"}][-1:] == ["Revoked"]


def contract(log: list[Event], moment: datetime) -> dict[str, str]:
    """The status of every note by the lines of the contract, implemented as plainly as they read."""
    notes = {event.id: event for event in log if isinstance(event, Remembered)}
    moves: dict[str, list[str]] = {note_id: [] for note_id in notes}
    when: dict[tuple[str, str], datetime] = {}
    for event in sorted(log, key=lambda event: event.id):
        if event.note_id in notes:
            kind = type(event).__name__
            # A second erasure is none, nor is a second revocation with no reinstatement between the two.
            again = kind == "Erased" or (kind == "Revoked" and revoked_so_far(moves[event.note_id]))
            if not (again and (event.note_id, kind) in when):
                when[event.note_id, kind] = event.at
            moves[event.note_id].append(kind)

    def erased(note_id: str) -> bool:
        return "Erased" in moves[note_id]

    def revoked(note_id: str) -> bool:
        return revoked_so_far(moves[note_id])

    def begun(note_id: str) -> bool:
        opens = notes[note_id].note.valid_from
        return opens is None or opens <= moment

    def over(note_id: str) -> bool:
        ends = notes[note_id].note.valid_until
        return ends is not None and ends <= moment

    def effective(note_id: str) -> bool:
        opens = notes[note_id].note.valid_from
        called_off = revoked(note_id) and opens is not None and when[note_id, "Revoked"] < opens
        forgotten = erased(note_id) and opens is not None and when[note_id, "Erased"] < opens
        return begun(note_id) and not called_off and not forgotten

    def stands(note_id: str) -> bool:
        return not erased(note_id) and not revoked(note_id) and not over(note_id) and begun(note_id)

    def erased_while_it_stood(note_id: str) -> bool:
        ends = notes[note_id].note.valid_until
        over_then = ends is not None and erased(note_id) and ends <= min(when[note_id, "Erased"], moment)
        return erased(note_id) and not revoked(note_id) and not over_then and effective(note_id)

    def successors(note_id: str) -> list[str]:
        return [
            other
            for other, event in notes.items()
            if any(link.to == note_id and link.kind in RETIRING for link in event.links)
        ]

    def superseded(note_id: str) -> bool:
        return any(
            stands(other) or erased_while_it_stood(other) or superseded(other) for other in successors(note_id)
        )

    def fallen(note_id: str) -> bool:
        return any(effective(other) or fallen(other) for other in successors(note_id))

    def status(note_id: str) -> str:
        rules = {
            "erased": erased,
            "revoked": revoked,
            "superseded": superseded,
            "unsettled": fallen,
            "pending": lambda note_id: not begun(note_id),
            "expired": over,
        }
        return next((name for name, holds in rules.items() if holds(note_id)), "current")

    return {note_id: status(note_id) for note_id in sorted(notes)}


@given(logs(), moments())
@thorough
def test_every_status_is_the_one_that_the_contract_gives(log: list[Event], moment: datetime) -> None:
    """The fold is total, and it agrees with the rules in their plainest form."""
    assert {note_id: str(member.status) for note_id, member in fold(log, moment).items()} == contract(log, moment)


@given(logs(), moments(), st.randoms(use_true_random=False))
@thorough
def test_the_order_in_which_events_arrive_does_not_matter(log: list[Event], moment: datetime, chance: object) -> None:
    """A store may return rows in any order: ids sort in log order."""
    shuffled = list(log)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert list(fold(shuffled, moment).items()) == list(fold(log, moment).items())
    assert chains(shuffled, moment) == chains(log, moment)
    assert partition(shuffled) == partition(log)


@given(logs(), moments())
@thorough
def test_the_fold_of_a_chain_does_not_need_the_rest_of_the_log(log: list[Event], moment: datetime) -> None:
    """Each part of the partition alone gives the same chain, so a read need not look at more."""
    alone = [chain for part in partition(log) for chain in chains(part, moment)]
    assert alone == chains(log, moment)


@given(single_chains(), moments())
@thorough
def test_notes_that_all_link_to_older_ones_are_one_chain(log: list[Event], moment: datetime) -> None:
    """Whatever the kinds of their links."""
    assert len(chains(log, moment)) == len(partition(log)) == 1


@given(logs(), moments())
@thorough
def test_a_chain_is_contested_if_links_that_supersede_connect_two_current_notes(
    log: list[Event], moment: datetime
) -> None:
    """And only then: refinements connect, but do not compete."""
    members = fold(log, moment)
    rivals = {note_id: {note_id} for note_id in members}
    for member in members.values():
        for link in member.links:
            if link.kind in RETIRING:
                joined = rivals[member.id] | rivals[link.to]
                rivals |= dict.fromkeys(joined, joined)
    contested = {
        note_id
        for note_id, group in rivals.items()
        if sum(members[other].status is Status.CURRENT for other in group) > 1
    }
    for chain in chains(log, moment):
        assert chain.contested == bool(contested & chain.members.keys())


@given(logs(), moments())
@thorough
def test_a_superseded_note_names_its_successors_and_an_unsettled_one_those_no_longer_in_force(
    log: list[Event], moment: datetime
) -> None:
    """A reader always learns what replaced a note, or why it is not confirmed."""
    members = fold(log, moment)

    def down(member: Member) -> bool:
        ends = member.note.valid_until
        return member.revocation is not None or (ends is not None and ends <= moment)

    for member in members.values():
        if member.status is Status.SUPERSEDED:
            assert member.superseders
        if member.status is Status.UNSETTLED:
            assert member.fallen
            assert all(down(members[other]) for other in member.fallen)


@given(logs(), moments())
@thorough
def test_a_requirement_stops_binding_only_for_a_reason_that_is_in_the_log(log: list[Event], moment: datetime) -> None:
    """Every note of a constraint class binds unless it is replaced, revoked, erased or outside its validity."""
    classes = Classes()
    bound = {member.id for each in requirements(chains(log, moment), classes) for member in each.binding}
    for member in fold(log, moment).values():
        let_go = member.status not in {Status.CURRENT, Status.UNSETTLED}
        assert (member.id in bound) == (classes.of(member.note.klass).requirement and not let_go)


@given(logs())
@thorough
def test_ids_and_times_rise_along_every_link_and_with_every_event_of_a_note(log: list[Event]) -> None:
    """Even if the clock jumps back between them, so sorting by id restores the log of each chain."""
    carriers = {event.id: event for event in log if isinstance(event, Remembered)}
    for note_id, carrier in carriers.items():
        past = [carriers[link.to] for link in carrier.links]
        own = [event for event in log if event.note_id == note_id]
        for earlier, later in [*((old, carrier) for old in past), *pairwise(own)]:
            assert (earlier.id, earlier.at) < (later.id, later.at)
            assert earlier.at < later.at
