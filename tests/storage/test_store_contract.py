"""What every store keeps to, whatever it is made of. The same claims run over each adapter."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from log_entries import MODEL, entries_of, note, put
from log_text import day, log

from stilltrue.errors import StoreTrouble
from stilltrue.event import Remembered
from stilltrue.ids import stamp
from store.memory import EphemeralStore
from store.open import open_store
from store.port import Count, Entry, Fingerprint, IndexEntry, Store, Vector

ADAPTERS = ["memory", "folder", pytest.param("s3", marks=pytest.mark.slow)]


def opened(request: pytest.FixtureRequest, folder: Path) -> Store:
    match request.param:
        case "memory":
            return EphemeralStore()
        case "folder":
            return open_store(str(folder))
    bucket = request.getfixturevalue("bucket")
    made: Store = bucket.store(bucket.prefix())
    return made


@pytest.fixture(params=ADAPTERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = opened(request, tmp_path / "store")
    yield made
    made.close()


def vector(text: str) -> Vector:
    return MODEL.embed([text])[0]


STORY = """
    A  remembered "tests run with tox" about api as decision by ci
    B  remembered "tests run with nox" about api, team as decision updates A because "tox is gone" from 2 until 90
    -  revoked B because "it was the proxy"
    -  reinstated B because "it was not"
    -  helped B
    C  remembered "Priya is allergic to peanuts" about priya as allergy
    -  erased C
"""


# --- chains ---


def test_every_kind_of_event_comes_back_as_it_was_appended(store: Store) -> None:
    """Read after append is the identity, for all kinds and all fields, in log order."""
    events = log(STORY)
    put(store, events)
    records = store.chains(["A", "C"])
    assert [event for record in records for event in record.events] == events


def test_a_chain_is_whole_by_whichever_note_it_is_entered(store: Store) -> None:
    """`chains_of` brings all events of the chain for each member; ids that do not exist are left out."""
    put(store, log(STORY))
    by_oldest, by_newest = store.chains_of(["A", "nope"]), store.chains_of(["B"])
    assert [event.id for event in by_oldest[0].events] == [event.id for event in by_newest[0].events]
    assert [len(record.events) for record in by_oldest] == [5]
    assert store.chains_of(["nope", "it's"]) == [] == store.chains(["nope"])


MERGE = """
    A  remembered "the office is in Ghent"
    B  remembered "the office is in Bruges"
    C  remembered "the lease ends in May"
    D  remembered "the offices are in Ghent and Bruges" updates A, B
    -  revoked D because "Bruges was closed"
    E  remembered "one office, and its lease ends in May" corrects D, C
"""


@pytest.mark.parametrize("entry", ["A", "B", "C", "D", "E"])
def test_a_merge_is_one_chain_from_every_side(store: Store, entry: str) -> None:
    """Whichever of the merged notes it is entered by, the merge and what came after it are there."""
    put(store, log(MERGE))
    (record,) = store.chains_of([entry])
    assert [event.note_id for event in record.events] == ["A", "B", "C", "D", "D", "E"]
    assert record.ids == {"A", "B", "C"}
    assert store.chains(["C"])[0].events == record.events


def test_chains_stand_in_the_order_of_their_oldest_notes_each_once(store: Store) -> None:
    """Two entries into one chain are one record."""
    put(store, log(MERGE + '    F  remembered "lunch is at noon"\n'))
    assert [sorted(record.ids) for record in store.chains_of(["F", "D", "A"])] == [["A", "B", "C"], ["F"]]


def test_a_chain_carries_the_vectors_of_its_notes_and_of_nothing_else(store: Store) -> None:
    """Neither a reason's nor a cue's vector is a note's."""
    put(store, log(STORY))
    vectors = store.chains(["A"])[0].vectors
    assert sorted(vectors) == ["A", "B"]
    np.testing.assert_allclose(vectors["B"], vector("tests run with nox"), atol=1e-6)


def test_more_chains_than_fit_one_query_all_come_back(store: Store) -> None:
    """Nothing is cut, however many are asked for."""
    made = [note(f"n{number:04}") for number in range(700)]
    with store.writing():
        store.append(entries_of(made, vectors=False))
    assert len(store.chains([one.id for one in made])) == 700
    assert len(store.chains_of([one.id for one in made])) == 700


# --- requirements ---


def test_what_took_the_place_of_a_requirement_is_found_with_it(store: Store) -> None:
    """The query is closed towards newer: a successor of another class, about somebody else, and its revocation."""
    put(
        store,
        log("""
            A  remembered "Priya is allergic to peanuts" about priya as allergy
            B  remembered "that was Tom" about tom as note corrects A
            -  revoked B because "no, it was Priya"
            C  remembered "Priya likes tea" about priya as preference
        """),
    )
    assert [event.note_id for event in store.binding(["allergy"], ["priya"])] == ["A", "B", "B"]


def test_requirements_are_complete_and_only_those_asked_for(store: Store) -> None:
    """No limit, several classes at once, all subjects where none is named."""
    made = [
        replace(
            note(f"n{number:03}", subjects=[f"s{number % 3}"]).note, klass=["allergy", "rule", "fact"][number % 3]
        )
        for number in range(200)
    ]
    with store.writing():
        store.append(entries_of([Remembered(one) for one in made], vectors=False))
    assert len(store.binding(["allergy", "rule"], None)) == 134
    assert len(store.binding(["allergy", "rule"], ["s0", "s2"])) == 67
    assert store.binding(["allergy"], ["s1"]) == store.binding([], None) == store.binding(["allergy"], []) == []
    assert len(store.binding(["fact"], [f"s{number}" for number in range(1_000)])) == 66


# --- lookups ---


def test_a_note_is_found_by_its_request_and_by_its_bytes(store: Store) -> None:
    """A retry is recognised, and identical notes are listed oldest first."""
    first, second = note("b", "tea"), replace(note("a", "tea"), request_id="r-1")
    put(store, [first, second, note("c", "coffee")], vectors=False)
    assert (store.by_request("r-1"), store.by_request("r-2")) == ("a", None)
    assert store.by_digest("digest of tea") == ["a", "b"]
    assert store.by_digest("digest of water") == []


def test_the_nearest_ids_are_those_that_share_the_longest_start(store: Store) -> None:
    """A prefix lists what begins with it, a mistyped id what comes closest, nonsense nothing."""
    ids = [stamp(day(1) + timedelta(days=number), number).id for number in range(4)]
    put(store, [note(one) for one in ids], vectors=False)
    assert store.near_ids(ids[2]) == [ids[2]]
    assert store.near_ids(ids[2][:-1] + "z") == [ids[2]]
    assert store.near_ids(ids[0][:3]) == ids
    assert store.near_ids(ids[0][:3], limit=2) == ids[:2]
    assert store.near_ids(ids[1] + "0000") == [ids[1]]
    assert store.near_ids("%") == store.near_ids("'") == store.near_ids("\ud800") == []


def test_subjects_are_those_that_notes_name(store: Store) -> None:
    """In order, once each; with names, only those among them."""
    put(store, [note("a", subjects=["tom", "team"]), note("b", subjects=["priya", "team"])], vectors=False)
    assert store.subjects() == ["priya", "team", "tom"]
    assert store.subjects(["team", "priya", "zoe"]) == ["priya", "team"]
    assert store.subjects([]) == []


# --- search ---

CUED = [
    note("A", "Priya is allergic to peanuts", ["priya", "team"], cues=("booking a restaurant",)),
    note("B", "standup is at ten", ["team"]),
    note("C", "the coffee machine is broken", ["office"]),
]


def test_the_nearest_vector_comes_first(store: Store) -> None:
    """The score is the cosine, and the row's own vector comes with it."""
    put(store, CUED)
    hits = store.by_vector(vector("standup is at ten"), None, 2)
    assert hits[0].note_id == hits[0].chain == "B"
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
    assert hits[0].vector is not None
    np.testing.assert_allclose(hits[0].vector, vector("standup is at ten"), atol=1e-6)
    assert [len(store.by_vector(vector("x"), None, limit)) for limit in (1, 3, 10)] == [1, 3, 4]


def test_a_vector_without_direction_finds_nothing_and_is_found_by_nothing(store: Store) -> None:
    """No cosine can be said of it, and none is made up."""
    put(store, CUED)
    with store.writing():
        store.append([Entry(note("Z"), "Z", vector=np.zeros(64, np.float32))])
    for nowhere in (np.zeros(64, np.float32), np.full(64, np.nan, np.float32)):
        assert store.by_vector(nowhere, None, 9) == []
    assert {hit.note_id for hit in store.by_vector(vector("standup"), None, 9)} == {"A", "B", "C"}


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_brings_nothing(store: Store, limit: int) -> None:
    """And not everything."""
    put(store, CUED)
    assert store.by_vector(vector("standup"), None, limit) == store.by_text("standup", None, limit) == []


@pytest.mark.parametrize("way", ["vector", "text"])
def test_a_cue_leads_to_its_note_and_a_reason_to_the_note_that_was_revoked(store: Store, way: str) -> None:
    """Whatever says something of a note is a way to it."""
    put(store, [*CUED, *log('- revoked B because "the calendar was wrong"')])

    def first(query: str) -> str:
        hits = store.by_vector(vector(query), None, 1) if way == "vector" else store.by_text(query, None, 1)
        return hits[0].note_id

    assert (first("booking a restaurant"), first("calendar was wrong")) == ("A", "B")


def test_a_search_stays_within_its_subjects(store: Store) -> None:
    """A row counts for the subjects of its chain, also a cue; no subject is no row."""
    put(store, CUED)
    for subjects, found in [
        (["office"], {"C"}),
        (["team"], {"A", "B"}),
        (["priya", "office"], {"A", "C"}),
        ([], set()),
    ]:
        assert {hit.note_id for hit in store.by_vector(vector("restaurant"), subjects, 10)} == found
    assert [hit.note_id for hit in store.by_text("restaurant", ["priya"], 10)] == ["A"]
    assert store.by_text("restaurant", ["office"], 10) == []


def test_text_is_found_by_its_words_in_any_case(store: Store) -> None:
    """BM25: above 0, the rarer word first, and nothing without a word in common."""
    put(store, [note("A", "The BÜRO opens at nine"), note("B", "nine nine"), note("C", "opens late")], vectors=False)
    assert [hit.note_id for hit in store.by_text("büro", None, 5)] == ["A"]
    assert {hit.note_id for hit in store.by_text("OPENS", None, 5)} == {"A", "C"}
    assert all(hit.score > 0 and hit.vector is None for hit in store.by_text("opens at nine", None, 5))
    assert store.by_text("zebra", None, 5) == []


ODD = ["", " ", "'", '"', 'AND ( - " *', "\x00", "\ud800", "%", "🦊", "a" * 20_000, "--", "\\' OR 1=1) --", "+:^~"]


@pytest.mark.parametrize("query", ODD)
def test_no_query_text_is_an_error(store: Store, query: str) -> None:
    """Nothing in a query is an operator, and nothing that is typed breaks it."""
    put(store, CUED)
    assert store.by_text(query, ["team"], 5) == []


def test_before_a_vector_space_is_taken_vectors_find_nothing(store: Store) -> None:
    """Notes without vectors are notes: everything but the search by vector works."""
    put(store, CUED, vectors=False)
    assert store.fingerprint is None
    assert store.by_vector(vector("standup"), None, 5) == []
    assert store.by_text("standup", None, 5)[0].note_id == "B"


def test_notes_from_before_the_vector_space_stay_beside_those_with_vectors(store: Store) -> None:
    """The first vector comes late; nothing that is older is lost or found by it."""
    put(store, CUED, vectors=False)
    put(store, [note("D", "standup moved to eleven")])
    assert [hit.note_id for hit in store.by_vector(vector("standup"), None, 9)] == ["D"]
    assert [record.vectors.keys() for record in store.chains(["A", "D"])] == [set(), {"D"}]


def test_a_store_takes_one_vector_space_and_keeps_it(store: Store) -> None:
    """Vectors of two models are never mixed, nor compared."""
    other = Fingerprint("other", "1" * 64, 64)
    assert (store.adopt(MODEL.fingerprint), store.adopt(other), store.adopt(MODEL.fingerprint)) == (True, False, True)
    assert store.fingerprint == MODEL.fingerprint
    with pytest.raises(StoreTrouble, match="3 numbers"):
        store.by_vector(np.ones(3, np.float32), None, 5)


# --- writing ---


def test_several_entries_are_appended_together(store: Store) -> None:
    """One append, all of them."""
    with store.writing():
        store.append(entries_of(log(STORY), vectors=False))
        store.append([])
    assert len(store.chains(["A", "C"])) == 2


@pytest.mark.parametrize(
    "second",
    [
        Entry(note("B", "half \ud800 a character"), "B"),
        Entry(note("B"), "B", subjects=("\udfff",)),
        Entry(note("B"), "B", digest="\udfff"),
        Entry(note("B"), "B", vector=np.ones(3, np.float32)),
        Entry(note("B"), "B", index_entries=(IndexEntry("cue", "x", np.ones(3, np.float32)),)),
    ],
)
def test_a_refused_append_has_written_nothing(store: Store, second: Entry) -> None:
    """All or none: what no store can hold takes the entries beside it along."""
    with store.writing(), pytest.raises((StoreTrouble, UnicodeEncodeError)):
        store.append([Entry(note("A"), "A"), second])
    assert (store.chains(["A", "B"]), store.health().notes) == ([], 0)


def test_nothing_is_appended_outside_the_lock(store: Store) -> None:
    """Read, check and append are one step; an append on its own is a bug of the caller."""
    with pytest.raises(RuntimeError, match="writing"):
        store.append([Entry(note("A"), "A")])


def test_one_thread_may_take_the_lock_twice(store: Store) -> None:
    """A verb that holds the lock may call one that takes it."""
    with store.writing(), store.writing():
        store.adopt(MODEL.fingerprint)
        store.append([Entry(note("A"), "A")])
    assert store.health().notes == 1


def test_threads_that_read_check_and_append_lose_nothing(store: Store) -> None:
    """Inside the lock nobody else writes: a number that is read and taken is taken once."""

    def take(count: int) -> None:
        for _ in range(count):
            with store.writing():
                taken = store.health().notes
                store.append([Entry(note(f"n{taken:03}"), f"n{taken:03}")])

    threads = [threading.Thread(target=take, args=(8,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [record.events[0].id for record in store.chains([f"n{n:03}" for n in range(40)])] == [
        f"n{n:03}" for n in range(32)
    ]


# --- counts ---


def test_deliveries_are_counted_by_session_and_in_all(store: Store) -> None:
    """Before and after they reach the table, the counts are the same; the last delivery is the latest."""
    store.usage.record(["A", "B"], "s1", day(3))
    store.usage.record(["A"], "s2", day(2))
    wanted = {"A": Count(1, 2, day(3), day(3)), "B": Count(1, 1, day(3), day(3)), "C": Count()}
    assert store.usage.counts(["A", "B", "C"], "s1") == wanted
    store.usage.flush()
    store.usage.record(["A"], "s1", day(4))
    assert store.usage.counts(["A", "B", "C"], "s1") == wanted | {"A": Count(2, 3, day(4), day(4))}
    assert store.usage.counts(["A"], "s2")["A"] == Count(1, 3, day(4), day(2))
    assert store.usage.counts(["A"], "s3")["A"] == Count(0, 3, day(4), None)
    assert store.usage.retrieved("s1") == store.usage.counts(["A", "B"], "s1")
    assert list(store.usage.retrieved("s2")) == ["A"]
    assert store.usage.retrieved("s3") == {}


def test_the_store_says_how_much_it_holds(store: Store) -> None:
    """Notes are counted, not the events about them, nor cues."""
    put(store, [*log(STORY), *(replace(one, note=replace(one.note, id="Z" + one.id)) for one in CUED)])
    health = store.health()
    assert (health.notes, health.fingerprint, health.problems) == (6, MODEL.fingerprint, ())
    assert health.rows >= 11
    store.maintain()


def test_times_come_back_in_utc(store: Store) -> None:
    """An aware moment is the same moment after the round trip."""
    put(store, [note("A", valid_until=datetime(2027, 1, 1, 12, tzinfo=UTC))], vectors=False)
    (event,) = store.chains(["A"])[0].events
    assert isinstance(event, Remembered)
    assert event.note.valid_until == datetime(2027, 1, 1, 12, tzinfo=UTC)
    assert event.at == day(1)
