"""Replace notes by a new one, as an update (it changed) or a correction (it was never true)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stilltrue.chain import Chain
from stilltrue.errors import Refused
from stilltrue.lifecycle import Status
from stilltrue.note import RETIRING, Link, LinkKind
from stilltrue.text.formatting import inline
from tools.support import neighbours, validation
from tools.support.context import ToolContext
from tools.support.duplicates import Duplicate, already_stored
from tools.support.effect import Effect, may_bind
from tools.support.inheritance import all_replaced, inherited
from tools.support.lookup import Found, find
from tools.support.neighbours import Nearby
from tools.support.note_plan import NotePlan, store
from tools.support.results import Answer, Superseded, note_lines, note_view, validity_notice


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
    """Append a note that replaces these, and answer with it, what it replaced, and what else still says the same.

    Class, subjects and attribute are inherited unless they are given. Refused, with nothing written, if an id is
    unknown, if a note is no head of its chain (unless `allow_fork`), or if a requirement would cease to bind somebody
    (unless `lifts_requirement` and a reason).
    """
    planned = plan(
        context, note_ids, text, relation=relation, reason=reason, subjects=subjects, klass=klass,
        valid_from=valid_from, valid_until=valid_until, source=source, allow_fork=allow_fork,
        lifts_requirement=lifts_requirement, request_id=request_id,
    )  # fmt: skip
    return commit(context, planned)


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
) -> NotePlan:
    """The successor as it would be stored. Refused if an argument is wrong or an id unknown."""
    limits = context.limits
    words = validation.text(text, limits)
    ids = validation.note_ids(note_ids, limits)
    kind = _relation(relation)
    why = validation.phrase("reason", reason, limits.reason)
    named = validation.subjects(subjects, limits)
    start, end = validation.validity(valid_from, valid_until, context.formatter)
    request = validation.request_id(request_id, limits)
    chosen = validation.klass(klass, context.classes, context.default_class) if (klass or "").strip() else None
    found = find(context, ids)
    older = [found.member(each).note for each in ids]
    draft = inherited(older, words, named, chosen, context)
    draft = replace(draft, valid_from=start, valid_until=end, source=validation.source(source, limits))
    validation.overlapping(draft.subjects, older)
    bound = tuple(member.note for member in all_replaced(found, ids) if may_bind(member, context))
    if context.classes.of(draft.klass).requirement:
        effect = Effect(states=draft, replaces=bound, reason=why)
    else:
        effect = Effect(lifts=bound, reason=why)
    return NotePlan(
        draft,
        tuple(Link(each, kind) for each in ids),
        why,
        request,
        allow_fork=allow_fork,
        lifting=lifts_requirement and why is not None,
        effect=effect,
    )


def commit(context: ToolContext, plan: NotePlan) -> Answer:
    """Store the successor, unless it was stored before, and answer with what it replaced.

    Raises Refused or StoreTrouble; nothing has been written then.
    """
    embedded = context.embedded(plan.draft.text)
    stored = store(context, plan, embedded)
    if isinstance(stored, Duplicate):
        return already_stored(context, stored, Superseded)
    note, chain = stored.note, stored.chain
    repetitions, trouble = _repetitions(context, stored.found, plan.older, chain)
    notices = validity_notice(note, context.formatter)
    if embedded.problem:
        notices.append(f"DEGRADED: stored without a vector, found by its words only, since {embedded.problem}.")
    data = Superseded(
        id=note.id,
        stored=True,
        note=note_view(chain.members[note.id], chain, context.formatter),
        replaced=tuple(note_view(chain.members[each], chain, context.formatter) for each in plan.older),
        still_standing=tuple(neighbours.view(each, context) for each in repetitions),
        notices=(*notices, *_contest(chain, note.id), *trouble, *plan.notices),
    )
    return Answer(_text(data), data)


def _relation(raw: str | None) -> LinkKind:
    named = (raw or LinkKind.UPDATE).strip().casefold()
    if named not in RETIRING:
        raise Refused(
            "bad_relation",
            f"relation is {raw!r}; update or correction is expected.",
            "update: it was true and it changed. correction: it was never true. To add to a note that stays true, "
            "call remember with refines.",
        )
    return LinkKind(named)


def _repetitions(
    context: ToolContext, found: Found, ids: Sequence[str], chain: Chain
) -> tuple[list[Nearby], list[str]]:
    """Current notes of other chains that say nearly what was replaced, or why they could not be looked for.

    The note is stored by now, so a failure here is reported in a notice: it must not turn the answer into an error.
    """
    standing: dict[str, Nearby] = {}
    try:
        for note_id in ids:
            note = found.member(note_id).note
            vector = found.record_of(note_id).vectors.get(note_id)
            if vector is None:  # it was stored while no model was ready
                vector = context.embedded(note.text).vector
            if vector is None:
                continue
            for each in neighbours.nearby(
                context, note.text, vector, note.subjects, apart_from=chain.members, least=neighbours.SAME
            ):
                if each.holds:
                    standing.setdefault(each.member.id, each)
    except Exception as trouble:
        return [], [f"the note is stored, but near repetitions could not be looked for: {trouble}"]
    return list(standing.values()), []


def _contest(chain: Chain, note_id: str) -> list[str]:
    if not chain.contested:
        return []
    others = ", ".join(f"[{head}]" for head in chain.heads if head != note_id)
    return [f"CONTESTED: {others} of the same chain still holds too. Ask which is true, then supersede them with it."]


def _text(data: Superseded) -> str:
    lines = note_lines("Now holds" if data.note.status == Status.CURRENT else "Stored", data.note, data.notices)
    lines += [
        f"Replaces [{each.id}] {inline(each.text)} - {each.mark or f'still {each.status}'}" for each in data.replaced
    ]
    lines += neighbours.lines(
        "Still current elsewhere, and nearly the same as what was replaced. If it is wrong as well:",
        data.still_standing,
    )
    return "\n".join(lines)
