"""Take a revocation back: everything is then as it was before it."""

from __future__ import annotations

from stilltrue.lifecycle import Step
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.results import Answer
from tools.support.status_change import Plan, commit


def reinstate(context: ToolContext, note_id: str, reason: str | None = None) -> Answer:
    """Take a revocation back, and answer with what holds now in the chain of the note.

    Refused, with nothing written, if the id is unknown or the note is not revoked, saying what it is instead.
    """
    return commit(plan(context, note_id, reason))


def plan(context: ToolContext, note_id: str, reason: str | None = None) -> Plan:
    """The reinstatement as it would be stored. Raises Refused where an argument is wrong."""
    (target,) = validation.note_ids([note_id], context.limits)
    why = validation.phrase("reason", reason, context.limits.reason)
    return Plan(context, Step.REINSTATE, target, why)
