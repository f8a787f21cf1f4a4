"""Replace notes by a new one, as an update (it changed) or a correction (it was never true)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stilltrue import event
from stilltrue.chain import Chain, chains
from stilltrue.errors import Refused
from stilltrue.lifecycle import Member, Status, Step
from stilltrue.note import RETIRING, Link, LinkKind, Note, content_hash
from stilltrue.requirements.binding import binds
from tools.remember import STILL_SAID, holding, identical, repeated, twin
from tools.support import neighbours, validation
from tools.support.context import ToolContext
from tools.support.lookup import Found, entry, find, require
from tools.support.results import Answer, NoteView, Superseded, note_view
from tools.support.retry import attempts


def supersede(
    context: ToolContext,
    note_ids: Sequence[str],
    text: str,
    *,
    relation: str | None = None,
    reason: str | None = None,
    subjects: Sequence[str] | None = None,
    klass: str | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
    source: str | None = None,
    allow_fork: bool = False,
    lifts_requirement: bool = False,
    request_id: str | None = None,
) -> Answer:
    """Append a note that takes the place of these, and answer with it, what it replaced, and what still says so.

    Class, subjects and attribute are inherited unless they are given. Refused, with nothing written, where an id
    is unknown, where a note is no head of its chain (unless `allow_fork`), or where a requirement would cease to
    bind somebody (unless `lifts_requirement` and a reason).
    """
    limits, store = context.limits, context.store
    said = validation.text(text, limits)
    ids = validation.note_ids(note_ids, limits)
    kind = _relation(relation)
    why = validation.phrase("reason", reason, limits.reason)
    named = validation.subjects(subjects, limits)
    start, end = validation.validity(valid_from, valid_until, context.formatter)
    request = validation.request_id(request_id, limits)
    chosen = validation.klass(klass, context.classes, context.default_class) if (klass or "").strip() else None
    first = find(context, ids)
    draft = inheriting([first.member(each).note for each in ids], said, named, chosen, context)
    draft = replace(draft, valid_from=start, valid_until=end, source=validation.source(source, limits))
    validation.overlapping(draft.subjects, [first.member(each).note for each in ids])
    links = tuple(Link(each, kind) for each in ids)
    digest = content_hash(said, draft.subjects, draft.klass)
    embedded = context.embedded(said)

    for attempt in attempts(context):
        with attempt:
            if earlier := repeated(context, request, said, links):
                return _already(context, earlier, f"this request ({request!r})")
            found = find(context, ids)
            for each in [twin(context, note_id) for note_id in store.by_digest(digest)]:
                if each.member.status in STILL_SAID and identical(each.member, draft, links):
                    return _already(context, each, "exactly this note, replacing exactly these,")
            for note_id in ids:
                member = found.member(note_id)
                require(Step.SUPERSEDE, member, found.chain_of(note_id), context, allow_fork=allow_fork)
            for member in all_replaced(found, ids):
                refuse_silent_lift(member, draft, context, lifts_requirement and why is not None)
            stamp = context.stamp(found.latest)
            note = replace(draft, id=stamp.id, recorded_at=stamp.at)
            remembered = event.Remembered(note, links, why, request)
            store.append([entry(remembered, found, embedded, digest)])

    events = [each for _, record in found.pairs for each in record.events]
    chain = chains([*events, remembered], max(context.clock(), stamp.at))[0]
    standing, trouble = _still_standing(context, found, ids, chain)
    notices = holding(context, note)
    if embedded.problem:
        notices.append(f"DEGRADED: stored without a vector, since {embedded.problem}.")
    data = Superseded(
        id=note.id,
        stored=True,
        note=note_view(chain.members[note.id], chain, context.formatter),
        replaced=tuple(note_view(chain.members[each], chain, context.formatter) for each in ids),
        still_standing=tuple(neighbours.view(each, context) for each in standing),
        notices=(*notices, *_state(chain, note.id), *trouble),
    )
    return Answer(_text(data), data)


def _relation(raw: str | None) -> LinkKind:
    said = (raw or LinkKind.UPDATE).strip().casefold()
    if said not in RETIRING:
        raise Refused(
            "bad_relation",
            f"relation is {raw!r}; it is update or correction.",
            "update: it was true and it changed. correction: it was never true. To add to a note that stays true, "
            "call remember with refines.",
        )
    return LinkKind(said)


def inheriting(
    older: Sequence[Note], text: str, subjects: Sequence[str], klass: str | None, context: ToolContext
) -> Note:
    """The new note with what it inherits: all subjects, the class that binds if any does, a shared attribute."""
    attributes = {note.attribute for note in older}
    binding = [note.klass for note in older if context.classes.of(note.klass).requirement]
    return Note(
        id="",
        text=text,
        subjects=tuple(subjects) or tuple(dict.fromkeys(name for note in older for name in note.subjects)),
        klass=klass or (binding or [older[0].klass])[0],
        source=validation.AGENT,
        recorded_at=older[0].recorded_at,
        importance=max(note.importance for note in older),
        attribute=attributes.pop() if len(attributes) == 1 else None,
    )


def all_replaced(found: Found, ids: Sequence[str]) -> list[Member]:
    """The notes that something in the place of these replaces: these, and what they had themselves replaced.

    Where one of these was revoked or has expired, what it had replaced is unsettled and may bind.
    """
    reached: dict[str, Member] = {}
    frontier = list(ids)
    while frontier:
        member = found.member(frontier.pop())
        if member.id not in reached:
            reached[member.id] = member
            known = found.chain_of(member.id).members
            frontier += [link.to for link in member.links if link.kind in RETIRING and link.to in known]
    return list(reached.values())


def refuse_silent_lift(member: Member, draft: Note, context: ToolContext, said_so: bool) -> None:
    """A requirement ends only where somebody says that it does, and why: its class or a subject must not get lost."""
    to_come = member.status is Status.PENDING and context.classes.of(member.note.klass).requirement
    if said_so or not (to_come or binds(member, context.classes)):
        return
    freed = [name for name in member.note.subjects if name not in draft.subjects]
    if context.classes.of(draft.klass).requirement and not freed:
        return
    what = f"class {draft.klass} binds nobody" if not freed else f"it no longer names {', '.join(freed)}"
    raise Refused(
        "lifts_requirement",
        f"note [{member.id}] is a requirement ({member.note.klass}), and the new note would lift it: {what}.",
        f"Keep it with klass {member.note.klass} and subjects {', '.join(member.note.subjects)}; or, if it really "
        "ends, set lifts_requirement and give the reason.",
    )


def _still_standing(
    context: ToolContext, found: Found, ids: Sequence[str], chain: Chain
) -> tuple[list[neighbours.Nearby], list[str]]:
    """Current notes of other chains that say nearly the same as what was retired, and the trouble in finding them.

    The note is stored by now: what goes wrong here is told, and must not make the answer an error.
    """
    standing: dict[str, neighbours.Nearby] = {}
    try:
        for note_id in ids:
            subjects = found.member(note_id).note.subjects
            text = found.member(note_id).note.text
            vector = found.record_of(note_id).vectors.get(note_id)
            if vector is None:  # it was stored before there was a model
                vector = context.embedded(text).vector
            if vector is None:
                continue
            for each in neighbours.nearby(
                context, text, vector, subjects, apart_from=chain.members, least=neighbours.SAME
            ):
                if each.holds:
                    standing.setdefault(each.member.id, each)
    except Exception as trouble:
        return [], [f"the note is stored; near repetitions could not be looked for: {trouble}"]
    return list(standing.values()), []


def _state(chain: Chain, note_id: str) -> list[str]:
    if chain.contested:
        others = ", ".join(f"[{head}]" for head in chain.heads if head != note_id)
        return [f"CONTESTED: {others} of the same chain holds as well; nothing picks a winner."]
    return []


def _already(context: ToolContext, twin: neighbours.Nearby, what: str) -> Answer:
    note_id = twin.member.id
    data = Superseded(
        id=note_id,
        stored=False,
        note=note_view(twin.member, twin.chain, context.formatter),
        notices=(f"already stored: {what} is note [{note_id}]; nothing was written.",),
    )
    return Answer(_text(data), data)


def _text(data: Superseded) -> str:
    note = data.note
    verb = "Known" if not data.stored else "Now holds" if note.status == Status.CURRENT else "Stored"
    mark = f" - {note.mark}" if note.mark else "."
    lines = [f"{verb} [{note.id}] about {', '.join(note.subjects)}, as {note.klass}, from {note.source}{mark}"]
    lines += [f"({notice})" for notice in data.notices]
    lines += [
        f"Replaces [{each.id}] {_words(each)} - {each.mark or f'still {each.status}'}" for each in data.replaced
    ]
    lines += neighbours.lines(
        "Still current elsewhere, and nearly the same as what was replaced. If it is wrong as well:",
        data.still_standing,
    )
    return "\n".join(lines)


def _words(view: NoteView) -> str:
    return " ".join(view.text.split())
