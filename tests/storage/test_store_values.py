"""Any value and any log: no string changes what is stored or asked, and every store gives the same answers."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_entries import entries_of
from log_text import day, log

from stilltrue.chain import partition
from stilltrue.event import Remembered
from stilltrue.note import Note
from store.lance.store import LanceStore
from store.memory import EphemeralStore
from store.open import open_store
from store.port import Count, Entry, IndexEntry, Store

ADAPTERS = ["memory", "lance"]


def opened(adapter: str, folder: Path) -> Store:
    return EphemeralStore() if adapter == "memory" else open_store(str(folder))


@pytest.fixture(params=ADAPTERS, scope="module")
def common_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for all examples of a property: each example brings ids of its own."""
    made = opened(request.param, tmp_path_factory.mktemp("common") / "store")
    yield made
    made.close()


# --- any value ---

HOSTILE = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.sampled_from(
        ["'", "''", "\\'", "\\' OR 1=1) --", "a' OR 'a'='a", "\x00", "'); DROP TABLE log; --", "%", "_", "`id`"]
    ),
    st.text(st.sampled_from("'\\\"`-;%_/*() \x00\nORid="), max_size=12),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=HOSTILE, subject=HOSTILE, klass=HOSTILE, request=HOSTILE, digest=HOSTILE, other=HOSTILE)
def test_no_value_changes_what_is_stored_or_asked(
    common_store: Store, said: str, subject: str, klass: str, request: str, digest: str, other: str
) -> None:
    """Every value comes back as it went in, and every query finds what equals its value and nothing else."""
    own = f"{uuid.uuid4()}:"  # Not drawn: an example that is tried again must not meet its own rows.
    note_id, subject, klass, request, digest = (own + one for one in (other, subject, klass, request, digest))
    carried = Note(note_id, said, (subject,), klass, other, day(1), attribute=other, cues=(said,))
    event = Remembered(carried, (), said, request)
    with common_store.writing():
        common_store.append(
            [Entry(event, note_id, (), (subject,), (klass,), digest, index_entries=(IndexEntry("cue", said, None),))]
        )

    assert common_store.chains([note_id])[0].events == (event,)
    assert common_store.chains_of([note_id, other])[0].events == (event,)
    assert common_store.binding([klass], [subject]) == common_store.binding([klass, other], None) == [event]
    assert common_store.by_request(request) == note_id
    assert common_store.by_digest(digest) == [note_id]
    assert common_store.subjects([subject, other]) == [subject]
    assert common_store.near_ids(own)
    assert {hit.note_id for hit in common_store.by_text(said, [subject], 9)} <= {note_id}
    for value in (other, said):
        assert common_store.chains([value]) == common_store.chains_of([value]) == common_store.by_digest(value) == []
        assert common_store.binding([value], [subject]) == common_store.binding([klass], [value]) == []
        assert common_store.by_request(value) is None
        assert common_store.subjects([value]) == []
        assert common_store.by_text("note", [value], 9) == []
    common_store.usage.record([note_id], other, day(2))
    common_store.usage.flush()
    assert common_store.usage.counts([note_id, other], other) == {
        note_id: Count(1, 1, day(2), day(2)),
        other: Count(),
    }


@st.composite
def random_logs(draw: st.DrawFn) -> str:
    """A log in text: notes of a few subjects and classes, each perhaps linked to older ones, and revocations."""
    lines: list[str] = []
    names = "ABCDEFGH"[: draw(st.integers(2, 8))]
    for place, name in enumerate(names):
        subject, klass = draw(st.sampled_from(["priya", "tom"])), draw(st.sampled_from(["allergy", "fact"]))
        older = draw(st.lists(st.sampled_from(names[:place]), max_size=3, unique=True)) if place else []
        link = f" {draw(st.sampled_from(['updates', 'corrects', 'refines']))} {', '.join(older)}" if older else ""
        lines.append(f'{name} remembered "note {name}" about {subject} as {klass}{link}')
        if draw(st.booleans()):
            lines.append(f'- revoked {draw(st.sampled_from(names[: place + 1]))} because "no"')
    return "\n".join(lines)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], LanceStore]:
    """Opens an empty store on the disk, each time another one."""
    numbers = itertools.count()
    folder = tmp_path_factory.mktemp("many")
    return lambda: open_store(str(folder / str(next(numbers))))


@settings(max_examples=15, deadline=None)
@given(text=random_logs())
def test_every_store_gives_the_same_answers(many: Callable[[], LanceStore], text: str) -> None:
    """The store in memory is a twin of the one on the disk: same chains, same requirements, for any log."""
    on_disk, in_memory = many(), EphemeralStore()
    events = log(text)
    for store in (on_disk, in_memory):
        with store.writing():
            store.append(entries_of(events, vectors=False))
    for event in events:
        assert on_disk.chains_of([event.note_id]) == in_memory.chains_of([event.note_id])
    everything = [event.note_id for event in events]
    assert on_disk.chains_of(everything) == in_memory.chains_of(everything)
    assert [record.events for record in on_disk.chains_of(everything)] == partition(events)
    for klasses, subjects in [(["allergy"], ["priya"]), (["allergy", "fact"], ["tom"]), (["fact"], None)]:
        assert on_disk.binding(klasses, subjects) == in_memory.binding(klasses, subjects)
