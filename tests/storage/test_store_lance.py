"""Where a store on the disk can lie, what it says of itself, and what it refuses to open."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from log_entries import MODEL, put, write
from log_text import log
from processes import elsewhere, ids_in

from stilltrue.errors import StoreTrouble
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


@pytest.mark.parametrize("name", ["with spaces", "団体の記憶", "🦊 & ‘quotes’", "100%23#?", "a'b"])
def test_a_store_can_lie_in_any_folder(tmp_path: Path, name: str) -> None:
    """A path is a path: no character of it means anything."""
    store = open_store(str(tmp_path / name / "store"))
    put(store, log('A  remembered "the build is red"'))
    store.close()
    assert ids_in(open_store(str(tmp_path / name / "store"))) == {"A"}
    assert [file.name for file in tmp_path.iterdir()] == [name]


OPENER = """
import os, sys
from stilltrue.errors import StoreTrouble
from store.lance.engine import load
from store.open import open_store
load()  # While its files can still be read: they may be those of a user with more rights.
if os.geteuid() == 0:
    os.setuid(65534)
try:
    open_store(sys.argv[1])
except StoreTrouble as trouble:
    print(trouble)
"""


def test_a_folder_without_the_right_to_write_is_refused_with_its_path_and_the_way_out() -> None:
    """Told when it is opened, not when the first note is lost."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o555)
        said, _ = elsewhere(OPENER, place).communicate()
    assert place in said
    assert "right to write" in said


def test_a_location_that_is_a_file_is_refused(tmp_path: Path) -> None:
    """With the path, and what to configure instead."""
    (tmp_path / "file").write_text("not a folder")
    for location in (tmp_path / "file", tmp_path / "file" / "store"):
        with pytest.raises(StoreTrouble, match="is a folder"):
            open_store(str(location))


def test_a_location_of_an_unknown_sort_is_refused() -> None:
    """It is not taken for a folder with an odd name."""
    with pytest.raises(StoreTrouble, match="of a sort that is not known"):
        open_store("gs://bucket/store")


FULL = """
import resource, signal, sys
from stilltrue.errors import StoreTrouble
from log_entries import note, write
from store.open import open_store
from store.port import Entry
store = open_store(sys.argv[1])
write(store, "A")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, -1))
try:
    with store.writing():
        store.append([Entry(note("B", "many words " * 20_000), "B")])
except StoreTrouble as trouble:
    print(trouble)
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
write(store, "C")
print(store.near_ids(""))
"""


def test_a_disk_that_is_full_is_told_and_nothing_is_half_written(folder: Path) -> None:
    """The append fails whole, says so, and the store goes on when there is room again."""
    said, _ = elsewhere(FULL, folder).communicate()
    assert "nothing was" in said
    assert "Free some space" in said
    assert said.endswith("['A', 'C']\n")


SMALL_DISK = """
import sys
from stilltrue.errors import StoreTrouble
from log_entries import note, write
from store.open import open_store
from store.port import Entry
store = open_store(sys.argv[1])
stored = []
try:
    for number in range(10_000):
        with store.writing():
            store.append([Entry(note(f"n{number:04}", "many words " * 2_000), f"n{number:04}")])
        stored.append(f"n{number:04}")
except StoreTrouble as trouble:
    print(trouble)
print(sorted(set(store.near_ids("", limit=10_000)) ^ set(stored)))
open(sys.argv[2], "w").close()  # the ballast goes, and with it there is room again
store.maintain()
write(store, "z")
print(store.near_ids("z"))
"""


def test_a_small_disk_that_fills_up_holds_exactly_what_was_acknowledged(tmp_path: Path) -> None:
    """On a real file system of six megabytes, where whoever runs this may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)]
    if mount is None or subprocess.run([mount, *options], capture_output=True).returncode:
        pytest.skip("no right to mount a file system; the test above fills a file instead")
    try:
        (disk / "ballast").write_bytes(b"x" * 3_000_000)
        said, _ = elsewhere(SMALL_DISK, disk / "store", disk / "ballast").communicate()
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert "Free some space" in said
    assert said.splitlines()[-2:] == ["[]", "['z']"]


def test_a_store_of_a_newer_schema_is_refused_untouched(folder: Path) -> None:
    """The message names both versions; not a byte of the store changes."""
    write(open_store(str(folder)), "A")
    (folder / "store.json").write_text(json.dumps({"schema_version": 99, "something": "new"}))
    before = {file: file.stat().st_mtime_ns for file in (folder / "log.lance").rglob("*")}
    with pytest.raises(StoreTrouble, match=r"version 99.*up to 2"):
        open_store(str(folder))
    assert {file: file.stat().st_mtime_ns for file in (folder / "log.lance").rglob("*")} == before


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"schema_version": null}', '{"schema_version": 1, "fingerprint": 3}']
)
def test_a_store_that_does_not_say_what_it_is_is_refused(folder: Path, content: str) -> None:
    """Guessing would be writing over it."""
    open_store(str(folder))
    (folder / "store.json").write_text(content)
    with pytest.raises(StoreTrouble, match=r"store\.json"):
        open_store(str(folder))


def test_a_log_is_never_begun_anew_over_notes(folder: Path) -> None:
    """Neither a lost store.json nor a lost log passes for an empty store."""
    write(open_store(str(folder)), "A")
    said = (folder / "store.json").read_text()
    (folder / "store.json").unlink()
    with pytest.raises(StoreTrouble, match=r"no store\.json"):
        open_store(str(folder))
    (folder / "store.json").write_text(said)
    (folder / "log.lance").rename(folder / "elsewhere")
    with pytest.raises(StoreTrouble, match="lost its log"):
        open_store(str(folder))


def test_a_store_whose_creation_was_interrupted_is_finished(folder: Path) -> None:
    """Killed before store.json was there: nobody was told of a store, and the next opening makes it one."""
    open_store(str(folder))
    (folder / "store.json").unlink()
    store = open_store(str(folder))
    write(store, "A")
    assert len(store._backend.table.list_indices()) == 9


def test_the_vector_space_outlives_the_process(folder: Path) -> None:
    """It is the same for every process, and a process that opened before it was taken learns of it."""
    first, second = open_store(str(folder)), open_store(str(folder))
    assert first.adopt(MODEL.fingerprint)
    assert second.fingerprint == MODEL.fingerprint == open_store(str(folder)).fingerprint
    put(second, log('A  remembered "the build is red"'))
    assert first.by_vector(MODEL.embed(["build"])[0], None, 1)[0].note_id == "A"


def test_opening_is_what_loads_the_engine() -> None:
    """Importing the adapter costs nothing: the server answers its handshake before the engine is there."""
    program = "import store.lance.store, sys; print([m for m in ('lancedb', 'pyarrow') if m in sys.modules])"
    assert elsewhere(program).communicate()[0] == "[]\n"


def test_what_is_left_out_while_the_engine_loads_can_be_had_afterwards() -> None:
    """Somebody else in the process may want the REST client that a local store does without."""
    program = (
        "from store.lance.engine import load; load(); from lance_namespace_urllib3_client import ApiClient; print(1)"
    )
    assert elsewhere(program).communicate()[0] == "1\n"
