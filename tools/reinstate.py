"""Take a revocation back: everything is then as it was before."""

from __future__ import annotations

from stilltrue.lifecycle import Step
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.results import Answer
from tools.support.status_change import StatusPlan, commit

__all__ = ["commit", "plan", "reinstate"]


def reinstate(context: ToolContext, note_id: str, reason: str | None = None) -> Answer:
    """Take a revocation back, and answer with what holds now in the chain of the note.

    Refused, with nothing written, if the id is unknown or the note is not revoked; the error says what it is instead.
    """
    return commit(context, plan(context, note_id, reason))


def plan(context: ToolContext, note_id: str, reason: str | None = None) -> StatusPlan:
    """The end of the revocation of this note. Refused if the id is blank or the reason too long."""
    (target,) = validation.note_ids([note_id], context.limits)
    return StatusPlan(Step.REINSTATE, target, validation.phrase("reason", reason, context.limits.reason))
