"""The question to the user about a plan that touches a requirement, and the plan after the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from stilltrue.note import USER, Note
from tools.support import status_change
from tools.support.context import ToolContext
from tools.support.duplicates import Duplicate
from tools.support.effect import Effect
from tools.support.note_plan import NotePlan, check
from tools.support.status_change import StatusPlan
from tools.support.validation import AGENT

UNCONFIRMED = " (unconfirmed)"
"""The end of the source of a note, or of the reason of a revocation, that the user could not be asked about."""

_NOTICE = (
    "UNCONFIRMED: this client cannot ask the user, so it is stored and marked unconfirmed. Tell the user what you "
    "stored; from a client that can ask, supersede this note with the same words to confirm it."
)

Plan = TypeVar("Plan", NotePlan, StatusPlan)


def question(context: ToolContext, plan: NotePlan | StatusPlan) -> str | None:
    """What the user is asked before this plan is committed; None if it touches no requirement or stores nothing.

    Raises Refused if the plan cannot be committed as things are.
    """
    if isinstance(plan, StatusPlan):
        return _worded(status_change.effect(context, plan))
    if not plan.effect or isinstance(check(context, plan), Duplicate):
        return None
    return _worded(plan.effect)


def confirmed(plan: Plan) -> Plan:
    """The plan that the user agreed to: a note is then stored as the user's own statement."""
    if isinstance(plan, NotePlan):
        return replace(plan, draft=replace(plan.draft, source=USER))
    return plan


def unconfirmed(plan: Plan) -> Plan:
    """The plan that the user could not be asked about, marked so in its source or reason and in the answer."""
    notices = (*plan.notices, _NOTICE)
    if isinstance(plan, NotePlan):
        named = plan.draft.source
        source = (f"{AGENT} for the user" if named == USER else named).removesuffix(UNCONFIRMED) + UNCONFIRMED
        return replace(plan, draft=replace(plan.draft, source=source), notices=notices)
    return replace(plan, reason=plan.reason and plan.reason + UNCONFIRMED, notices=notices)


def _worded(effect: Effect) -> str | None:
    because = f"\n\nbecause: {effect.reason}" if effect.reason else ""
    new = effect.states
    if new and effect.replaces:
        return (
            f"An agent wants to replace\n\n{_listed(effect.replaces)}\n\n"
            f"by this requirement about {', '.join(new.subjects)}:\n\n{_shown(new)}{because}"
        )
    if new:
        about = ", ".join(new.subjects)
        return f"An agent wants to store a requirement that every answer about {about} must respect:\n\n{_shown(new)}"
    if effect.lifts:
        return f"An agent wants this to bind nobody any more:\n\n{_listed(effect.lifts)}{because}"
    if effect.restores:
        return f"An agent wants these requirements to hold again:\n\n{_listed(effect.restores)}"
    return None


def _listed(notes: Sequence[Note]) -> str:
    return "\n".join(f"{_shown(note)} (about {', '.join(note.subjects)})" for note in notes)


def _shown(note: Note) -> str:
    return f"{note.klass.upper()}: {note.text}"
