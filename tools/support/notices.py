"""What a writing tool has to add to its answer: the validity, a second value of an attribute, a missing vector."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time

from stilltrue.chain import chains
from stilltrue.lifecycle import STATES
from stilltrue.note import Note
from stilltrue.text.formatting import because
from tools.support.context import ToolContext
from tools.support.results import NoteView, note_view


def validity(context: ToolContext, note: Note) -> list[str]:
    """From when and until when a note holds, if it is bounded at all."""
    start = f"from {context.formatter.time(note.valid_from)}" if note.valid_from else ""
    end = f"until {_end(context, note.valid_until)}" if note.valid_until else ""
    return [f"valid {' '.join(filter(None, (start, end)))}."] if start or end else []


def damage(context: ToolContext) -> list[str]:
    """That rows of the store are lost, if there are any: nobody can say what is missing from an answer then."""
    lost = context.store.lost()
    if not lost:
        return []
    return [
        f"DAMAGED: {lost} stored rows cannot be read at all, so a requirement or a correction may be missing here. "
        "Tell the user to run stilltrue check"
    ]


def _end(context: ToolContext, end: datetime) -> str:
    """A day that holds to its end is named as it was given, and not as the midnight after it."""
    if end.astimezone(context.formatter.zone).time() == time():
        return f"the end of {context.formatter.last_day(end)}"
    return context.formatter.time(end)


def degraded(problem: str | None) -> list[str]:
    """That a note has no vector, if there was a problem."""
    return [f"DEGRADED: stored without a vector, found by its words only, since {problem}."] if problem else []


def same_attribute(context: ToolContext, draft: Note) -> list[NoteView]:
    """The current notes that hold the draft's attribute, if its class allows a subject only one value of it."""
    if draft.attribute is None or context.classes.of(draft.klass).cardinality != "one":
        return []
    held = chains(context.store.binding([draft.klass], draft.subjects), context.clock())
    return [
        note_view(member, chain, context.formatter)
        for chain in held
        for member in chain.members.values()
        if STATES[member.status].binds
        and member.note.attribute == draft.attribute
        and member.note.klass == draft.klass
        and not set(member.note.subjects).isdisjoint(draft.subjects)
        and member.note.text != draft.text
    ]


def second_values(note: Note, rivals: Sequence[NoteView]) -> list[str]:
    """For each rival, that the attribute of the note has two current values now, and the call that settles it."""
    return [
        f"{', '.join(note.subjects)} now has two current values of {note.attribute!r}: this and [{rival.id}] "
        f"{because(rival.text)}. If this one replaces it: "
        f'supersede(note_ids=["{rival.id}", "{note.id}"], text=...)'
        for rival in rivals
    ]
