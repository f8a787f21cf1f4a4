"""Store a note. Nothing is retired by it: what it may bear on is shown, with the call that would replace it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import time

from stilltrue import event
from stilltrue.chain import chains
from stilltrue.errors import Refused
from stilltrue.lifecycle import STATES, Member, Status, Step
from stilltrue.note import Link, LinkKind, Note, content_hash
from stilltrue.text.status_text import status_text_of
from tools.support import neighbours, validation
from tools.support.context import ToolContext
from tools.support.lookup import Found, entry, find, require
from tools.support.results import Answer, NoteView, Remembered, note_view
from tools.support.retry import attempts

STILL_SAID = frozenset({Status.CURRENT, Status.PENDING})
"""A note in one of these says what it says: the same bytes again are no news."""


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
    of that note unless they are given. Raises Refused or StoreTrouble, and then has written nothing.
    """
    limits, store = context.limits, context.store
    said = validation.text(text, limits)
    named = validation.subjects(subjects, limits)
    start, end = validation.validity(valid_from, valid_until, context.formatter, context.clock())
    draft = Note(
        id="",
        text=said,
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
    base_id = validation.note_ids([refines], limits)[0] if refines and refines.strip() else None
    base: Found | None = None
    if base_id:
        base = find(context, [base_id])
        inherited = base.member(base_id).note
        draft = replace(
            draft,
            subjects=named or inherited.subjects,
            klass=draft.klass if (klass or "").strip() else inherited.klass,
        )
        validation.overlapping(draft.subjects, [inherited])
    links = (Link(base_id, LinkKind.REFINEMENT),) if base_id else ()
    digest = content_hash(said, draft.subjects, draft.klass)
    embedded = context.embedded(said, draft.cues)
    around = neighbours.nearby(context, said, embedded.vector, draft.subjects, apart_from=[link.to for link in links])
    rivals = _same_attribute(context, draft)

    for attempt in attempts(context):
        with attempt:
            if earlier := repeated(context, request, said, links):
                return _already(context, earlier, f"this request ({request!r})")
            twins = [twin(context, note_id) for note_id in store.by_digest(digest)]
            for each in twins:
                if each.member.status in STILL_SAID and identical(each.member, draft, links):
                    return _already(context, each, "exactly this note")
            if base_id:
                base = find(context, [base_id])
                require(Step.REFINE, base.member(base_id), base.chain_of(base_id), context)
            stamp = context.stamp(base.latest if base else None)
            note = replace(draft, id=stamp.id, recorded_at=stamp.at)
            remembered = event.Remembered(note, links, None, request)
            store.append([entry(remembered, base, embedded, digest)])

    events = [*(each for _, record in base.pairs for each in record.events)] if base else []
    chain = chains([*events, remembered], max(context.clock(), stamp.at))[0]
    view = note_view(chain.members[note.id], chain, context.formatter)
    data = Remembered(
        id=note.id,
        stored=True,
        note=view,
        near_current=tuple(neighbours.view(each, context, note.id) for each in around if each.holds),
        near_retired=tuple(neighbours.view(each, context, note.id) for each in around if not each.holds),
        notices=(*_said_before(context, note, twins), *_notices(context, note, rivals, embedded.problem)),
    )
    return Answer(_text(data), data)


def twin(context: ToolContext, note_id: str) -> neighbours.Nearby:
    """A note that was stored before, as it stands now."""
    found = find(context, [note_id])
    return neighbours.Nearby(found.member(note_id), found.chain_of(note_id), 1.0)


def repeated(context: ToolContext, request: str | None, text: str, links: Sequence[Link]) -> neighbours.Nearby | None:
    """The note that this very request has stored before. Refused where its name was that of another request."""
    earlier = context.store.by_request(request) if request else None
    if earlier is None:
        return None
    known = twin(context, earlier)
    member = known.member
    if member.status is not Status.ERASED and (member.note.text != text or set(member.links) != set(links)):
        raise Refused(
            "request_id_reused",
            f"request_id {request!r} belongs to the call that stored note [{member.id}], which says something else.",
            "Send a new request_id with each new call, and the same one only to repeat a call.",
        )
    return known


def identical(member: Member, draft: Note, links: Sequence[Link]) -> bool:
    """Whether the stored note says what `draft` says, byte for byte, of the same things and the same time."""
    note = member.note
    return (
        note.text == draft.text
        and set(note.subjects) == set(draft.subjects)
        and note.klass == draft.klass
        and set(member.links) == set(links)
        and (note.valid_from, note.valid_until) == (draft.valid_from, draft.valid_until)
    )


def _already(context: ToolContext, twin: neighbours.Nearby, what: str) -> Answer:
    note_id = twin.member.id
    data = Remembered(
        id=note_id,
        stored=False,
        note=note_view(twin.member, twin.chain, context.formatter),
        notices=(f"already stored: {what} is note [{note_id}]; nothing was written.",),
    )
    return Answer(_text(data), data)


def _same_attribute(context: ToolContext, draft: Note) -> list[NoteView]:
    """The notes that hold the attribute of a class which allows one to a subject."""
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


def _said_before(context: ToolContext, note: Note, twins: list[neighbours.Nearby]) -> list[str]:
    """A warning for each note of the same words that holds no more: saying it again resurrects nothing."""
    return [
        f"these very words were stored as [{each.member.id}], which does not hold: "
        f"{status_text_of(each.member, each.chain, context.formatter)}. "
        "This is a new note beside that chain. If it is true "
        f"again, say so: {neighbours.view(each, context, note.id).call}"
        for each in twins
        if each.member.status not in STILL_SAID
    ]


def _notices(context: ToolContext, note: Note, rivals: list[NoteView], degraded: str | None) -> list[str]:
    said = [
        f"{', '.join(note.subjects)} now has two current notes for {note.attribute!r}: this and [{rival.id}] "
        f'"{" ".join(rival.text.split())}". If this one replaces it: '
        f'supersede(note_ids=["{rival.id}", "{note.id}"], text=...)'
        for rival in rivals
    ]
    said += holding(context, note)
    if degraded:
        said.append(f"DEGRADED: stored without a vector, found by its words only, since {degraded}.")
    return said


def holding(context: ToolContext, note: Note) -> list[str]:
    """The times between which a note holds, with their zone, where it has any."""
    if not (note.valid_from or note.valid_until):
        return []
    start = context.formatter.time(note.valid_from) if note.valid_from else "always"
    end = f"the end of {context.formatter.last_day(note.valid_until)}" if note.valid_until else "further notice"
    if note.valid_until and note.valid_until.astimezone(context.formatter.zone).time() != time():
        end = context.formatter.time(note.valid_until)
    return [f"it holds from {start} until {end}."]


def _text(data: Remembered) -> str:
    note = data.note
    verb = "Remembered" if data.stored else "Known"
    mark = f" - {note.mark}" if note.mark else "."
    lines = [f"{verb} [{note.id}] about {', '.join(note.subjects)}, as {note.klass}, from {note.source}{mark}"]
    lines += [f"({notice})" for notice in data.notices]
    lines += neighbours.lines(
        "Near it and current. Does the new note replace one of these? Then say so with the call, or both will stand:",
        data.near_current,
    )
    lines += neighbours.lines("Near it and no longer true; do not act on them:", data.near_retired)
    return "\n".join(lines)
