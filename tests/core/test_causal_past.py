"""What an event carries of the chains that it bears on, and the groups of ids that chains are."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from log_text import log
from strategies import logs

from stilltrue.chain import CausalPast, ChainTracker, DisjointSets, partition
from stilltrue.event import Event, Remembered

thorough = settings(deadline=None)
pairs = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=12)


def last_past(text: str) -> CausalPast:
    """The causal past of the last event of a log in text."""
    tracker = ChainTracker()
    return [tracker.add(event) for event in log(text)][-1]


def test_a_note_without_links_starts_a_chain_of_its_own() -> None:
    """Its causal past is the note itself."""
    assert last_past("A  remembered about api as fact") == CausalPast("A", (), ("api",), ("fact",))


def test_a_successor_carries_the_subjects_and_classes_of_all_that_came_before_it() -> None:
    """A query for the allergies of priya finds the plain note about tom that replaced one."""
    past = last_past("""
        A  remembered about priya as allergy
        B  remembered about priya, tom as fact updates A
        C  remembered about tom updates B
    """)
    assert past == CausalPast("A", (), ("tom", "priya"), ("note", "allergy", "fact"))


def test_a_merge_joins_the_newer_chains_to_the_oldest() -> None:
    """And carries what all of them are about."""
    merge = """
        A  remembered about api
        B  remembered about web
        C  remembered about app updates B, A
    """
    assert last_past(merge) == CausalPast("A", ("B",), ("app", "api", "web"), ("note",))
    assert last_past(merge + "-  revoked B") == CausalPast("A", (), ("api", "web", "app"), ("note",))


def test_an_event_of_an_unknown_note_has_nothing_to_carry() -> None:
    """A damaged log is followed as far as it goes."""
    assert last_past("A  remembered \n -  revoked Q") == CausalPast("Q", (), (), ())
    assert last_past("A  remembered updates Q") == CausalPast("A", (), ("team",), ("note",))


@given(logs())
@thorough
def test_the_causal_past_of_every_event_is_its_chain_as_far_as_it_was_recorded(events: list[Event]) -> None:
    """Following a log event by event comes to the same as parting all that was recorded so far into chains."""
    tracker = ChainTracker()
    for number, event in enumerate(events, start=1):
        past = tracker.add(event)
        part = next(part for part in partition(events[:number]) if event in part)
        notes = [each.note for each in part if isinstance(each, Remembered)]
        assert past.chain == notes[0].id
        assert set(past.subjects) == {subject for note in notes for subject in note.subjects}
        assert set(past.klasses) == {note.klass for note in notes}
        assert set(past.joins) <= {note.id for note in notes}


@given(pairs)
def test_ids_are_in_one_group_when_joins_lead_from_one_to_the_other(joins: list[tuple[str, str]]) -> None:
    """Against the plainest way to find connected ids; each group goes by its smallest id."""
    groups = DisjointSets()
    expected: dict[str, set[str]] = {}
    for one, other in joins:
        groups.join(one, other)
        together = expected.setdefault(one, {one}) | expected.setdefault(other, {other})
        expected |= dict.fromkeys(together, together)
    assert {each: groups.name(each) for each in groups} == {each: min(group) for each, group in expected.items()}
