"""Whether one log says what another says, before it takes its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from stilltrue.event import Event
from stilltrue.lifecycle import fold
from store.lance.engine import Table
from store.lance.rows import EVENT_COLUMNS, events_of

_MOST = 5


def differences(before: Table, after: Table, *, recut: Collection[str] = ()) -> list[str]:
    """Sentences about what two logs do not have alike: rows of each kind but those in `recut`, and the fold."""
    rows, others = _kinds(before), _kinds(after)
    counted = [
        f"It has {others[kind]} rows of kind {kind}, and {rows[kind]} were there."
        for kind in sorted(rows.keys() | others.keys())
        if kind not in recut and rows[kind] != others[kind]
    ]
    return [*counted, *_folded(all_events(before), all_events(after))]


def all_events(table: Table) -> list[Event]:
    """Every event of one version of a log, in log order."""
    found = table.search().where("body IS NOT NULL").select(list(EVENT_COLUMNS)).to_arrow()
    return sorted(events_of(found), key=lambda event: event.id)


def _kinds(table: Table) -> Counter[str]:
    return Counter(table.search().select(["kind"]).to_arrow().column("kind").to_pylist())


def _folded(before: list[Event], after: list[Event]) -> Iterator[str]:
    """Folded at the last moment of which the log knows, every note has to be what it was."""
    if not before and not after:
        return
    moment = max(event.at for event in (*before, *after))
    members, others = fold(before, moment), fold(after, moment)
    wrong = [
        note_id for note_id in sorted(members.keys() | others.keys()) if members.get(note_id) != others.get(note_id)
    ]
    for note_id in wrong[:_MOST]:
        yield f"Note {note_id} is not what it was."
    if len(wrong) > _MOST:
        yield f"{len(wrong) - _MOST} more notes are not what they were."
