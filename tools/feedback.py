"""Say whether notes helped an answer or misled it. This moves their importance a little, never their status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stilltrue.errors import Refused
from stilltrue.event import Outcome
from stilltrue.event import Rated as Rating
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.lookup import Found, entry, find
from tools.support.results import Answer, Rated
from tools.support.retry import attempts


@dataclass(frozen=True, slots=True)
class RatingPlan:
    """The notes that are rated, and how."""

    ids: tuple[str, ...]
    outcome: Outcome


def feedback(context: ToolContext, note_ids: Sequence[str], outcome: str) -> Answer:
    """Append a rating for each of the notes: `helped` raises its rank a little, `misled` undoes that.

    Refused, with nothing written, if an id is unknown or the outcome is neither.
    """
    return commit(context, plan(context, note_ids, outcome))


def plan(context: ToolContext, note_ids: Sequence[str], outcome: str) -> RatingPlan:
    """The ratings. Refused if no id is given or the outcome is unknown."""
    ids = validation.note_ids(note_ids, context.limits)
    named = outcome.strip().casefold()
    if named not in set(Outcome):
        raise Refused(
            "bad_outcome",
            f"outcome is {outcome!r}; helped or misled is expected.",
            "helped: the answer used the note and was right. misled: the note led it astray.",
        )
    return RatingPlan(ids, Outcome(named))


def commit(context: ToolContext, plan: RatingPlan) -> Answer:
    """Append the ratings, all or none. Raises Refused if an id is unknown."""
    for attempt in attempts(context):
        with attempt:
            found = find(context, plan.ids)
            latest = found.latest
            entries = []
            for note_id in plan.ids:
                stamp = context.stamp(latest)
                latest = stamp.at
                rating = Rating(stamp.id, stamp.at, note_id, plan.outcome)
                own = Found(tuple(pair for pair in found.pairs if note_id in pair[0].members))
                entries.append(entry(rating, own))
            context.store.append(entries)
    rated = ", ".join(f"[{note_id}]" for note_id in plan.ids)
    return Answer(f"Noted: {rated} {plan.outcome}.", Rated(plan.ids, plan.outcome))
