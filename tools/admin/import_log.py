"""Import the events of an exported log: all of them in one append, or none. A command for people, not a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from stilltrue.event import Event, Remembered, meant_by
from stilltrue.formats.jsonl import Numbered, linked
from stilltrue.note import Note, content_hash
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
    chains = _Chains()
    for event in known:
        chains.touch(event)
    made = []
    for event in events:
        chain, joins, past = chains.touch(event)
        note = event.note if isinstance(event, Remembered) else None
        about = embedded.get(event.id) or Embedded()
        made.append(
            Entry(
                event=event,
                chain=chain,
                joins=joins,
                subjects=tuple(dict.fromkeys(subject for each in past for subject in each.subjects)),
                klasses=tuple(dict.fromkeys(each.klass for each in past)),
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


class _Chains:
    """Which chain each note is of and which notes each chain has, while events come in one after the other."""

    def __init__(self) -> None:
        self._chain_of: dict[str, str] = {}
        self._notes: dict[str, list[Note]] = {}

    def touch(self, event: Event) -> tuple[str, tuple[str, ...], Sequence[Note]]:
        """The chain of an event, the chains it joins to that one, and the notes of all of them."""
        targets = [link.to for link in event.links] if isinstance(event, Remembered) else [event.note_id]
        chain, *joins = sorted({self._chain_of[each] for each in targets if each in self._chain_of}) or [
            event.note_id
        ]
        notes = self._notes.setdefault(chain, [])
        for joined in joins:
            for note in self._notes.pop(joined):
                self._chain_of[note.id] = chain
                notes.append(note)
        if isinstance(event, Remembered):
            self._chain_of[event.id] = chain
            notes.append(event.note)
        return chain, tuple(joins), notes
