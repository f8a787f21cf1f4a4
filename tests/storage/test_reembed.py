"""`stilltrue reembed`: another model takes over in one moment, and nothing of two models is ever compared."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from command_line_store import at_work, filled, stilltrue, whole
from contexts import Agent, Ready, rules, told
from fakes import FakeEmbedder, OtherModel
from log_entries import write
from processes import elsewhere
from reembed_processes import MOMENTS, OTHER, PROGRAM, bytes_of_vector, run

from stilltrue.errors import StoreTrouble
from stilltrue.event import meant_by
from store.admin.check import check
from store.lance.store import LanceStore
from store.layout import NEXT
from store.open import open_store
from store.port import Embedded
from tools.support.context import embed

SECRET = "Wolkenkuckucksheimverwaltung pays Tom a pension"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


def many(folder: Path) -> Agent:
    """A store with every kind of event, and enough texts for several files."""
    agent = filled(folder)
    for number in range(8):
        agent.note(f"fact {number} about cooking", subjects=["kitchen"], cues=["when cooking"])
    return agent


def with_other(agent: Agent) -> Agent:
    """The same process as if the other model were configured."""
    return agent.but(embedding=Ready(OTHER))


def texts(folder: Path) -> list[str]:
    """The texts that are to have a vector."""
    return [meant_by(event)[0] for event in whole(folder).events() if meant_by(event)[0]]


def bare(folder: Path) -> list[str]:
    """The texts that have none."""
    where = "vector IS NULL AND text != '' AND kind IN ('remembered', 'revoked', 'cue')"
    found: list[str] = (
        whole(folder).table.search().where(where).select(["text"]).to_arrow().column("text").to_pylist()
    )
    return found


def holding(folder: Path, content: bytes) -> list[str]:
    """The files under a folder that hold these bytes."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [str(file.relative_to(folder)) for file in files if content in file.read_bytes()]


def test_every_text_is_found_in_the_new_space_and_the_log_says_the_same(folder: Path) -> None:
    """Notes, pieces cut for the other window, cues and reasons; with sketches; nothing else has changed."""
    many(folder)
    before = whole(folder).events()
    pieces = whole(folder).table.count_rows("kind = 'piece'")
    number, said, seen = run(folder)
    report = check(whole(folder))
    assert (number, said, sorted(seen)) == (len(texts(folder)), [], sorted(texts(folder)))
    assert (report.problems, report.remarks, whole(folder).events()) == ((), (), before)
    assert whole(folder).log.fingerprint == OTHER.fingerprint
    assert (bare(folder), whole(folder).table.count_rows("sketch IS NULL AND vector IS NOT NULL")) == ([], 0)
    assert report.counts["piece"] > pieces
    assert report.counts["cue"] == 9
    (found,) = open_store(str(folder)).by_vector(OTHER.embed(["when signing contracts"])[0], None, 1)
    assert round(found.score, 3) == 1.0


def test_running_servers_follow_without_a_restart(folder: Path) -> None:
    """With the new model they use vectors from the switch on; with the old one, words, and say what to do."""
    old = many(folder)
    new = Agent(open_store(str(folder)), OTHER, clock=old.clock)
    early = new.recall("where is the office")
    assert (early.data.degraded, old.recall("where is the office").data.degraded) == (True, False)
    assert "run `stilltrue reembed` with it" in early.text
    run(folder)
    late = new.recall("where is the office")
    assert (late.data.degraded, told(late)[0]) == (False, told(early)[0])
    answer = old.recall("where is the office for Priya")
    assert answer.data.degraded
    assert "the store's vectors are of fake-other@111111111111/96" in answer.text
    assert rules(answer) == rules(new.recall("where is the office for Priya"))
    bare_id = old.note("the old model is still configured here")
    vectors = new.store.chains_of([bare_id, new.note("the new one here")])
    assert [set(map(len, each.vectors.values())) for each in vectors] == [set(), {96}]


def test_where_nothing_is_to_be_done_nothing_is_done(folder: Path) -> None:
    """A second run embeds nothing; a text that was stored without a model is given its vector, and no other."""
    agent = many(folder)
    run(folder)
    log = whole(folder).table.name
    assert run(folder) == (0, [], [])
    assert whole(folder).table.name == log
    agent.but(embedding=Ready(None, "no model")).note("stored without a model " * 40, cues=["when there is none"])
    number, _, seen = run(folder)
    assert (number, len(seen), bare(folder)) == (len(texts(folder)), 1, [])
    assert check(whole(folder)).problems == ()


def test_a_store_without_vectors_is_given_them(folder: Path) -> None:
    """Where no model has ever been configured, the first one embeds all that is there."""
    write(open_store(str(folder)), *(f"n{number}" for number in range(9)))
    assert run(folder)[0] == 9
    assert (bare(folder), whole(folder).log.fingerprint) == ([], OTHER.fingerprint)


def test_what_is_written_meanwhile_is_embedded_before_the_switch(folder: Path) -> None:
    """Whether it comes while texts are embedded or while the new log is made."""
    agent = many(folder)
    written: list[str] = []

    def make(text: str, cues: tuple[str, ...]) -> Embedded:
        if len(written) < 20:
            written.append(agent.note(f"written meanwhile {len(written)}", cues=["when it is late"]))
        assert not agent.recall("what was written meanwhile").data.degraded
        return embed(OTHER, text, cues)

    run(folder, make)
    records = with_other(agent).store.chains_of(written)
    assert [len(record.vectors[note_id]) for record, note_id in zip(records, written, strict=True)] == [96] * 20
    assert (bare(folder), check(whole(folder)).problems) == ([], ())


@pytest.mark.slow
def test_a_server_at_work_notices_nothing_but_the_message(folder: Path) -> None:
    """Another process that writes, searches and tends meanwhile meets no error, and loses no note."""
    many(folder)
    with at_work(folder) as acknowledged:
        for _ in range(2):
            run(folder)
    assert {event.id for event in whole(folder).events()} >= set(acknowledged)
    assert check(whole(folder)).problems == ()


def slowly(moment: tuple[str, bool]) -> object:
    """One kill is tried each time, all of them where the long tests run."""
    return pytest.param(*moment, marks=() if moment == ("_fill", True) else pytest.mark.slow, id=f"{moment}")


@pytest.mark.parametrize(("step", "after"), [slowly(moment) for moment in MOMENTS])
def test_a_kill_leaves_the_old_store_or_the_new_one_and_what_was_embedded(
    folder: Path, step: str, after: bool
) -> None:
    """kill -9 between any two steps: the store is whole, and the next run does not embed again what was done."""
    agent = many(folder)
    events = whole(folder).events()
    with elsewhere(PROGRAM, step, str(after), folder) as process:
        assert process.wait() == -signal.SIGKILL
    switched = step in ("write_meta", "settle")
    again = Agent(open_store(str(folder)), OTHER if switched else FakeEmbedder(), clock=agent.clock)
    assert not again.recall("where is the office").data.degraded
    late = again.note("written after the kill")
    report = check(whole(folder))
    assert (report.problems, "left in the middle" in " ".join(report.remarks)) == ((), not switched)
    number, said, seen = run(folder)
    assert (len(seen), number) == ((0, 0) if switched else (1, len(texts(folder))))
    assert bool(said) is not switched
    assert [event for event in whole(folder).events() if event.id != late] == events
    assert (bare(folder), check(whole(folder)).problems, (folder / NEXT).exists()) == ([], (), False)


def test_a_disk_that_fails_leaves_the_old_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No step of it touches the log in use; what was embedded stays for the next time."""
    agent = many(folder)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for step in ("store.admin.reembed.index_columns", "store.folder.generations.write_meta"):
        with monkeypatch.context() as patch:
            patch.setattr(step, full)
            with pytest.raises(StoreTrouble, match=r"failed to be re-embedded.*Free some"):
                run(folder)
        assert not agent.recall("where is the office").data.degraded
        assert not (folder / "log-2.lance").exists()
    assert run(folder)[2] == []


@pytest.mark.parametrize("killed_in", ["Prepared.keep", "_bare"])
def test_an_erasure_takes_the_note_out_of_what_was_prepared(folder: Path, killed_in: str) -> None:
    """Whether a process was killed while it embedded or while it made the log: no word and no vector stays."""
    agent = many(folder)
    note_id = agent.note(SECRET, subjects=["tom"])
    with elsewhere(PROGRAM, killed_in, "True", folder) as process:
        process.wait()
    assert holding(folder, bytes_of_vector(SECRET))
    assert stilltrue(folder, "erase", note_id, "--yes") == 0
    assert holding(folder, bytes_of_vector(SECRET)) == holding(folder, b"Wolkenkuckucksheim") == []
    assert run(folder)[0] == len(texts(folder))
    assert holding(folder, bytes_of_vector(SECRET)) == []
    assert with_other(agent).status(note_id) == "erased"


def test_a_note_that_is_erased_while_it_is_embedded_does_not_come_back(folder: Path) -> None:
    """Its vector is in the memory of the one process while the other proves that it is nowhere."""
    agent = many(folder)
    note_id = agent.note(SECRET, subjects=["tom"])

    def make(text: str, cues: tuple[str, ...]) -> Embedded:
        if text == SECRET:
            assert stilltrue(folder, "erase", note_id, "--yes") == 0
        return embed(OTHER, text, cues)

    run(folder, make)
    assert holding(folder, bytes_of_vector(SECRET)) == []
    assert (check(whole(folder)).problems, bare(folder)) == ((), [])


def test_an_erasure_after_the_switch_takes_the_old_log_with_it(folder: Path) -> None:
    """The log before is another place where the words are, for as long as it is there."""
    agent = many(folder)
    note_id = agent.note(SECRET, subjects=["tom"])
    run(folder)
    assert [file for file in holding(folder, SECRET.encode()) if file.startswith("log.lance")]
    assert stilltrue(folder, "erase", note_id, "--yes") == 0
    assert holding(folder, SECRET.encode()) == []
    assert with_other(agent).status(note_id) == "erased"


def test_the_old_log_goes_once_no_read_is_on_it(folder: Path) -> None:
    """Maintenance removes it a minute after the switch, and with it the old vectors."""
    agent = many(folder)
    run(folder)
    agent.store.maintain()
    assert (folder / "log.lance").exists()
    stat = (folder / "store.json").stat()
    os.utime(folder / "store.json", (stat.st_atime - 90, stat.st_mtime - 90))
    agent.store.maintain()
    assert sorted(each.name for each in folder.glob("*.lance")) == ["log-2.lance", "usage.lance"]
    assert not with_other(agent).recall("where is the office").data.degraded
    assert agent.status(agent.note("and it goes on")) == "current"


def test_a_re_embedded_store_is_backed_up_like_any_other(folder: Path, tmp_path: Path) -> None:
    """The copy has the log of now, and no other."""
    many(folder)
    run(folder)
    assert stilltrue(folder, "backup", tmp_path / "copy") == 0
    assert sorted(each.name for each in (tmp_path / "copy").glob("*.lance")) == ["log-2.lance", "usage.lance"]
    assert (bare(tmp_path / "copy"), check(whole(tmp_path / "copy")).problems) == ([], ())


def switching(store: LanceStore, folder: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the switch happen in another process right before the next call of a method of the store."""
    first = getattr(store, method)

    def later(*arguments: object) -> object:
        monkeypatch.setattr(store, method, first)
        run(folder)
        return first(*arguments)

    monkeypatch.setattr(store, method, later)


@pytest.mark.parametrize("method", ["by_vector", "by_text"])
def test_a_search_into_which_the_switch_falls_compares_nothing_of_two_models(
    folder: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends by words alone, and says so."""
    agent = many(folder)
    words = agent.but(embedding=Ready(None, "no model")).recall("where is the office")
    switching(agent.store, folder, method, monkeypatch)  # type: ignore[arg-type]
    answer = agent.recall("where is the office")
    assert (answer.data.degraded, told(answer)) == (True, told(words))
    assert "re-embedded at this moment" in answer.text


def test_a_write_into_which_the_switch_falls_stores_no_vector_of_the_old_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note is there, is found by its words, and the next run gives it a vector."""
    agent = many(folder)
    switching(agent.store, folder, "writing", monkeypatch)  # type: ignore[arg-type]
    note_id = agent.note("the switch fell into this", cues=["when switching"])
    assert with_other(agent).store.chains_of([note_id])[0].vectors == {}
    assert sorted(bare(folder)) == ["the switch fell into this", "when switching"]
    assert run(folder)[2] == ["the switch fell into this"]
    assert bare(folder) == []


def test_a_search_after_the_switch_finds_nothing_by_a_vector_of_the_old_model(folder: Path) -> None:
    """Also where both models have as many dimensions."""
    agent = many(folder)

    class Same(OtherModel):
        fingerprint = FakeEmbedder.fingerprint.__class__("fake-third", "2" * 64, 64)

        embed = FakeEmbedder.embed

    from store.admin.reembed import reembed

    model = Same()
    vector = FakeEmbedder().embed(["where is the office"])[0]
    assert agent.store.by_vector(vector, None, 5)
    reembed(
        whole(folder),
        model.fingerprint,
        lambda text, cues: embed(model, text, cues),
        lambda line: None,
        lambda done, total: None,
    )
    assert agent.store.by_vector(vector, None, 5) == []


def test_two_do_not_work_at_once(folder: Path) -> None:
    """The second is told, and nothing is lost of what the first does."""
    many(folder)

    def make(text: str, cues: tuple[str, ...]) -> Embedded:
        with pytest.raises(StoreTrouble, match="Another process re-embeds"):
            run(folder)
        return embed(OTHER, text, cues)

    assert run(folder, make)[0] == len(texts(folder))


def test_work_that_was_begun_for_another_model_is_not_used(folder: Path) -> None:
    """Its vectors are of a space that nobody asks for."""
    many(folder)
    with elsewhere(PROGRAM, "Prepared.keep", "True", folder) as process:
        process.wait()
    (place,) = folder.glob("reembed-*")
    space = (place / "space.json").read_bytes()
    (place / "space.json").write_bytes(space.replace(b"fake-other", b"fake-third"))
    number, said, seen = run(folder)
    assert (number, said) == (len(seen), [])


def test_the_command_says_what_it_did(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The configured model takes over from the one before; then nothing is to be done. Progress is on stderr."""
    many(folder)
    assert stilltrue(folder, "reembed", model=True) == 0
    out, err = capsys.readouterr()
    assert (
        f"{len(texts(folder))} texts were embedded. The store's vectors are of sentence-transformers/all-Mini" in out
    )
    assert "they were of fake-bag-of-words@000000000000/64" in out
    assert f"embedded {len(texts(folder))} of {len(texts(folder))}" in err
    assert stilltrue(folder, "reembed", model=True) == 0
    assert "There is nothing to be done" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["--set", "embedding.engine=none"], "there is no model: embedding.engine is none"),
        (["--set", "embedding.path=/nowhere"], "The embedding model's path /nowhere does not exist"),
    ],
)
def test_without_a_model_it_is_refused(
    folder: Path, settings: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a sentence, with exit code 1, and nothing has changed."""
    many(folder)
    assert stilltrue(folder, "reembed", *settings, model=True) == 1
    assert said in capsys.readouterr().err
    assert [*folder.glob("reembed-*")] == []


def test_an_unknown_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is created."""
    assert stilltrue(tmp_path / "nowhere", "reembed") == 1
    assert "There is no store at" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()
