"""What remains in the log of a note that is erased, and how to recognise text that should be gone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from stilltrue.event import Event, Reinstated, Remembered, Revoked

LONG = 12
"""A word of more characters than this is so rare that it identifies a text by itself."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Traces:
    """What must be nowhere after an erasure: `texts` of notes, `asides` (cues and reasons), and long `words`."""

    texts: frozenset[str] = frozenset()
    asides: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def __or__(self, other: Traces) -> Traces:
        return Traces(self.texts | other.texts, self.asides | other.asides, self.words | other.words)

    def in_text(self, searched: str) -> set[str]:
        """Those that occur in a text. Words match in upper and lower case, since an index may have folded them."""
        folded = searched.casefold()
        return {text for text in self.texts | self.asides if text in searched} | {
            word for word in self.words if word.casefold() in folded
        }


def forgotten(events: Iterable[Event], gone: Collection[str]) -> list[Event]:
    """The events in their order, with the text of the notes in `gone` taken out.

    With the text go the cues, the reasons for storing, revoking and reinstating the note, and the reasons why others
    replaced it: each of these can repeat what the note said. Ids, times, links, subjects, class, source, attribute
    and ratings stay, so that the fold of all other notes is unchanged.
    """
    events = list(events)
    traces = traces_of(events, gone)
    return [_without_words(event, gone, traces) for event in events]


def traces_of(events: Iterable[Event], gone: Collection[str]) -> Traces:
    """All by which the text of these notes can be recognised: texts, cues, reasons, and the long words in them."""
    events = list(events)
    every = {text for event in events for text in _removed(event, gone) if text.strip()}
    texts = {event.note.text for event in events if isinstance(event, Remembered) and event.id in gone} & every
    words = {word for text in every for word in _WORD.findall(text) if len(word) > LONG}
    return Traces(frozenset(texts), frozenset(every - texts), frozenset(words | {word.casefold() for word in words}))


def _removed(event: Event, gone: Collection[str]) -> list[str]:
    """The strings that erasing these notes takes out of the event."""
    match event:
        case Remembered(note=note) if note.id in gone:
            return [note.text, *note.cues, event.reason or ""]
        case Remembered() if _replaces(event, gone):
            return [event.reason or ""]
        case Revoked() | Reinstated() if event.note_id in gone:
            return [event.reason or ""]
    return []


def _without_words(event: Event, gone: Collection[str], traces: Traces) -> Event:
    match event:
        case Remembered(note=note, request_id=request) if note.id in gone:
            # A repeated request has to find the tombstone, unless its id contains some of the erased text.
            kept = None if request and traces.in_text(request) else request
            return replace(event, note=replace(note, text="", cues=()), reason=None, request_id=kept)
        case Remembered() if _replaces(event, gone):
            return replace(event, reason=None)
        case Revoked() if event.note_id in gone:
            return replace(event, reason="")
        case Reinstated() if event.note_id in gone:
            return replace(event, reason=None)
    return event


def _replaces(event: Remembered, gone: Collection[str]) -> bool:
    return any(link.to in gone for link in event.links)


def about(events: Iterable[Event], subject: str) -> tuple[list[str], list[str]]:
    """The ids of the notes that name this subject (canonical spelling) alone, and of those that name others too."""
    named = [event.note for event in events if isinstance(event, Remembered) and subject in event.note.subjects]
    alone = [note.id for note in named if set(note.subjects) == {subject}]
    return alone, [note.id for note in named if note.id not in set(alone)]
