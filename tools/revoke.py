"""Withdraw a note that has no successor, with a reason."""

from __future__ import annotations

from stilltrue.lifecycle import Step
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.results import Answer
from tools.support.status_change import StatusPlan, commit

__all__ = ["commit", "plan", "revoke"]


def revoke(context: ToolContext, note_id: str, reason: str) -> Answer:
    """Append a revocation, and answer with what holds now in the chain of the note.

    Refused, with nothing written, if the id is unknown, the reason blank, or the note revoked or erased.
    """
    return commit(context, plan(context, note_id, reason))


def plan(context: ToolContext, note_id: str, reason: str) -> StatusPlan:
    """The revocation of this note. Refused if the id or the reason is blank or too long."""
    (target,) = validation.note_ids([note_id], context.limits)
    why = validation.phrase("reason", reason, context.limits.reason, required=True)
    return StatusPlan(Step.REVOKE, target, why)
