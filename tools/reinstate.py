"""Take a revocation back: everything is then as it was before it."""

from __future__ import annotations

from stilltrue.event import Reinstated
from stilltrue.lifecycle import Step
from tools import intake
from tools.answers import Answer
from tools.attempts import attempts
from tools.changed import changed
from tools.keeper import Keeper
from tools.lookup import entry, find, require


def reinstate(keeper: Keeper, note_id: str, reason: str | None = None) -> Answer:
    """Take a revocation back, and answer with what holds now in the chain of the note.

    Refused, with nothing written, where the id is unknown or the note is not revoked, saying what it is instead.
    """
    target = intake.note_ids([note_id], keeper.limits)[0]
    why = intake.phrase("reason", reason, keeper.limits.reason)
    for attempt in attempts(keeper):
        with attempt:
            found = find(keeper, [target])
            require(Step.REINSTATE, found.member(target), found.chain_of(target), keeper)
            stamp = keeper.stamp(found.latest)
            reinstated = Reinstated(stamp.id, stamp.at, target, why)
            keeper.store.append([entry(reinstated, found)])
    return changed(keeper, found, reinstated, "Reinstated")
