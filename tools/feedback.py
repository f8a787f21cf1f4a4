"""Say what came of notes that an answer used. It moves their importance a little, never their status."""

from __future__ import annotations

from collections.abc import Sequence

from stilltrue import event
from stilltrue.errors import Refused
from stilltrue.event import Outcome
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.lookup import Found, entry, find
from tools.support.results import Answer, Rated
from tools.support.retry import attempts


def feedback(context: ToolContext, note_ids: Sequence[str], outcome: str) -> Answer:
    """Append a rating for each of the notes: `helped` raises its rank a little, `misled` undoes that.

    Refused, with nothing written, where an id is unknown or the outcome is neither.
    """
    ids = validation.note_ids(note_ids, context.limits)
    said = outcome.strip().casefold()
    if said not in set(Outcome):
        raise Refused(
            "bad_outcome",
            f"outcome is {outcome!r}; it is helped or misled.",
            "helped: the answer used the note and was right. misled: the note led it astray.",
        )
    for attempt in attempts(context):
        with attempt:
            found = find(context, ids)
            latest = found.latest
            entries = []
            for note_id in ids:
                stamp = context.stamp(latest)
                latest = stamp.at
                rated = event.Rated(stamp.id, stamp.at, note_id, Outcome(said))
                entries.append(entry(rated, _alone(found, note_id)))
            context.store.append(entries)
    data = Rated(ids, said)
    return Answer(f"Noted: {', '.join(f'[{note_id}]' for note_id in ids)} {said}.", data)


def _alone(found: Found, note_id: str) -> Found:
    return Found(tuple(pair for pair in found.pairs if note_id in pair[0].members))
