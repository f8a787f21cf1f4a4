"""`stilltrue backup`: a copy of one moment, made while servers run, and proven before it is called one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line_store import at_work, filled, stilltrue, whole

from stilltrue.errors import StoreTrouble
from store.admin.backup import backup
from store.admin.check import check
from store.open import open_store


def test_a_backup_is_the_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The copy opens, holds the same events, vectors and counts, and nothing is wrong with it."""
    agent = filled(tmp_path / "store")
    assert stilltrue(tmp_path / "store", "backup", tmp_path / "copy") == 0
    events = agent.store.events()
    assert f"{len(events)} events" in capsys.readouterr().out
    copy = open_store(str(tmp_path / "copy"))
    assert (copy.events(), copy.fingerprint) == (events, agent.store.fingerprint)
    ids = [event.id for event in events]
    assert copy.usage.counts(ids, "") == agent.store.usage.counts(ids, "")
    report = check(whole(tmp_path / "copy"))
    assert (report.problems, report.remarks) == ((), ())


def test_backups_are_consistent_while_a_server_writes_and_compacts(tmp_path: Path) -> None:
    """Each of several copies is whole, checks clean, and holds what was acknowledged before it was begun."""
    filled(tmp_path / "store")
    with at_work(tmp_path / "store") as acknowledged:
        for number in range(2):
            before = list(acknowledged)
            assert stilltrue(tmp_path / "store", "backup", tmp_path / f"copy {number}") == 0
            assert {event.id for event in whole(tmp_path / f"copy {number}").events()} >= set(before)
            assert check(whole(tmp_path / f"copy {number}")).problems == ()


def test_a_copy_has_one_version_and_none_of_the_litter(tmp_path: Path) -> None:
    """What is copied is what the newest version needs, so that a backup is as small as a compacted store."""
    filled(tmp_path / "store")
    (tmp_path / "store" / "log.lance" / "data" / "litter.lance").write_bytes(b"half a compaction")
    stilltrue(tmp_path / "store", "backup", tmp_path / "copy")
    assert len([*(tmp_path / "copy" / "log.lance" / "_versions").glob("*.manifest")]) == 1
    assert not (tmp_path / "copy" / "log.lance" / "data" / "litter.lance").exists()


def test_a_folder_with_anything_in_it_is_refused_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A backup never mixes with another one, nor with the store itself."""
    filled(tmp_path / "store")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("ten years of work")
    (tmp_path / "file").write_text("a file")
    for target in ("full", "file", "store/backup", "store", "file/below"):
        assert stilltrue(tmp_path / "store", "backup", tmp_path / target) == 1
        assert str(tmp_path / target) in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["thesis.txt"]


def test_a_copy_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    """A store that loses a file meanwhile cannot be copied; no half copy is there that could be taken for one."""
    filled(tmp_path / "store")
    opened = whole(tmp_path / "store")
    next((tmp_path / "store" / "log.lance" / "data").iterdir()).unlink()
    (tmp_path / "there").mkdir()
    for name in ("there", "new"):
        with pytest.raises(StoreTrouble):
            backup(opened, tmp_path / name)
    assert not any((tmp_path / "there").iterdir())
    assert not (tmp_path / "new").exists()


def test_an_empty_store_can_be_copied(tmp_path: Path) -> None:
    """Also one that has no vector space yet."""
    open_store(str(tmp_path / "store")).close()
    assert stilltrue(tmp_path / "store", "backup", tmp_path / "copy") == 0
    assert json.loads((tmp_path / "copy" / "store.json").read_text())["fingerprint"] is None
