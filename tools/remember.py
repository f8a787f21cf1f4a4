"""Store a note. It replaces nothing: the notes near it are shown, with the call that would replace them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stilltrue import event
from stilltrue.chain import chains
from stilltrue.lifecycle import Step
from stilltrue.note import Link, LinkKind, Note, content_hash
from stilltrue.text.status_text import status_text_of
from tools.support import neighbours, notices, validation
from tools.support.context import ToolContext
from tools.support.duplicates import STILL_STATED, StoredBefore, stored_before
from tools.support.effect import Effect
from tools.support.lookup import Found, entry, find, require
from tools.support.neighbours import Nearby
from tools.support.results import Answer, Remembered, note_view
from tools.support.retry import attempts


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

    With `refines`, the id of a note that stays true and to which this adds; class and subjects are then those
    of that note unless they are given. Raises Refused or StoreTrouble; nothing has been written then.
    """
    return commit(
        plan(
            context, text, subjects=subjects, klass=klass, cues=cues, importance=importance, attribute=attribute,
            valid_from=valid_from, valid_until=valid_until, source=source, refines=refines, request_id=request_id,
        )
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """A note that is ready to be stored, and the id of the note that it refines, if it refines one."""

    context: ToolContext
    draft: Note
    base_id: str | None
    request: str | None

    @property
    def links(self) -> tuple[Link, ...]:
        return (Link(self.base_id, LinkKind.REFINEMENT),) if self.base_id else ()

    def base(self) -> Found | None:
        """The chain of the refined note as it is now. Refused if that note may not be refined."""
        if self.base_id is None:
            return None
        base = find(self.context, [self.base_id])
        require(Step.REFINE, base.member(self.base_id), base.chain_of(self.base_id), self.context)
        return base

    def effect(self) -> Effect:
        """What the call would do to the requirements. Refused as the call itself would be."""
        self.base()
        return Effect(self.draft) if self.context.classes.of(self.draft.klass).requirement else Effect()


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
) -> Plan:
    """The note as it would be stored. Raises Refused where an argument is wrong."""
    limits = context.limits
    named = validation.subjects(subjects, limits)
    start, end = validation.validity(valid_from, valid_until, context.formatter, context.clock())
    draft = Note(
        id="",
        text=validation.text(text, limits),
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
    if not (refines or "").strip():
        return Plan(context, draft, None, request)
    (base_id,) = validation.note_ids([refines or ""], limits)
    base = find(context, [base_id]).member(base_id).note
    draft = replace(
        draft, subjects=named or base.subjects, klass=draft.klass if (klass or "").strip() else base.klass
    )
    validation.overlapping(draft.subjects, [base])
    return Plan(context, draft, base_id, request)


def commit(planned: Plan) -> Answer:
    """Store the note, unless it was stored before, and answer with what is near it."""
    context, draft, links = planned.context, planned.draft, planned.links
    embedded = context.embedded(draft.text, draft.cues)
    near = neighbours.nearby(
        context, draft.text, embedded.vector, draft.subjects, apart_from=[link.to for link in links]
    )
    rivals = notices.same_attribute(context, draft)
    for attempt in attempts(context):
        with attempt:
            known = stored_before(context, draft, links, planned.request)
            if isinstance(known, StoredBefore):
                return _already(context, known)
            twins, base = known, planned.base()
            stamp = context.stamp(base.latest if base else None)
            note = replace(draft, id=stamp.id, recorded_at=stamp.at)
            remembered = event.Remembered(note, links, None, planned.request)
            digest = content_hash(note.text, note.subjects, note.klass)
            context.store.append([entry(remembered, base, embedded, digest)])

    events = [*(each for _, record in base.pairs for each in record.events)] if base else []
    chain = chains([*events, remembered], max(context.clock(), stamp.at))[0]
    data = Remembered(
        id=note.id,
        stored=True,
        note=note_view(chain.members[note.id], chain, context.formatter),
        near_current=tuple(neighbours.view(each, context, note.id) for each in near if each.holds),
        near_retired=tuple(neighbours.view(each, context, note.id) for each in near if not each.holds),
        notices=(
            *_stated_before(context, note, twins),
            *notices.second_values(note, rivals),
            *notices.validity(context, note),
            *notices.degraded(embedded.problem),
        ),
    )
    return Answer(_text(data), data)


def _already(context: ToolContext, known: StoredBefore) -> Answer:
    member, chain = known.note.member, known.note.chain
    data = Remembered(
        id=member.id, stored=False, note=note_view(member, chain, context.formatter), notices=(known.notice,)
    )
    return Answer(_text(data), data)


def _stated_before(context: ToolContext, note: Note, twins: Sequence[Nearby]) -> list[str]:
    """A warning for each note of the same words that no longer holds: storing them again brings none of it back."""
    return [
        f"the same words were stored before as [{each.member.id}], which does not hold: "
        f"{status_text_of(each.member, each.chain, context.formatter)}. The new note is not linked to that chain. If "
        f"it is true again: {neighbours.view(each, context, note.id).call}"
        for each in twins
        if each.member.status not in STILL_STATED
    ]


def _text(data: Remembered) -> str:
    note = data.note
    verb = "Remembered" if data.stored else "Known"
    mark = f" - {note.mark}" if note.mark else "."
    lines = [f"{verb} [{note.id}] about {', '.join(note.subjects)}, as {note.klass}, from {note.source}{mark}"]
    lines += [f"({notice})" for notice in data.notices]
    lines += neighbours.lines(
        "Near it and current. If the new note replaces one of these, make the call, or both will be current:",
        data.near_current,
    )
    lines += neighbours.lines("Near it and no longer true; do not act on them:", data.near_retired)
    return "\n".join(lines)
