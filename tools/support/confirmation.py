"""What a call would do to the requirements, as a question to the user; and what is stored where nobody was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stilltrue.chain import Chain, chains
from stilltrue.errors import Refused
from stilltrue.event import Event, Reinstated, Revoked
from stilltrue.lifecycle import Member, Status, Step
from stilltrue.note import USER, Note
from stilltrue.requirements.binding import binds
from tools.supersede import all_replaced, inheriting, refuse_silent_lift
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.lookup import Found, find, require
from tools.support.results import Answer

UNCONFIRMED = " (unconfirmed)"
"""What ends the source of a note, or the reason of a revocation, that nobody could be asked about."""

_NOTICE = (
    "UNCONFIRMED: this client cannot ask the user, so it is stored and marked so. Tell the user what you stored; "
    "where it can be asked, a supersede of this note with the same words confirms it."
)


def question(context: ToolContext, verb: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """What the person is asked before this call, None where it touches no requirement.

    None as well where the call will be refused: then there is nothing to be asked.
    """
    try:
        match verb:
            case "remember":
                return _of_remember(context, *args, **kwargs)
            case "supersede":
                return _of_supersede(context, *args, **kwargs)
            case "revoke":
                return _of_turn(context, Step.REVOKE, *args)
            case _:
                return _of_turn(context, Step.REINSTATE, *args)
    except Refused:
        return None


def confirmed(verb: str, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call that the person agreed to: what is stored is the person's own word."""
    return {**kwargs, "source": USER} if verb in {"remember", "supersede"} else dict(kwargs)


def unconfirmed(verb: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call about which nobody could be asked, marked so in the source or the reason."""
    if verb in {"remember", "supersede"}:
        said = " ".join((kwargs.get("source") or validation.AGENT).split())
        by = f"{validation.AGENT} for the user" if said.casefold() == USER else said
        return tuple(args), {**kwargs, "source": by.removesuffix(UNCONFIRMED) + UNCONFIRMED}
    note_id, reason = args
    # A blank reason is for the verb to judge, and must not become one that is not blank.
    blank = not (reason or "").strip()
    return (note_id, reason if blank else f"{reason}{UNCONFIRMED}"), dict(kwargs)


def told(answer: Answer) -> Answer:
    """The answer of a call about which nobody could be asked, with a notice of that."""
    if not getattr(answer.data, "stored", True) or not hasattr(answer.data, "notices"):
        return answer
    data = replace(answer.data, notices=(*answer.data.notices, _NOTICE))  # type: ignore[arg-type]
    return Answer(f"{answer.text}\n({_NOTICE})", data)


def _of_remember(context: ToolContext, text: str, **more: Any) -> str | None:
    said = validation.text(text, context.limits)
    named = validation.subjects(more.get("subjects"), context.limits)
    klass = validation.klass(more.get("klass"), context.classes, context.default_class)
    base_id = (more.get("refines") or "").strip()
    if base_id:
        (base_id,) = validation.note_ids([base_id], context.limits)
        found = find(context, [base_id])
        base = found.member(base_id)
        require(Step.REFINE, base, found.chain_of(base_id), context)
        named = named or base.note.subjects
        klass = klass if (more.get("klass") or "").strip() else base.note.klass
    if not context.classes.of(klass).requirement:
        return None
    about = ", ".join(named or (context.default_subject,))
    return f"An agent wants to store a rule that every answer about {about} must respect:\n\n{_rule(klass, said)}"


def _of_supersede(context: ToolContext, note_ids: Sequence[str], text: str, **more: Any) -> str | None:
    said = validation.text(text, context.limits)
    ids = validation.note_ids(note_ids, context.limits)
    named = validation.subjects(more.get("subjects"), context.limits)
    given = (more.get("klass") or "").strip()
    klass = validation.klass(given, context.classes, context.default_class) if given else None
    reason = (more.get("reason") or "").strip()
    found = find(context, ids)
    for note_id in ids:
        fork = bool(more.get("allow_fork"))
        require(Step.SUPERSEDE, found.member(note_id), found.chain_of(note_id), context, allow_fork=fork)
    draft = inheriting([found.member(each).note for each in ids], said, named, klass, context)
    validation.overlapping(draft.subjects, [found.member(each).note for each in ids])
    replaced = sorted(all_replaced(found, ids), key=lambda member: member.id)
    for member in replaced:
        refuse_silent_lift(member, draft, context, bool(more.get("lifts_requirement")) and bool(reason))
    rules = [member.note for member in replaced if _bears(member, context)]
    about = f"about {', '.join(draft.subjects)}"
    if not context.classes.of(draft.klass).requirement:
        return _lifted(rules, reason) if rules else None
    new = _rule(draft.klass, said)
    if not rules:
        return f"An agent wants to store a rule that every answer {about} must respect:\n\n{new}"
    why = f"\n\nbecause: {reason}" if reason else ""
    return f"An agent wants to replace\n\n{_rules(rules)}\n\nby this rule {about}:\n\n{new}{why}"


def _of_turn(context: ToolContext, step: Step, note_id: str, reason: str | None = None) -> str | None:
    """What a revocation or its taking back changes: the requirements are folded with it and without it."""
    (target,) = validation.note_ids([note_id], context.limits)
    why = validation.phrase("reason", reason, context.limits.reason, required=step is Step.REVOKE)
    found = find(context, [target])
    require(step, found.member(target), found.chain_of(target), context)
    stamp = context.stamp(found.latest)
    event: Event = (
        Revoked(stamp.id, stamp.at, target, why or "")
        if step is Step.REVOKE
        else Reinstated(stamp.id, stamp.at, target, why)
    )
    before = _binding(found.chain_of(target), context)
    after = _binding(_with(found, event, context), context)
    ended = [note for note_id, note in before.items() if note_id not in after]
    begun = [note for note_id, note in after.items() if note_id not in before]
    if ended:
        return _lifted(ended, why)
    if begun:
        return f"An agent wants these rules to hold again:\n\n{_rules(begun)}"
    return None


def _with(found: Found, event: Event, context: ToolContext) -> Chain:
    events = [*(each for _, record in found.pairs for each in record.events), event]
    return next(chain for chain in chains(events, max(context.clock(), event.at)) if event.note_id in chain.members)


def _binding(chain: Chain, context: ToolContext) -> dict[str, Note]:
    return {member.id: member.note for member in chain.members.values() if _bears(member, context)}


def _bears(member: Member, context: ToolContext) -> bool:
    """Whether the note is a requirement now, or will be one when its time comes."""
    to_come = member.status is Status.PENDING and context.classes.of(member.note.klass).requirement
    return to_come or binds(member, context.classes)


def _lifted(rules: Sequence[Note], reason: str | None) -> str:
    because = f"\n\nbecause: {reason}" if reason else ""
    return f"An agent wants this to bind nobody any more:\n\n{_rules(rules)}{because}"


def _rules(notes: Sequence[Note]) -> str:
    return "\n".join(f"{_rule(note.klass, note.text)} (about {', '.join(note.subjects)})" for note in notes)


def _rule(klass: str, text: str) -> str:
    return f"{klass.upper()}: {text}"
