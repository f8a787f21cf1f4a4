"""The stored notes that are close to a new one in meaning, so that an agent sees what it should replace."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from stilltrue.chain import Chain, chains
from stilltrue.lifecycle import STATES, Member, Status
from stilltrue.text.formatting import inline, stated
from store.port import Hit, Vector
from tools.support.context import ToolContext
from tools.support.results import NearView, note_view

NEAR = 0.45
"""The cosine from which notes are shown as near. One too many costs a line, one too few leaves a stale fact."""

SAME = 0.8
"""The cosine from which two notes count as saying nearly the same."""

_SEARCHED = 20
_WORDS = 2_000


@dataclass(frozen=True, slots=True)
class Nearby:
    """A stored note near to a text, with its chain as of now and the cosine (BM25 if there was no vector)."""

    member: Member
    chain: Chain
    similarity: float

    @property
    def holds(self) -> bool:
        """Whether it holds, may hold or will hold."""
        return STATES[self.member.status].binds or self.member.status is Status.PENDING


def nearby(
    context: ToolContext,
    text: str,
    vector: Vector | None,
    subjects: Collection[str],
    *,
    apart_from: Collection[str] = (),
    least: float = NEAR,
) -> list[Nearby]:
    """The nearest notes, best first: up to three that hold, then up to two that do not, without `apart_from`.

    Without a vector, the best few matches of the full text.
    """
    if vector is not None:
        hits = [hit for hit in context.store.by_vector(vector, subjects, _SEARCHED) if hit.score >= least]
    else:
        hits = context.store.by_text(text[:_WORDS], subjects, 4)
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.note_id not in apart_from:
            best.setdefault(hit.note_id, hit)
    records = context.store.chains({hit.chain for hit in best.values()}) if best else []
    members = {
        member.id: (member, chain)
        for record in records
        for chain in chains(record.events, context.clock())
        for member in chain.members.values()
    }
    found = [Nearby(*members[note_id], hit.score) for note_id, hit in best.items() if note_id in members]
    return [each for each in found if each.holds][:3] + [each for each in found if not each.holds][:2]


def view(near: Nearby, context: ToolContext, also: str | None = None) -> NearView:
    """The near note with the call that replaces it; with `also`, the call replaces that note too.

    A retired note is replaced by replacing what leads its chain now; otherwise the chain would fork.
    """
    member, chain = near.member, near.chain
    targets = [member.id] if member.id in chain.lead else list(chain.lead)
    return NearView(
        note=note_view(member, chain, context.formatter),
        similarity=round(near.similarity, 3),
        call=f"supersede(note_ids={json.dumps([*targets, also] if also else targets)}, text=...)",
    )


def lines(title: str, views: Sequence[NearView]) -> list[str]:
    """The near notes as lines under a title, each with its call; no lines if there are no notes."""
    if not views:
        return []
    return [title] + [
        f"  [{view.note.id}] {stated(inline(view.note.text))}"
        + (f" - {view.note.mark}" if view.note.mark else "")
        + f"\n    {view.call}"
        for view in views
    ]
