"""Take a revocation back: everything is then as it was before it."""

from __future__ import annotations

from stilltrue.event import Reinstated
from stilltrue.lifecycle import Step
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.results import Answer
from tools.support.status_change import change


def reinstate(context: ToolContext, note_id: str, reason: str | None = None) -> Answer:
    """Take a revocation back, and answer with what holds now in the chain of the note.

    Refused, with nothing written, where the id is unknown or the note is not revoked, saying what it is instead.
    """
    target = validation.note_ids([note_id], context.limits)[0]
    why = validation.phrase("reason", reason, context.limits.reason)
    return change(context, target, Step.REINSTATE, lambda stamp: Reinstated(stamp.id, stamp.at, target, why))
