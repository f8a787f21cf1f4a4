"""Store a note. It replaces nothing: the notes near it are shown, each with the call that would replace it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stilltrue.chain import chains
from stilltrue.lifecycle import STATES
from stilltrue.note import Link, LinkKind, Note
from stilltrue.text.formatting import inline
from stilltrue.text.status_text import status_text_of
from tools.support import neighbours, validation
from tools.support.context import ToolContext
from tools.support.duplicates import IN_FORCE, Duplicate, already_stored
from tools.support.effect import Effect
from tools.support.lookup import find
from tools.support.neighbours import Nearby
from tools.support.note_plan import NotePlan, store
from tools.support.results import Answer, NoteView, Remembered, note_lines, note_view, validity_notice


def remember(
    context: ToolContext,
    text: str,
    *,
    subjects: Sequence[str] | None = None,
    klass: str | None = None,
    cues: Sequence[str] | None = None,
    importance: float | None = None,
    attribute: str | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
    source: str | None = None,
    refines: str | None = None,
    request_id: str | None = None,
) -> Answer:
    """Append a note, and answer with its id and the nearest notes, those that hold and those that do not.

    With `refines`, the id of a note that stays true, it adds to that note, and class and subjects are inherited from
    it unless they are given. Raises Refused or StoreTrouble; nothing has been written then.
    """
    planned = plan(
        context, text, subjects=subjects, klass=klass, cues=cues, importance=importance, attribute=attribute,
        valid_from=valid_from, valid_until=valid_until, source=source, refines=refines, request_id=request_id,
    )  # fmt: skip
    return commit(context, planned)


def plan(
    context: ToolContext,
    text: str,
    *,
    subjects: Sequence[str] | None = None,
    klass: str | None = None,
    cues: Sequence[str] | None = None,
    importance: float | None = None,
    attribute: str | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
    source: str | None = None,
    refines: str | None = None,
    request_id: str | None = None,
) -> NotePlan:
    """The note as it would be stored. Refused if an argument is wrong."""
    limits = context.limits
    words = validation.text(text, limits)
    named = validation.subjects(subjects, limits)
    start, end = validation.validity(valid_from, valid_until, context.formatter)
    draft = Note(
        id="",
        text=words,
        subjects=named or (context.default_subject,),
        klass=validation.klass(klass, context.classes, context.default_class),
        source=validation.source(source, limits),
        recorded_at=context.clock(),
        valid_from=start,
        valid_until=end,
        importance=validation.importance(importance),
        attribute=validation.phrase("attribute", attribute, limits.attribute),
        cues=validation.phrases("cues", cues, limits.cues, limits.cue),
    )
    request = validation.request_id(request_id, limits)
    links: tuple[Link, ...] = ()
    if refines and refines.strip():
        (base_id,) = validation.note_ids([refines], limits)
        base = find(context, [base_id]).member(base_id).note
        given = bool((klass or "").strip())
        draft = replace(draft, subjects=named or base.subjects, klass=draft.klass if given else base.klass)
        validation.overlapping(draft.subjects, [base])
        links = (Link(base_id, LinkKind.REFINEMENT),)
    effect = Effect(states=draft) if context.classes.of(draft.klass).requirement else Effect()
    return NotePlan(draft, links, request=request, effect=effect)


def commit(context: ToolContext, plan: NotePlan) -> Answer:
    """Store the note of the plan, unless it was stored before, and answer with the notes near it.

    Raises Refused or StoreTrouble; nothing has been written then.
    """
    draft = plan.draft
    embedded = context.embedded(draft.text, draft.cues)
    near = neighbours.nearby(context, draft.text, embedded.vector, draft.subjects, apart_from=plan.older)
    rivals = _same_attribute(context, draft)
    stored = store(context, plan, embedded)
    if isinstance(stored, Duplicate):
        return already_stored(context, stored, Remembered)
    note = stored.note
    notices = [
        *_stated_before(context, note, stored.same_words),
        *(_second_value(note, rival) for rival in rivals),
        *validity_notice(note, context.formatter),
    ]
    if embedded.problem:
        notices.append(f"DEGRADED: stored without a vector, found by its words only, since {embedded.problem}.")
    data = Remembered(
        id=note.id,
        stored=True,
        note=note_view(stored.chain.members[note.id], stored.chain, context.formatter),
        near_current=tuple(neighbours.view(each, context, note.id) for each in near if each.holds),
        near_retired=tuple(neighbours.view(each, context, note.id) for each in near if not each.holds),
        notices=(*notices, *plan.notices),
    )
    return Answer(_text(data), data)


def _same_attribute(context: ToolContext, draft: Note) -> list[NoteView]:
    """The notes that hold the draft's attribute, if its class allows a subject one value of it."""
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


def _stated_before(context: ToolContext, note: Note, same_words: Sequence[Nearby]) -> list[str]:
    """A warning for each note of the same words that no longer holds: the new note does not bring it back."""
    return [
        f"the same words were stored before as [{each.member.id}], which does not hold: "
        f"{status_text_of(each.member, each.chain, context.formatter)}. The new note is not linked to that chain. If "
        f"it is true again: {neighbours.view(each, context, note.id).call}"
        for each in same_words
        if each.member.status not in IN_FORCE
    ]


def _second_value(note: Note, rival: NoteView) -> str:
    return (
        f"{', '.join(note.subjects)} now has two current values of {note.attribute!r}: this and [{rival.id}] "
        f'"{inline(rival.text)}". If this one replaces it: supersede(note_ids=["{rival.id}", "{note.id}"], text=...)'
    )


def _text(data: Remembered) -> str:
    lines = note_lines("Remembered", data.note, data.notices)
    lines += neighbours.lines(
        "Near it and current. If the new note replaces one of these, make the call; otherwise both stay current:",
        data.near_current,
    )
    lines += neighbours.lines("Near it and no longer true; do not act on them:", data.near_retired)
    return "\n".join(lines)
