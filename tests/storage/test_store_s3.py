"""A store on object storage: no lock reaches its writers, and still what each was told holds."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from contexts import NOON, Agent, Clock
from fakes import FakeEmbedder
from log_entries import MODEL, entries_of, note, put, write
from log_text import log
from object_storage import CREDENTIALS, Bucket
from processes import ids_in
from wire import Wire, text_of, wire

from server.cli.main import main
from server.config.load import load
from server.tenants import LOCAL, TenantStores
from stilltrue.errors import StoreTrouble
from stilltrue.event import Remembered
from store.lance.engine import fragments
from store.lance.store import LanceStore
from store.object.maintenance import RemoteMaintenance
from store.open import open_store
from store.port import Entry, Fingerprint, LostRace

T = TypeVar("T")
SERVERS = 3


@pytest.fixture
def uri(bucket: Bucket) -> str:
    return bucket.prefix()


@pytest.fixture
def store(bucket: Bucket, uri: str) -> LanceStore:
    return bucket.store(uri)


@pytest.fixture
def other(bucket: Bucket, uri: str, store: LanceStore) -> LanceStore:
    """The same store as another process has it: nothing is shared but what lies in the bucket."""
    return bucket.store(uri)


@dataclass(frozen=True)
class Servers:
    """Three server processes on one store, each with a client of its own."""

    uri: str
    clients: list[Wire]


@pytest.fixture(scope="module")
def servers(bucket: Bucket, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    uri, folder = bucket.prefix(), tmp_path_factory.mktemp("servers")
    with ExitStack() as running:
        started = [running.enter_context(wire(folder / str(number), *bucket.flags(uri))) for number in range(SERVERS)]
        yield Servers(uri, started)


def at_once(*works: Callable[[], T]) -> list[T]:
    """What each of the works returns; all begin at the same moment."""
    together = threading.Barrier(len(works))

    def run(work: Callable[[], T]) -> T:
        together.wait(60)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


# --- three processes ---


@pytest.mark.parametrize("notes", [3, pytest.param(20, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_three_servers_that_write_at_once_lose_nothing_and_store_nothing_twice(
    servers: Servers, bucket: Bucket, notes: int
) -> None:
    """Each note that a client was told is stored is there, once."""

    def write_all(number: int) -> list[tuple[str, str]]:
        texts = [f"Box {each} of {notes} on shelf {number}." for each in range(notes)]
        return [(servers.clients[number].done("remember", text=text)["id"], text) for text in texts]

    written = [each for pairs in at_once(*(partial(write_all, n) for n in range(SERVERS))) for each in pairs]
    stored = [event for event in bucket.store(servers.uri).events() if isinstance(event, Remembered)]
    found = [(event.id, event.note.text) for event in stored if f" of {notes} on " in event.note.text]
    assert sorted(found) == sorted(written)
    assert len({text for _, text in found}) == SERVERS * notes


@pytest.mark.parametrize("times", [2, pytest.param(15, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_of_two_sessions_that_supersede_one_note_one_wins_and_the_other_is_told_the_head(
    servers: Servers, times: int
) -> None:
    """Both have read the note as a head. The later append is not made: it gets `not_head` with the note that won."""
    one, two, three = servers.clients
    for turn in range(times):
        day = f"{times}/{turn}"
        old = one.done("remember", text=f"The build of day {day} is green.")["id"]
        red, amber = (f"The build of day {day} is {colour}." for colour in ("red", "amber"))
        results = at_once(
            partial(two.call, "supersede", note_ids=[old], text=red),
            partial(three.call, "supersede", note_ids=[old], text=amber),
        )
        (won,) = [each["structuredContent"]["id"] for each in results if not each.get("isError")]
        (refused,) = [text_of(each) for each in results if each.get("isError")]
        assert f"note [{old}] is superseded" in refused
        assert f"What holds in its chain now: [{won}]" in refused


@pytest.mark.parametrize("more", [{"request_id": "the-same-call"}, {}])
def test_one_call_that_reaches_three_servers_at_once_is_one_note(servers: Servers, more: dict[str, str]) -> None:
    """A retry that overtakes its call is recognised, by its request or by its bytes: one stores it, two say so."""
    text = f"The office moved to Ghent{' at last' if more else ''}."
    told = at_once(*(partial(each.done, "remember", text=text, **more) for each in servers.clients))
    assert len({each["id"] for each in told}) == 1
    assert sorted(each["stored"] for each in told) == [False, False, True]


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_a_server_that_is_killed_in_mid_write_is_in_nobodys_way(
    bucket: Bucket, uri: str, tmp_path: Path, kills: int
) -> None:
    """It can have left no lock: others read and write at once, and what it had acknowledged is there."""
    chance, survivor = random.Random(kills), bucket.store(uri)
    acknowledged: set[str] = set()
    for turn in range(kills):
        with wire(tmp_path, *bucket.flags(uri)) as doomed:
            sent = [doomed.start_call("remember", text=f"Parcel {turn}/{each}.") for each in range(12)]
            doomed.reply(sent[chance.randrange(3)])
            doomed.process.kill()
            answers = [message for message in doomed.unread() if "result" in message]
            acknowledged |= {answer["result"]["structuredContent"]["id"] for answer in answers}
            write(survivor, f"after-{turn}")
            acknowledged.add(f"after-{turn}")
            assert acknowledged <= ids_in(survivor)
    assert len(ids_in(bucket.store(uri))) == survivor.health().notes


def test_a_client_is_told_to_ask_for_the_rules(servers: Servers) -> None:
    """Nothing is read from the bucket before the first answer, so the rules themselves are not in it."""
    assert "There may be requirements: before you answer, call constraints" in servers.clients[0].instructions


def test_tenants_lie_under_the_prefix_of_the_store_and_apart() -> None:
    """`local` is the store itself; in the one database of a service there is no room for others."""

    def place(uri: str, tenant: str) -> str:
        return TenantStores(load({"store.uri": uri}, {}), lambda: tenant, limit=1).location

    assert place("s3://memories/team", LOCAL) == "s3://memories/team"
    assert place("s3://memories/team", "acme") == "s3://memories/team/tenants/acme"
    assert place("db://memories", LOCAL) == "db://memories"
    with pytest.raises(StoreTrouble, match=r"cannot hold a second tenant \('acme'\)"):
        place("db://memories", "acme")


# --- the compare-and-set ---


def test_an_append_whose_read_is_out_of_date_is_not_made(store: LanceStore, other: LanceStore) -> None:
    """Somebody appended between its `writing` and its append: all of it stays out, and it is told."""
    with store.writing():
        write(other, "B")
        with pytest.raises(LostRace, match="Nothing was written"):
            store.append([Entry(note("A"), "A"), Entry(note("A2"), "A2")])
    assert ids_in(store) == ids_in(other) == {"B"}
    write(store, "A")
    assert ids_in(other) == {"A", "B"}


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_of_appends_at_the_same_moment_one_is_made(bucket: Bucket, uri: str, times: int) -> None:
    """Three writers that have seen the same: one append stands, whole, and two have written nothing."""
    handles = [bucket.store(uri) for _ in range(3)]
    for turn in range(times):
        entered = threading.Barrier(3)

        def append(number: int, turn: int = turn, entered: threading.Barrier = entered) -> list[str]:
            ids = [f"{turn}-{number}-{each}" for each in range(2)]
            with handles[number].writing():
                entered.wait(60)
                try:
                    handles[number].append([Entry(note(each), each) for each in ids])
                except LostRace:
                    return []
            return ids

        stored = [ids for ids in at_once(*(partial(append, number) for number in range(3))) if ids]
        assert len(stored) == 1
        assert {each for each in ids_in(handles[0]) if each.startswith(f"{turn}-")} == set(stored[0])


def overtaken(store: LanceStore, rival: Callable[[], object], times: int) -> None:
    """Lets another process write just before an append of this one, so many times."""
    append, left = store.append, iter(range(times))

    def late(entries: Sequence[Entry]) -> None:
        if next(left, None) is not None:
            rival()
        append(entries)

    store.append = late  # type: ignore[method-assign]


def test_a_verb_that_loses_the_race_reads_and_checks_again(store: LanceStore, other: LanceStore) -> None:
    """What it decides rests on what the winner wrote: here that its note is stored already."""
    agent, rival = Agent(store), Agent(other, clock=Clock(NOON + timedelta(minutes=1)))
    overtaken(store, lambda: rival.remember("Lunch is at noon."), times=1)
    answer = agent.remember("Lunch is at noon.")
    assert not answer.data.stored
    assert ids_in(store) == {answer.data.id}


def test_a_verb_that_never_wins_gives_up_with_a_sentence(store: LanceStore, other: LanceStore) -> None:
    """Patience ends, nothing was written, and the caller is told what to do."""
    rivals = iter(range(1000))
    overtaken(store, lambda: write(other, f"rival-{next(rivals)}"), times=1000)
    with pytest.raises(StoreTrouble, match=r"was first.*Nothing was written\. Try again"):
        Agent(store, write_patience_s=0.0).remember("Lunch is at noon.")
    assert store.by_text("lunch", None, 5) == []


# --- what the store knows of itself ---


def test_one_vector_space_is_adopted_however_many_try(bucket: Bucket, uri: str) -> None:
    """Three processes with three models at once: one of them is taken, and all agree which."""
    handles = [bucket.store(uri) for _ in range(3)]
    spaces = [Fingerprint(f"model {number}", str(number) * 64, 8 + number) for number in range(3)]
    took = at_once(*(partial(handle.adopt, space) for handle, space in zip(handles, spaces, strict=True)))
    assert took.count(True) == 1
    assert {handle.fingerprint for handle in (*handles, bucket.store(uri))} == {spaces[took.index(True)]}


def test_a_store_that_is_opened_again_is_the_same(bucket: Bucket, uri: str, store: LanceStore) -> None:
    """Notes, vectors, vector space and counts lie in the bucket, and in nothing beside it."""
    put(store, log('A  remembered "tests run with nox" about api as decision by ci'))
    store.usage.record(["A"], "s", log("A remembered 'x'")[0].at)
    store.close()
    again = bucket.store(uri)
    assert (again.fingerprint, ids_in(again), again.subjects()) == (MODEL.fingerprint, {"A"}, ["api"])
    assert again.usage.counts(["A"], "s")["A"].total == 1
    assert again.by_vector(MODEL.embed(["tests run with nox"])[0], ["api"], 1)[0].note_id == "A"
    assert again.health().location == uri
    assert again.health().size_bytes > 0


def test_two_processes_may_compact_at_once_while_a_third_writes(
    bucket: Bucket, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them does it; the other's work is thrown away, without harm. Reads and writes go on."""
    monkeypatch.setattr("store.object.maintenance.random", lambda: 0.0)
    handles = [bucket.store(uri) for _ in range(3)]
    write(handles[0], *(f"n{number:02}" for number in range(20)))
    at_once(handles[0].maintain, handles[1].maintain, lambda: write(handles[2], "m1", "m2", "m3"))
    assert {f"n{number:02}" for number in range(20)} | {"m1", "m2", "m3"} == ids_in(handles[2])
    assert fragments(handles[2]._backend.table) < 20
    write(handles[0], "after")
    assert "after" in ids_in(handles[1])


def test_upkeep_is_the_likelier_the_more_has_piled_up(store: LanceStore) -> None:
    """With few fragments the dice never say so, with very many always."""
    assert RemoteMaintenance.chance(16) <= 0 < RemoteMaintenance.chance(17) < RemoteMaintenance.chance(40) < 1
    assert RemoteMaintenance.chance(64) >= 1


# --- the commands ---


def test_a_log_goes_out_of_a_bucket_and_into_another_place(
    bucket: Bucket, uri: str, store: LanceStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`export`, `import` and `status` know no difference from a folder, and `check` finds nothing wrong."""
    agent = Agent(store)
    old = agent.remember("The office is in Ghent.").data.id
    agent.supersede(old, "The office is in Bruges.")
    there = bucket.prefix()
    lines = str(tmp_path / "log.jsonl")
    assert main(["export", *bucket.flags(uri), "--output", lines]) == 0
    assert main(["import", *bucket.flags(there), lines]) == 0
    assert [event.id for event in bucket.store(there).events()] == [event.id for event in store.events()]
    assert main(["check", *bucket.flags(there)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Everything is as it should be."
    assert main(["status", *bucket.flags(there)]) == 0
    assert f"store:     {there}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [("erase", "--subject", "user", "--yes"), ("backup", "copy"), ("check", "--repair")]
)
def test_what_needs_a_folder_is_refused_with_the_way_round(
    bucket: Bucket, uri: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """Nothing is half done: the sentence says how the same is had by way of an export."""
    assert main([words[0], *bucket.flags(uri), *words[1:]]) == 1
    said = capsys.readouterr().err
    assert "not in a folder" in said
    assert "Export it" in said


def test_a_command_makes_no_store_where_there_is_none(
    bucket: Bucket, uri: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt prefix is told, and stays empty."""
    for _ in range(2):
        assert main(["export", *bucket.flags(uri)]) == 1
        assert f"There is no store at {uri}" in capsys.readouterr().err


# --- trouble ---


@pytest.mark.parametrize(
    ("uri", "endpoint", "sentence"),
    [
        ("s3://no-such-bucket/x", None, r"no such bucket\. Create the bucket"),
        pytest.param(
            "s3://memories/x",
            "http://127.0.0.1:9",
            r"cannot be reached\. Check store\.endpoint",
            marks=pytest.mark.slow,  # LanceDB tries for some seconds
        ),
        ("gs://memories/x", None, r"s3://BUCKET/PREFIX"),
    ],
)
def test_what_cannot_be_opened_is_told_with_the_way_out(
    bucket: Bucket, uri: str, endpoint: str | None, sentence: str
) -> None:
    """A sentence for the operator, and no key in it."""
    with pytest.raises(StoreTrouble, match=sentence) as told:
        open_store(uri, endpoint=endpoint or bucket.endpoint, region="us-east-1")
    assert not any(secret in str(told.value) for secret in CREDENTIALS.values())


def test_a_folder_that_was_copied_to_a_bucket_is_not_taken_for_a_store(bucket: Bucket, uri: str) -> None:
    """It has no key over its turns, so that two writers would not meet."""
    import lancedb

    from store.lance.schema import log_schema

    lancedb.connect(
        uri,
        storage_options={"aws_endpoint": bucket.endpoint, "aws_region": "us-east-1", "allow_http": "true"},
    ).create_table("log", schema=log_schema())
    with pytest.raises(StoreTrouble, match="export and import"):
        bucket.store(uri)


def test_a_first_note_without_a_vector_and_one_with_are_both_appended(store: LanceStore) -> None:
    """A process whose model is not there yet writes beside one whose is."""
    with store.writing():
        store.append(entries_of([note("A", "tea at four")], vectors=False))
    assert store.adopt(FakeEmbedder().fingerprint)
    put(store, [note("B", "tea at five")])
    assert {hit.note_id for hit in store.by_text("tea", None, 5)} == {"A", "B"}
    assert [hit.note_id for hit in store.by_vector(MODEL.embed(["tea at five"])[0], None, 5)] == ["B"]
