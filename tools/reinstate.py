"""Take a revocation back: everything is then as it was before it."""

from __future__ import annotations

from stilltrue.event import Reinstated
from stilltrue.lifecycle import Step
from tools import intake
from tools.answers import Answer
from tools.changed import change
from tools.keeper import Keeper


def reinstate(keeper: Keeper, note_id: str, reason: str | None = None) -> Answer:
    """Take a revocation back, and answer with what holds now in the chain of the note.

    Refused, with nothing written, where the id is unknown or the note is not revoked, saying what it is instead.
    """
    target = intake.note_ids([note_id], keeper.limits)[0]
    why = intake.phrase("reason", reason, keeper.limits.reason)
    return change(keeper, target, Step.REINSTATE, lambda stamp: Reinstated(stamp.id, stamp.at, target, why))
