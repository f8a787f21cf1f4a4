"""Several processes on one store: nobody loses a note, nobody is behind, nobody waits for the dead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from log_entries import put, write
from log_text import log
from processes import WRITER, elsewhere, ids_in

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


@pytest.mark.slow
def test_four_processes_write_fifty_notes_each_and_none_is_lost(folder: Path) -> None:
    """Every note that a writer was told is stored is in the store, once, while any of them may compact."""
    writers = [elsewhere(WRITER, folder, name, "50") for name in "abcd"]
    acknowledged = [line for writer in writers for line in writer.communicate()[0].split() if line != "open"]
    assert [writer.returncode for writer in writers] == [0] * 4
    store = open_store(str(folder))
    assert ids_in(store) == set(acknowledged)
    assert (store.health().notes, len(acknowledged)) == (200, 200)


def test_a_read_sees_at_once_what_another_process_wrote(store: LanceStore, folder: Path) -> None:
    """No handle is ever behind: the note is found as soon as it was acknowledged elsewhere."""
    put(store, log('A  remembered "the build is red"'))
    with elsewhere(WRITER, folder, "b", "1") as writer:
        assert writer.stdout
        assert [writer.stdout.readline().strip() for _ in range(2)] == ["open", "b0000"]
        assert [record.events[0].id for record in store.chains(["b0000"])] == ["b0000"]
        assert [hit.note_id for hit in store.by_text("note", ["team"], 5)] == ["b0000"]


def test_a_lock_that_cannot_be_had_in_time_is_told(store: LanceStore, folder: Path) -> None:
    """Readers do not wait for it; a writer does, and then says what is wrong."""
    other = open_store(str(folder), lock_timeout_s=0.05)
    with store.writing():
        assert ids_in(other) == set()
        with pytest.raises(StoreTrouble, match=r"write\.lock"), other.writing():
            pass
    write(other, "A")


HOLDER = """
import sys
from store.open import open_store
with open_store(sys.argv[1]).writing():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_of_a_killed_process_is_not_in_the_way(store: LanceStore, folder: Path) -> None:
    """The lock ends with its process, however that ends."""
    with elsewhere(HOLDER, folder) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        holder.kill()
    write(store, "A")
    assert ids_in(store) == {"A"}
