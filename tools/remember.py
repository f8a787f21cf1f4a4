"""Store a note. Nothing is retired by it: what it may bear on is shown, with the call that would replace it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stilltrue import event
from stilltrue.chain import chains
from stilltrue.errors import Refused
from stilltrue.fate import fate_of
from stilltrue.lifecycle import STATES, Member, Status, Step
from stilltrue.note import Link, LinkKind, Note, content_hash
from tools import intake, near
from tools.answers import Answer, NoteView, Remembered, note_view
from tools.attempts import attempts
from tools.keeper import Keeper
from tools.lookup import Found, entry, find, require

STILL_SAID = frozenset({Status.CURRENT, Status.PENDING})
"""A note in one of these says what it says: the same bytes again are no news."""


def remember(
    keeper: Keeper,
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
    limits, store = keeper.limits, keeper.store
    said = intake.text(text, limits)
    named = intake.subjects(subjects, limits)
    start, end = intake.validity(valid_from, valid_until, keeper.voice)
    draft = Note(
        id="",
        text=said,
        subjects=named or (keeper.default_subject,),
        klass=intake.klass(klass, keeper.classes, keeper.default_class),
        source=intake.source(source, limits),
        recorded_at=keeper.clock(),
        valid_from=start,
        valid_until=end,
        importance=intake.importance(importance),
        attribute=intake.phrase("attribute", attribute, limits.attribute),
        cues=intake.phrases("cues", cues, limits.cues, limits.cue),
    )
    request = intake.request_id(request_id, limits)
    base_id = intake.note_ids([refines], limits)[0] if refines and refines.strip() else None
    base: Found | None = None
    if base_id:
        base = find(keeper, [base_id])
        inherited = base.member(base_id).note
        draft = replace(
            draft,
            subjects=named or inherited.subjects,
            klass=draft.klass if (klass or "").strip() else inherited.klass,
        )
        intake.overlapping(draft.subjects, [inherited])
    links = (Link(base_id, LinkKind.REFINEMENT),) if base_id else ()
    digest = content_hash(said, draft.subjects, draft.klass)
    embedded = keeper.embedded(said, draft.cues)
    around = near.nearby(keeper, said, embedded.vector, draft.subjects, apart_from=[link.to for link in links])
    rivals = _same_attribute(keeper, draft)

    for attempt in attempts(keeper):
        with attempt:
            if earlier := repeated(keeper, request, said, links):
                return _already(keeper, earlier, f"this request ({request!r})")
            twins = [twin(keeper, note_id) for note_id in store.by_digest(digest)]
            for each in twins:
                if each.member.status in STILL_SAID and identical(each.member, draft, links):
                    return _already(keeper, each, "exactly this note")
            if base_id:
                base = find(keeper, [base_id])
                require(Step.REFINE, base.member(base_id), base.chain_of(base_id), keeper)
            stamp = keeper.stamp(base.latest if base else None)
            note = replace(draft, id=stamp.id, recorded_at=stamp.at)
            remembered = event.Remembered(note, links, None, request)
            store.append([entry(remembered, base, embedded, digest)])

    events = [*(each for _, record in base.pairs for each in record.events)] if base else []
    chain = chains([*events, remembered], max(keeper.clock(), stamp.at))[0]
    view = note_view(chain.members[note.id], chain, keeper.voice)
    data = Remembered(
        id=note.id,
        stored=True,
        note=view,
        near_current=tuple(near.view(each, keeper, note.id) for each in around if each.holds),
        near_retired=tuple(near.view(each, keeper, note.id) for each in around if not each.holds),
        notices=(*_said_before(keeper, note, twins), *_notices(keeper, note, rivals, embedded.problem)),
    )
    return Answer(_text(data), data)


def twin(keeper: Keeper, note_id: str) -> near.Nearby:
    """A note that was stored before, as it stands now."""
    found = find(keeper, [note_id])
    return near.Nearby(found.member(note_id), found.chain_of(note_id), 1.0)


def repeated(keeper: Keeper, request: str | None, text: str, links: Sequence[Link]) -> near.Nearby | None:
    """The note that this very request has stored before. Refused where its name was that of another request."""
    earlier = keeper.store.by_request(request) if request else None
    if earlier is None:
        return None
    known = twin(keeper, earlier)
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


def _already(keeper: Keeper, twin: near.Nearby, what: str) -> Answer:
    note_id = twin.member.id
    data = Remembered(
        id=note_id,
        stored=False,
        note=note_view(twin.member, twin.chain, keeper.voice),
        notices=(f"already stored: {what} is note [{note_id}]; nothing was written.",),
    )
    return Answer(_text(data), data)


def _same_attribute(keeper: Keeper, draft: Note) -> list[NoteView]:
    """The notes that hold the attribute of a class which allows one to a subject."""
    if draft.attribute is None or keeper.classes.of(draft.klass).cardinality != "one":
        return []
    held = chains(keeper.store.binding([draft.klass], draft.subjects), keeper.clock())
    return [
        note_view(member, chain, keeper.voice)
        for chain in held
        for member in chain.members.values()
        if STATES[member.status].binds
        and member.note.attribute == draft.attribute
        and member.note.klass == draft.klass
        and not set(member.note.subjects).isdisjoint(draft.subjects)
        and member.note.text != draft.text
    ]


def _said_before(keeper: Keeper, note: Note, twins: list[near.Nearby]) -> list[str]:
    """A warning for each note of the same words that holds no more: saying it again resurrects nothing."""
    return [
        f"these very words were stored as [{each.member.id}], which does not hold: "
        f"{fate_of(each.member, each.chain, keeper.voice)}. This is a new note beside that chain. If it is true "
        f"again, say so: {near.view(each, keeper, note.id).call}"
        for each in twins
        if each.member.status not in STILL_SAID
    ]


def _notices(keeper: Keeper, note: Note, rivals: list[NoteView], degraded: str | None) -> list[str]:
    said = [
        f"{', '.join(note.subjects)} now has two current notes for {note.attribute!r}: this and [{rival.id}] "
        f'"{" ".join(rival.text.split())}". If this one replaces it: '
        f'supersede(note_ids=["{rival.id}", "{note.id}"], text=...)'
        for rival in rivals
    ]
    said += holding(keeper, note)
    if degraded:
        said.append(f"DEGRADED: stored without a vector, found by its words only, since {degraded}.")
    return said


def holding(keeper: Keeper, note: Note) -> list[str]:
    """The times between which a note holds, with their zone, where it has any."""
    if not (note.valid_from or note.valid_until):
        return []
    start = keeper.voice.time(note.valid_from) if note.valid_from else "always"
    end = keeper.voice.time(note.valid_until) if note.valid_until else "further notice"
    return [f"it holds from {start} until {end}."]


def _text(data: Remembered) -> str:
    note = data.note
    verb = "Remembered" if data.stored else "Known"
    mark = f" - {note.mark}" if note.mark else "."
    lines = [f"{verb} [{note.id}] about {', '.join(note.subjects)}, as {note.klass}, from {note.source}{mark}"]
    lines += [f"({notice})" for notice in data.notices]
    lines += near.lines(
        "Near it and current. Does the new note replace one of these? Then say so with the call, or both will stand:",
        data.near_current,
    )
    lines += near.lines("Near it and no longer true; do not act on them:", data.near_retired)
    return "\n".join(lines)
