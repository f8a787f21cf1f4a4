"""Power cuts and kills: what was acknowledged is on the disk, and what a crash tore is set aside."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from log_entries import write
from log_text import day
from processes import WRITER, elsewhere, ids_in

from stilltrue.errors import StoreTrouble
from store.folder.recovery import heal
from store.lance.store import LanceStore
from store.open import open_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Iterator[LanceStore]:
    made = open_store(str(folder))
    yield made
    made.close()


def test_an_append_is_on_the_disk_when_it_returns(
    store: LanceStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new data file, then its folder, then the new manifest and its folder are synced, in that order."""
    write(store, "A")
    before = {file for file in folder.rglob("*") if file.is_file()}
    synced: list[Path] = []
    fsync = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda handle: (synced.append(Path(os.readlink(f"/proc/self/fd/{handle}"))), fsync(handle))[1]
    )
    write(store, "B")
    log_folder = folder / "log.lance"
    new = {file for file in folder.rglob("*") if file.is_file()} - before
    (data,) = (file for file in new if file.parent.name == "data")
    (manifest,) = (file for file in new if file.suffix == ".manifest")
    wanted = [data, log_folder / "data", manifest, log_folder / "_versions"]
    assert [path for path in synced if path in wanted] == wanted


def test_what_another_process_left_unsynced_is_synced_before_a_note_rests_on_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer killed between its commit and its fsync leaves a version; the next writer's note stands on it."""
    first, second = open_store(str(folder)), open_store(str(folder))
    write(second, "A")
    monkeypatch.setattr(first._backend.log.now().syncer, "sync", lambda version: None)
    write(first, "B")
    synced: list[Path] = []
    fsync = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda handle: (synced.append(Path(os.readlink(f"/proc/self/fd/{handle}"))), fsync(handle))[1]
    )
    write(second, "C")
    assert sum(path.parent.name == "data" for path in synced) == 2


def zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def halve(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def newest(folder: Path, kind: str) -> Path:
    files = (folder / "log.lance" / kind).iterdir()
    if kind == "_versions":
        return min(file for file in files if file.suffix == ".manifest")
    return max(files, key=lambda file: file.stat().st_mtime_ns)


TORN = [
    ("_versions", empty),
    ("_versions", halve),
    ("_versions", zeros),
    ("data", empty),
    ("data", halve),
    ("data", zeros),
    ("data", Path.unlink),
]


@pytest.mark.parametrize(("kind", "tear"), TORN)
def test_a_torn_newest_version_is_set_aside_and_named(
    folder: Path, caplog: pytest.LogCaptureFixture, kind: str, tear: Callable[[Path], None]
) -> None:
    """Opening steps back to the last whole version, keeps the torn files, and says where they are."""
    write(open_store(str(folder)), "A", "B", "C")
    manifest, torn = newest(folder, "_versions"), newest(folder, kind)
    tear(torn)
    with caplog.at_level(logging.WARNING):
        healed = open_store(str(folder))
    assert ids_in(healed) == {"A", "B"}
    for name in {manifest.name, torn.name} if torn.exists() or tear is not Path.unlink else {manifest.name}:
        assert (folder / "set-aside" / "log" / name).exists()
        assert name in caplog.text
        assert name in healed.health().problems[0]
    write(healed, "D")
    assert ids_in(open_store(str(folder))) == {"A", "B", "D"}


def test_several_torn_versions_are_stepped_over(folder: Path) -> None:
    """A power cut can tear all that was written in the last seconds; the same number may tear twice."""
    for _ in range(2):
        store = open_store(str(folder))
        write(store, "A") if not ids_in(store) else None
        write(store, "B", "C")
        for manifest in sorted((folder / "log.lance" / "_versions").glob("*.manifest"))[:2]:
            zeros(manifest)
        assert ids_in(open_store(str(folder))) == {"A"}
    assert len([*(folder / "set-aside" / "log").glob("*.manifest")]) == 4


def snapshot(folder: Path) -> dict[Path, bytes]:
    """Every file of the log, with its content."""
    return {file: file.read_bytes() for file in (folder / "log.lance").rglob("*") if file.is_file()}


@pytest.mark.parametrize("damage", [Path.unlink, zeros])
@pytest.mark.parametrize("after", [1, 5])
def test_a_file_that_later_writes_rest_on_is_missed_by_name_and_nothing_is_moved(
    folder: Path, after: int, damage: Callable[[Path], None]
) -> None:
    """It was on the disk before the second of them began: stepping back would lose what was acknowledged."""
    store = open_store(str(folder))
    write(store, "A", "B")
    lost = newest(folder, "data")
    write(store, *(f"n{number}" for number in range(after)))
    damage(lost)
    before = snapshot(folder)
    with pytest.raises(StoreTrouble, match=f"{lost.name} is .* no crash can be why: {after + 1} writes rest on it"):
        open_store(str(folder))
    assert (snapshot(folder), (folder / "set-aside").exists()) == (before, False)


def test_a_compaction_that_tore_under_one_append_gives_way(folder: Path) -> None:
    """It is on no disk before the append that follows it is: both are undone by a power cut between."""
    store = open_store(str(folder))
    write(store, *(f"n{number:02}" for number in range(40)))
    before = {*(folder / "log.lance" / "data").iterdir()}
    store._backend.table.optimize()
    (compacted,) = {*(folder / "log.lance" / "data").iterdir()} - before
    write(store, "late")
    zeros(compacted)
    assert len(ids_in(open_store(str(folder)))) == 40


def test_a_torn_index_gives_way_to_the_version_before_it(folder: Path) -> None:
    """A compaction that did not reach the disk whole is undone, with no note lost."""
    store = open_store(str(folder))
    write(store, *(f"n{number:02}" for number in range(40)))
    before = {file.name for file in (folder / "log.lance" / "_indices").iterdir()}
    store.maintain()
    for index in (folder / "log.lance" / "_indices").iterdir():
        if index.name not in before:
            for file in index.iterdir():
                zeros(file)
    assert len(ids_in(open_store(str(folder)))) == 40


def test_a_store_without_a_whole_version_is_refused_and_left_as_it_is(folder: Path) -> None:
    """Nothing is moved where there is nothing to step back to."""
    write(open_store(str(folder)), "A")
    manifests = sorted((folder / "log.lance" / "_versions").glob("*.manifest"))
    for manifest in manifests:
        zeros(manifest)
    with pytest.raises(StoreTrouble, match=manifests[0].name):
        open_store(str(folder))
    assert sorted((folder / "log.lance" / "_versions").glob("*.manifest")) == manifests


def test_a_compacted_store_has_nothing_to_heal(store: LanceStore, folder: Path) -> None:
    """The manifest of a compaction also names, in its history, files that are gone; they are not missed."""
    write(store, *(f"n{number:02}" for number in range(40)))
    for _ in range(2):
        store._backend.table.optimize(cleanup_older_than=timedelta(milliseconds=1))
    assert heal(folder / "log.lance", folder / "set-aside") == []
    assert len(ids_in(open_store(str(folder)))) == 40


def test_torn_counts_do_not_cost_the_store(folder: Path) -> None:
    """The counts are beside the log: where they are beyond healing, the notes are read without them."""
    store = open_store(str(folder))
    write(store, "A")
    store.usage.record(["A"], "s", day(1))
    store.close()
    for manifest in (folder / "usage.lance" / "_versions").glob("*.manifest"):
        zeros(manifest)
    again = open_store(str(folder))
    again.usage.record(["A"], "s", day(2))
    again.close()
    assert (ids_in(again), again.usage.counts(["A"], "s")["A"].total) == ({"A"}, 1)


@pytest.mark.slow
def test_ten_writers_killed_in_mid_write_lose_nothing_they_acknowledged(folder: Path) -> None:
    """kill -9 at any moment: what was acknowledged is there, and the store opens and takes the next note."""
    acknowledged: set[str] = set()
    for round_number in range(10):
        with elsewhere(WRITER, folder, f"r{round_number}", "100000") as writer:
            assert writer.stdout
            for _ in range(2 + 4 * round_number):
                acknowledged.add(writer.stdout.readline().strip())
            writer.send_signal(signal.SIGKILL)
            acknowledged.update(writer.stdout.read().split())
    found = ids_in(open_store(str(folder)))
    assert acknowledged - {"open"} <= found
    assert len(found - acknowledged) <= 10
