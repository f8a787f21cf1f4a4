"""Withdraw a note that has no successor, with a reason."""

from __future__ import annotations

from stilltrue.event import Revoked
from stilltrue.lifecycle import Step
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.results import Answer
from tools.support.status_change import change


def revoke(context: ToolContext, note_id: str, reason: str) -> Answer:
    """Append a revocation, and answer with what holds now in the chain of the note.

    Refused, with nothing written, where the id is unknown, the reason blank, or the note revoked or erased.
    """
    target = validation.note_ids([note_id], context.limits)[0]
    why = validation.phrase("reason", reason, context.limits.reason, required=True) or ""
    # The reason is a way into the chain: "it was the proxy" is what a later question will be about.
    return change(
        context, target, Step.REVOKE, lambda stamp: Revoked(stamp.id, stamp.at, target, why), context.embedded(why)
    )
