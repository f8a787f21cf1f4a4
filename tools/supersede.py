"""Replace notes by a new one, as an update (it changed) or a correction (it was never true)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stilltrue import event
from stilltrue.chain import Chain, chains
from stilltrue.errors import Refused
from stilltrue.lifecycle import Status, Step
from stilltrue.note import RETIRING, Link, LinkKind, Note, content_hash
from stilltrue.text.formatting import inline, stated
from tools.support import neighbours, notices, validation
from tools.support.context import ToolContext
from tools.support.duplicates import StoredBefore, stored_before
from tools.support.effect import Effect, may_bind, notes_of
from tools.support.inheritance import all_replaced, inherited, refuse_silent_lift
from tools.support.lookup import Found, entry, find, require
from tools.support.neighbours import Nearby
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
    """Append a note that replaces these, and answer with it, what it replaced, and what still says the same.

    Class, subjects and attribute are inherited unless they are given. Refused, with nothing written, if an id is
    unknown, if a note is no head of its chain (unless `allow_fork`), or if a requirement would cease to bind
    somebody (unless `lifts_requirement` and a reason are given).
    """
    return commit(
        plan(
            context, note_ids, text, relation=relation, reason=reason, subjects=subjects, klass=klass,
            valid_from=valid_from, valid_until=valid_until, source=source, allow_fork=allow_fork,
            lifts_requirement=lifts_requirement, request_id=request_id,
        )
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """A note that is ready to take the place of others."""

    context: ToolContext
    draft: Note
    links: tuple[Link, ...]
    reason: str | None
    request: str | None
    allow_fork: bool
    lifting: bool

    @property
    def ids(self) -> tuple[str, ...]:
        """The notes to be replaced."""
        return tuple(link.to for link in self.links)

    def replaced(self) -> Found:
        """The chains of the notes to be replaced as they are now. Refused if one of them may not be replaced so."""
        found = find(self.context, self.ids)
        for note_id in self.ids:
            member, chain = found.member(note_id), found.chain_of(note_id)
            require(Step.SUPERSEDE, member, chain, self.context, allow_fork=self.allow_fork)
        for member in all_replaced(found, self.ids):
            refuse_silent_lift(member, self.draft, self.context, lifting=self.lifting)
        return found

    def effect(self) -> Effect:
        """What the call would do to the requirements. Refused as the call itself would be."""
        found = self.replaced()
        ended = notes_of(member for member in all_replaced(found, self.ids) if may_bind(member, self.context))
        if self.context.classes.of(self.draft.klass).requirement:
            return Effect(self.draft, replaces=ended, reason=self.reason)
        return Effect(lifts=ended, reason=self.reason)


def plan(
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
) -> Plan:
    """The successor as it would be stored. Raises Refused where an argument is wrong."""
    limits = context.limits
    said = validation.text(text, limits)
    ids = validation.note_ids(note_ids, limits)
    kind = _relation(relation)
    why = validation.phrase("reason", reason, limits.reason)
    named = validation.subjects(subjects, limits)
    start, end = validation.validity(valid_from, valid_until, context.formatter, context.clock())
    request = validation.request_id(request_id, limits)
    chosen = validation.klass(klass, context.classes, context.default_class) if (klass or "").strip() else None
    found = find(context, ids)
    older = [found.member(each).note for each in ids]
    draft = replace(
        inherited(older, said, named, chosen, context),
        valid_from=start,
        valid_until=end,
        source=validation.source(source, limits),
    )
    validation.overlapping(draft.subjects, older)
    links = tuple(Link(each, kind) for each in ids)
    return Plan(context, draft, links, why, request, allow_fork, lifts_requirement and why is not None)


def commit(planned: Plan) -> Answer:
    """Store the successor, unless it was stored before, and answer with what holds now."""
    context, draft = planned.context, planned.draft
    embedded = context.embedded(draft.text)
    for attempt in attempts(context):
        with attempt:
            known = stored_before(context, draft, planned.links, planned.request)
            if isinstance(known, StoredBefore):
                return _already(context, known)
            found = planned.replaced()
            stamp = context.stamp(found.latest)
            note = replace(draft, id=stamp.id, recorded_at=stamp.at)
            remembered = event.Remembered(note, planned.links, planned.reason, planned.request)
            digest = content_hash(note.text, note.subjects, note.klass)
            context.store.append([entry(remembered, found, embedded, digest)])

    events = [each for _, record in found.pairs for each in record.events]
    chain = chains([*events, remembered], max(context.clock(), stamp.at))[0]
    standing, trouble = _still_standing(context, found, planned.ids, chain)
    data = Superseded(
        id=note.id,
        stored=True,
        note=note_view(chain.members[note.id], chain, context.formatter),
        replaced=tuple(note_view(chain.members[each], chain, context.formatter) for each in planned.ids),
        still_standing=tuple(neighbours.view(each, context) for each in standing),
        notices=(
            *notices.validity(context, note),
            *notices.degraded(embedded.problem),
            *_contested(chain, note.id),
            *trouble,
        ),
    )
    return Answer(_text(data), data)


def _relation(raw: str | None) -> LinkKind:
    said = (raw or LinkKind.UPDATE).strip().casefold()
    if said not in RETIRING:
        raise Refused(
            "bad_relation",
            f"relation is {raw!r}; update or correction is expected.",
            "update: it was true and it changed. correction: it was never true. To add to a note that stays true, "
            "call remember with refines.",
        )
    return LinkKind(said)


def _still_standing(
    context: ToolContext, found: Found, ids: Sequence[str], chain: Chain
) -> tuple[list[Nearby], list[str]]:
    """Current notes of other chains that say nearly the same as what was replaced, and the trouble in finding them.

    The note is stored by now: what goes wrong here is reported, and must not make the answer an error.
    """
    standing: dict[str, Nearby] = {}
    try:
        for note_id in ids:
            note = found.member(note_id).note
            vector = found.record_of(note_id).vectors.get(note_id)
            if vector is None:  # it was stored before there was a model
                vector = context.embedded(note.text).vector
            if vector is None:
                continue
            near = neighbours.nearby(
                context, note.text, vector, note.subjects, apart_from=chain.members, least=neighbours.SAME
            )
            standing |= {each.member.id: each for each in near if each.holds and each.member.id not in standing}
    except Exception as trouble:
        return [], [f"the note is stored, but near repetitions could not be looked for: {trouble}"]
    return list(standing.values()), []


def _contested(chain: Chain, note_id: str) -> list[str]:
    if not chain.contested:
        return []
    others = ", ".join(f"[{head}]" for head in chain.heads if head != note_id)
    return [f"CONTESTED: {others} of the same chain is current as well. Ask which is true, then supersede the other."]


def _already(context: ToolContext, known: StoredBefore) -> Answer:
    member, chain = known.note.member, known.note.chain
    data = Superseded(
        id=member.id, stored=False, note=note_view(member, chain, context.formatter), notices=(known.notice,)
    )
    return Answer(_text(data), data)


def _text(data: Superseded) -> str:
    note = data.note
    verb = "Known" if not data.stored else "Now holds" if note.status == Status.CURRENT else "Stored"
    mark = f" - {note.mark}" if note.mark else "."
    lines = [f"{verb} [{note.id}] about {', '.join(note.subjects)}, as {note.klass}, from {note.source}{mark}"]
    lines += [f"({notice})" for notice in data.notices]
    lines += [f"Replaces {_replaced(each)}" for each in data.replaced]
    lines += neighbours.lines(
        "Still current elsewhere, and nearly the same as what was replaced. If it is wrong as well:",
        data.still_standing,
    )
    return "\n".join(lines)


def _replaced(view: NoteView) -> str:
    return f"[{view.id}] {stated(inline(view.text))} - {view.mark or f'still {view.status}'}"
