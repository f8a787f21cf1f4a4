"""Import the events of an exported log: all of them in one append, or none. A command for people, not a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from stilltrue.chain import ChainTracker
from stilltrue.event import Event, Remembered, meant_by
from stilltrue.formats.jsonl import Numbered, linked
from stilltrue.note import content_hash
from store.port import Embedded, Entry
from tools.support.context import ToolContext
from tools.support.retry import attempts

Progress = Callable[[int, int], None]
"""Called with the number of texts that have been embedded, and the number of all."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What an import stored. `problem` says why its texts have no vectors, if they have none."""

    events: int
    notes: int
    problem: str | None = None


def bring(context: ToolContext, found: Sequence[Numbered], progress: Progress = lambda done, total: None) -> Brought:
    """Append these events, in log order, with their texts embedded by the configured model.

    Raises Refused if one of them does not fit the events in the store, see `stilltrue.formats.jsonl.linked`. This is
    checked before the first text is embedded, and again under the writers' lock.
    """
    events = [each.event for each in found]
    linked(found, context.store.events())
    embedded: dict[str, Embedded] = {}
    for number, event in enumerate(events):
        embedded[event.id] = _embedded(context, event)
        progress(number + 1, len(events))
    for attempt in attempts(context):
        with attempt:
            known = context.store.events()
            linked(found, known)
            context.store.append(entries(known, events, embedded))
    notes = sum(isinstance(event, Remembered) for event in events)
    return Brought(len(events), notes, next((each.problem for each in embedded.values() if each.problem), None))


def entries(known: Iterable[Event], events: Sequence[Event], embedded: dict[str, Embedded]) -> list[Entry]:
    """The entries that the tools would have appended for these events, after the known ones.

    Each has the chain that it belongs to, the chains that it joins, and the subjects and classes of all of them.
    """
    tracker = ChainTracker()
    for event in known:
        tracker.add(event)
    made = []
    for event in events:
        past = tracker.add(event)
        note = event.note if isinstance(event, Remembered) else None
        about = embedded.get(event.id) or Embedded()
        made.append(
            Entry(
                event=event,
                chain=past.chain,
                joins=past.joins,
                subjects=past.subjects,
                klasses=past.klasses,
                digest=content_hash(note.text, note.subjects, note.klass) if note and note.text else None,
                vector=about.vector,
                sketch=about.sketch,
                index_entries=about.index_entries,
            )
        )
    return made


def _embedded(context: ToolContext, event: Event) -> Embedded:
    text, cues = meant_by(event)
    return context.embedded(text, cues) if text else Embedded()
