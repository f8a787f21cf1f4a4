"""Maintenance: the store stays small and quick without anyone's help, and no read or note suffers for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep

import pytest
from filelock import FileLock
from log_entries import entries_of, note, put, write
from log_text import day
from processes import ids_in

from store.folder.backend import FolderBackend
from store.folder.maintenance import Maintenance, retained
from store.lance.engine import fragments, unindexed
from store.lance.store import LanceStore
from store.open import open_store
from store.port import Count


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Iterator[LanceStore]:
    made = open_store(str(folder))
    yield made
    made.close()


def maintenance(folder: Path, store: LanceStore, rest: float = 5.0) -> Maintenance:
    """The maintenance of this store, with so long a rest after a compaction."""
    backend = store._backend
    assert isinstance(backend, FolderBackend)
    return Maintenance(folder, backend.table, backend.writers, backend.log.now().syncer, rest=rest)


def test_upkeep_bounds_the_fragments_and_loses_nothing(store: LanceStore, folder: Path) -> None:
    """However many single writes there were, a read has few pieces to look at, and finds everything."""
    hurried = maintenance(folder, store, rest=0)
    events = [note(f"n{number:03}", f"word{number} nine") for number in range(150)]
    for entry in entries_of(events, vectors=False):
        with store.writing():
            store.append([entry])
        hurried.maintain()
        assert fragments(store._backend.table) <= 16
    assert len(store.chains_of([event.id for event in events])) == 150
    assert len(store.by_text("nine", ["team"], 1_000)) == 150
    assert [hit.note_id for hit in store.by_text("word42", None, 5)] == ["n042"]


def test_upkeep_bounds_the_files_once_the_writing_is_over(store: LanceStore, folder: Path) -> None:
    """What a burst of writes left is cleaned up by the rounds after it, which end by themselves."""
    hurried = maintenance(folder, store, rest=0)
    write(store, *(f"n{number:03}" for number in range(120)))
    versions, deadline = folder / "log.lance" / "_versions", monotonic() + 60
    while sum(1 for _ in versions.iterdir()) > 65:
        assert monotonic() < deadline, "no round of upkeep cleaned up what the burst left"
        sleep(1.5)  # as the server does between its rounds: what is younger than the newest by less is kept
        hurried.maintain()


def test_upkeep_gathers_the_newest_rows_as_they_are_however_large_the_log(store: LanceStore, folder: Path) -> None:
    """Between two compactions reads have few pieces to look at, too. Every row is what it was, to the last column."""
    events = [note(f"n{at:03}", f"word{at} nine", [f"s{at}"], cues=(f"cue{at}",)) for at in range(40)]
    put(store, events[:1])
    store._backend.table.optimize()
    put(store, events[1:])
    resting = maintenance(folder, store)
    resting._rested_at = monotonic() + 600
    before = store._backend.table.to_arrow().sort_by("id")
    assert fragments(store._backend.table) == 40
    resting.maintain()
    assert fragments(store._backend.table) == 2
    assert store._backend.table.to_arrow().sort_by("id").equals(before)
    assert len(before) > 40
    assert before.column("vector").null_count not in {0, len(before)}
    assert [hit.note_id for hit in store.by_text("word33", None, 5)] == ["n033"]


def test_upkeep_indexes_what_came_in_one_append(store: LanceStore, folder: Path) -> None:
    """An import is one fragment, however large: without an index every read would look through all of it."""
    with store.writing():
        store.append(entries_of([note(f"n{number:04}", f"word{number}") for number in range(1_001)], vectors=False))
    assert unindexed(store._backend.table) > 1_000
    store.maintain()
    assert unindexed(store._backend.table) == 0
    assert [hit.note_id for hit in store.by_text("word42", None, 5)] == ["n0042"]


def test_upkeep_rests_in_proportion_to_its_work(store: LanceStore, folder: Path) -> None:
    """A compaction is of the whole table, so that it may not follow upon another; what is new is gathered at once."""
    resting = maintenance(folder, store, rest=1e6)
    write(store, *(f"n{number:02}" for number in range(70)))
    resting.maintain()
    assert unindexed(store._backend.table) == 0
    write(store, *(f"m{number:02}" for number in range(70)))
    resting.maintain()
    assert unindexed(store._backend.table) == 70
    assert fragments(store._backend.table) <= 3
    resting._rested_at = 0.0
    resting.maintain()
    assert unindexed(store._backend.table) == 0


def test_upkeep_that_is_under_way_elsewhere_is_left_to_it(store: LanceStore, folder: Path) -> None:
    """One process compacts at a time; the others go on without waiting."""
    write(store, *(f"n{number:02}" for number in range(40)))
    manifests = set((folder / "log.lance" / "_versions").iterdir())
    with FileLock(folder / "upkeep.lock"):
        store.maintain()
        assert set((folder / "log.lance" / "_versions").iterdir()) == manifests
    store.maintain()
    assert set((folder / "log.lance" / "_versions").iterdir()) != manifests


def test_the_version_before_a_compaction_outlives_it(store: LanceStore, folder: Path) -> None:
    """A power cut before the compaction is on the disk must leave the version before it."""
    write(store, *(f"n{number:02}" for number in range(70)))
    before = min((folder / "log.lance" / "_versions").glob("*.manifest"))
    store.maintain()
    assert min((folder / "log.lance" / "_versions").glob("*.manifest")) != before
    assert before.exists()


@pytest.mark.parametrize(("written", "now", "limit"), [(100, 100, 1), (100, 5_000, 1), (100, 101, 60), (100, 40, 1)])
def test_a_version_is_kept_however_old_it_is_and_however_long_the_compaction_takes(
    written: float, now: float, limit: float
) -> None:
    """What is cleaned up at the end of the work was written before the version that was the newest at its start."""
    assert now + limit - retained(written, now, limit).total_seconds() < written


@pytest.mark.slow
def test_a_compaction_that_takes_too_long_is_given_up_and_given_longer(
    store: LanceStore, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It ends at its limit, loses nothing, and comes to its end in one of the next attempts."""
    hurried = maintenance(folder, store)
    hurried._limit_s = 0.001
    write(store, *(f"n{number:02}" for number in range(70)))
    hurried.maintain()
    assert "given up" in caplog.text
    attempts = 1
    while "given up" in caplog.text:
        attempts += 1
        caplog.clear()
        hurried.maintain()
    assert attempts < 20  # its limit doubles each time
    assert len(ids_in(store)) == 70


@pytest.mark.parametrize("name", [f"{'1' * 24}{'a' * 26}.lance", ".tmpvCkPU8"])
def test_what_killed_compactions_left_behind_is_cleaned_up(store: LanceStore, folder: Path, name: str) -> None:
    """A file that no version names goes when a compaction can be sure that nobody is about to commit it."""
    write(store, "A")
    litter = folder / "log.lance" / "data" / name
    litter.write_bytes(bytes(2 << 20))
    write(store, *(f"n{number:02}" for number in range(70)))
    store.maintain()
    assert not litter.exists()
    assert len(ids_in(store)) == 71


def test_reads_go_on_while_versions_are_compacted_and_cleaned_up(store: LanceStore, folder: Path) -> None:
    """No reader waits, and none fails for a file that was taken away under it."""
    other = open_store(str(folder))
    over = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        try:
            while not over.is_set():
                assert len(store.chains(["n00", "n01"])) == 2
                assert store.by_text("note", ["team"], 5)
        except BaseException as error:
            failures.append(error)

    write(other, "n00", "n01")
    reader = threading.Thread(target=read)
    reader.start()
    for number in range(10):
        write(other, *(f"r{number}{index}" for index in range(4)))
        other._backend.table.optimize(cleanup_older_than=timedelta(milliseconds=1))
    over.set()
    reader.join()
    assert failures == []


def test_counts_are_rolled_up_and_stay_the_same(folder: Path) -> None:
    """Hundreds of small batches become one row for each note and session; no delivery is lost on the way."""
    store = open_store(str(folder))
    for number in range(100):
        store.usage.record(["A", "B"], f"s{number % 3}", day(number))
        store.usage.flush()
        store.maintain()
    assert store.usage.counts(["A"], "s0")["A"] == Count(34, 100, day(99), day(99))
    assert store.usage._table.count_rows() <= 6 + 2 * 33


def test_counts_of_sessions_long_over_are_kept_in_all_only(folder: Path) -> None:
    """So the table grows with the notes that are read, not with the conversations there ever were."""
    store = open_store(str(folder))
    for number in range(100):
        store.usage.record(["A"], f"s{number}", day(number))
        store.usage.flush()
    store.maintain()
    assert store.usage.counts(["A"], "s1")["A"] == Count(0, 100, day(99))
    assert store.usage.counts(["A"], "s99")["A"] == Count(1, 100, day(99), day(99))
