"""Withdraw a note that has no successor, with a reason."""

from __future__ import annotations

from stilltrue.event import Revoked
from stilltrue.lifecycle import Step
from tools import intake
from tools.answers import Answer
from tools.changed import change
from tools.keeper import Keeper


def revoke(keeper: Keeper, note_id: str, reason: str) -> Answer:
    """Append a revocation, and answer with what holds now in the chain of the note.

    Refused, with nothing written, where the id is unknown, the reason blank, or the note revoked or erased.
    """
    target = intake.note_ids([note_id], keeper.limits)[0]
    why = intake.phrase("reason", reason, keeper.limits.reason, required=True) or ""
    # The reason is a way into the chain: "it was the proxy" is what a later question will be about.
    return change(
        keeper, target, Step.REVOKE, lambda stamp: Revoked(stamp.id, stamp.at, target, why), keeper.embedded(why)
    )
