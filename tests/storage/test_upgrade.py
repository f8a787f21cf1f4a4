"""A store of an older schema: a copy of it is brought up to date, compared and used, and the old one stays."""

from __future__ import annotations

import logging
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from command_line_store import stilltrue
from contexts import NOON, Agent
from processes import elsewhere, ids_in
from sample_store import answers, unpacked

from stilltrue.errors import StoreTrouble
from stilltrue.formats.jsonl import lines
from store.admin.check import check
from store.folder.backend import open_existing
from store.folder.erasure import Intent, erase
from store.lance.schema import UPGRADES, VERSION
from store.lance.store import LanceStore
from store.layout import NEXT
from store.open import open_store


def add_language(table: Any) -> None:
    """What a step does as a rule: one more column."""
    table.add_columns({"language": "cast(NULL as string)"})


TO_3: Mapping[int, Callable[[Any], None]] = {**UPGRADES, 3: add_language}
TO_4 = {**TO_3, 4: lambda table: table.add_columns({"region": "cast(NULL as string)"})}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def recorded(folder: Path) -> dict[str, Any]:
    """A store of this version is in the folder: the sample of version 1, upgraded. This is what it answered then."""
    recorded = unpacked(1, folder)
    open_store(str(folder))
    shutil.rmtree(folder / "before-version-2")
    return recorded


def later(store: LanceStore) -> str:
    """Stores one more note, and returns its id."""
    agent = Agent(store)
    agent.clock.on(days=100)
    return agent.note("written later", subjects=["office"])


def files(folder: Path) -> dict[str, bytes]:
    """What lies in a store, but for the files that are only locks."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".lock"
    }


def test_the_sample_of_version_1_opens_and_answers_as_recorded(folder: Path) -> None:
    """Fold, searches, requirements and counts are what the program said that wrote it; it can be written to."""
    recorded = unpacked(1, folder)
    store = open_store(str(folder))
    assert (answers(store), store.health().schema_version) == (recorded, VERSION)
    later(store)
    assert check(open_existing(folder)).problems == ()


def test_a_copy_is_upgraded_and_the_original_stays_under_a_name_that_is_told(
    folder: Path, recorded: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The new store says what the old one said; the old one is whole, and opens where it lies."""
    with caplog.at_level(logging.WARNING):
        store = open_store(str(folder), upgrades=TO_3)
    assert (answers(store), store.health().schema_version) == (recorded, 3)
    assert "language" in store._backend.table.schema.names
    assert f"from schema version 2 to 3. As it was before, it is kept in {folder / 'before-version-3'}" in caplog.text
    later(store)
    report = check(open_existing(folder, upgrades=TO_3))
    assert report.problems == ()
    assert report.remarks[-1].startswith("before-version-3 is the store as it was before an upgrade")
    kept = open_store(str(folder / "before-version-3"))
    assert kept.health().schema_version == 2
    assert answers(kept) | {"counts": recorded["counts"]} == recorded


def test_an_upgraded_store_is_opened_as_it_is(folder: Path, recorded: dict[str, Any]) -> None:
    """The step is taken once; what is written afterwards is there at the next start."""
    written = later(open_store(str(folder), upgrades=TO_3))
    log = (folder / "store.json").read_bytes()
    again = open_store(str(folder), upgrades=TO_3)
    assert written in ids_in(again)
    assert (folder / "store.json").read_bytes() == log
    assert [each.name for each in folder.glob("before-*")] == ["before-version-3"]


def test_several_steps_are_taken_in_one_go_or_one_after_the_other(folder: Path, recorded: dict[str, Any]) -> None:
    """From 2 to 4 at once, the original is that of 2; by way of 3, there are two of them."""
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    stores = [open_store(str(folder), upgrades=TO_4), open_store(str(other), upgrades=TO_3)]
    stores[1] = open_store(str(other), upgrades=TO_4)
    assert [answers(store) for store in stores] == [recorded, recorded]
    assert [store.health().schema_version for store in stores] == [4, 4]
    kept = [sorted(each.name for each in place.glob("before-*")) for place in (folder, other)]
    assert kept == [["before-version-4"], ["before-version-3", "before-version-4"]]


def test_a_newer_store_is_refused_also_by_a_server_that_has_it_open(folder: Path, recorded: dict[str, Any]) -> None:
    """What an older program would write into the old log would be lost, so that it writes nothing."""
    server = open_store(str(folder))
    open_store(str(folder), upgrades=TO_3)
    before = files(folder)
    for use in (
        lambda: later(server),
        lambda: server.by_text("office", None, 5),
        lambda: open_store(str(folder)),
        lambda: open_existing(folder),
    ):
        with pytest.raises(StoreTrouble, match=r"schema version 3; this program knows versions up to 2.*newer"):
            use()
    assert files(folder) == before


def lose_revocations(table: Any) -> None:
    table.delete("kind = 'revoked'")


def lose_a_subject(table: Any) -> None:
    table.delete("kind = 'subject' AND id = 's:office'")


def change_a_note(table: Any) -> None:
    table.update(where="kind = 'remembered'", values={"text": "something else"})


def fail(table: Any) -> None:
    table.add_columns({"language": "cast(NULL as string)"})
    raise RuntimeError("no space left on device")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (lose_revocations, r"It has 0 rows of kind revoked, and 2 were there\. Note .* is not what it was"),
        (lose_a_subject, r"It has 2 rows of kind subject, and 3 were there"),
        (change_a_note, r"Note \w+ is not what it was"),
        (fail, r"to schema version 3 failed: no space left on device"),
    ],
)
def test_a_step_that_loses_or_changes_something_is_refused_and_the_original_untouched(
    folder: Path, recorded: dict[str, Any], step: Callable[[Any], None], said: str
) -> None:
    """It is said what would be lost. Nothing is left of the attempt, and the program that wrote it can go on."""
    before = files(folder)
    with pytest.raises(StoreTrouble, match=f"{said}.*The store is as it was"):
        open_store(str(folder), upgrades={**UPGRADES, 3: step})
    assert files(folder) == before
    assert answers(open_store(str(folder))) == recorded


def test_what_a_crash_tore_is_healed_before_the_copy_is_made(folder: Path, recorded: dict[str, Any]) -> None:
    """The copy is of the last whole version."""
    store = open_store(str(folder))
    later(store)
    min((folder / "log-2.lance" / "_versions").glob("*.manifest")).write_bytes(b"")
    again = open_store(str(folder), upgrades=TO_3)
    assert answers(again) == recorded
    assert [*(folder / "set-aside" / "log-2").iterdir()]


def test_an_erasure_takes_the_kept_original_with_it(folder: Path, recorded: dict[str, Any]) -> None:
    """It holds the words as well, in an older form that is not rewritten."""
    open_store(str(folder), upgrades=TO_3)
    whole = open_existing(folder, upgrades=TO_3)
    note = next(event for event in whole.events() if event.note.text == "the lease ends in May")  # type: ignore[union-attr]
    erase(
        folder, whole.table, whole.writers, whole.maintenance, Intent((note.id,), datetime(2027, 1, 1, tzinfo=UTC), 1)
    )
    assert [name for name, content in files(folder).items() if b"the lease ends in May" in content] == []
    assert [*folder.glob("before-*")] == []


OPENS = """
import os, signal, sys
from store.folder import generations, migrate
from store.lance.schema import UPGRADES
from store.lance.store import LanceStore
from store.open import open_store
step, after, folder = sys.argv[1], sys.argv[2] == "True", sys.argv[3]
def add_language(table):
    table.add_columns({"language": "cast(NULL as string)"})
    if step == "the step":
        os.kill(os.getpid(), signal.SIGKILL)
owner = migrate if hasattr(migrate, step) else generations
whole = getattr(owner, step, None)
def die(*arguments, **more):
    if after:
        whole(*arguments, **more)
    os.kill(os.getpid(), signal.SIGKILL)
if whole:
    setattr(owner, step, die)
print(open_store(folder, upgrades={**UPGRADES, 3: add_language}).health().schema_version)
"""
"""Opens a store, which upgrades it, and is killed right before or right after one of the steps of that."""

MOMENTS = [
    ("begin", True),
    ("copy_version", True),
    ("the step", True),
    ("differences", True),
    ("switch", False),
    ("write_meta", False),
    ("write_meta", True),
    ("sync_folder", False),
    ("settle", True),
]


@pytest.mark.parametrize(
    ("step", "after"),
    [
        pytest.param(*each, marks=() if each == ("write_meta", True) else pytest.mark.slow, id=f"{each}")
        for each in MOMENTS
    ],
)
def test_a_kill_leaves_the_old_store_or_the_new_one_and_the_next_start_ends_it(
    folder: Path, recorded: dict[str, Any], step: str, after: bool
) -> None:
    """kill -9 between any two steps: an older program opens the old store, a newer one upgrades or finishes."""
    with elsewhere(OPENS, step, str(after), folder) as process:
        # `settle` is also what an upgrade begins with.
        assert process.wait() == -signal.SIGKILL
    if (step, after) not in (("write_meta", True), ("sync_folder", False)):
        assert answers(open_store(str(folder))) == recorded
    store = open_store(str(folder), upgrades=TO_3)
    assert (answers(store), store.health().schema_version) == (recorded, 3)
    assert answers(open_store(str(folder / "before-version-3"))) | {"counts": recorded["counts"]} == recorded
    assert sorted(each.name for each in folder.glob("*.lance")) == ["log-3.lance", "usage.lance"]
    assert not (folder / NEXT).exists()


def test_two_that_open_it_at_once_upgrade_it_once(folder: Path, recorded: dict[str, Any]) -> None:
    """The second waits for the first, and finds the work done."""
    both = [elsewhere(OPENS, "nothing", "False", folder) for _ in range(2)]
    assert [process.communicate()[0].split() for process in both] == [["3"], ["3"]]
    assert [each.name for each in folder.glob("before-*")] == ["before-version-3"]
    assert answers(open_store(str(folder), upgrades=TO_3)) == recorded


def test_a_store_that_was_re_embedded_is_upgraded_like_any_other(folder: Path, recorded: dict[str, Any]) -> None:
    """Its log has another name by then."""
    from reembed_processes import OTHER, run

    run(folder)
    stat = (folder / "store.json").stat()
    os.utime(folder / "store.json", (stat.st_atime, stat.st_mtime - 90))
    store = open_store(str(folder), upgrades=TO_3)
    assert (store.fingerprint, store.health().schema_version) == (OTHER.fingerprint, 3)
    assert [*lines(store.events(), NOON)] == recorded["log"]
    store.maintain()
    assert sorted(each.name for each in folder.glob("*.lance")) == ["log-2.lance", "log-4.lance", "usage.lance"]


def test_the_status_tells_the_version(
    folder: Path, recorded: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """That of the store."""
    assert stilltrue(folder, "status") == 0
    assert "schema:    version 2" in capsys.readouterr().out
