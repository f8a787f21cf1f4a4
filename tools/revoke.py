"""Withdraw a note that has no successor, with a reason."""

from __future__ import annotations

from stilltrue.lifecycle import Step
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.results import Answer
from tools.support.status_change import Plan, commit


def revoke(context: ToolContext, note_id: str, reason: str) -> Answer:
    """Append a revocation, and answer with what holds now in the chain of the note.

    Refused, with nothing written, if the id is unknown, the reason blank, or the note revoked or erased.
    """
    return commit(plan(context, note_id, reason))


def plan(context: ToolContext, note_id: str, reason: str) -> Plan:
    """The revocation as it would be stored. Raises Refused where an argument is wrong."""
    (target,) = validation.note_ids([note_id], context.limits)
    why = validation.phrase("reason", reason, context.limits.reason, required=True)
    return Plan(context, Step.REVOKE, target, why)
