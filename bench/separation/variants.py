"""What each variant of `separation` returns for a request: ranked notes, the same notes closed, whole chains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.separation.stores import Change, StorePair
from bench.stage import NOW, Stage
from stilltrue.retrieval import temporal
from stilltrue.retrieval.ranking import Policy, diverse
from stilltrue.retrieval.selection import Entered, deliverable, rank, render_entered
from stilltrue.text.budget import Packed, Parcel, pack
from tools.support.context import ToolContext
from tools.support.retrieval import Hits, enter, search

BUDGET = 1_200
POOL = 20
"""How many notes MMR chooses from; the default of common libraries."""

SAME = 0.85
"""The minimum cosine at which a note is a near-duplicate of one that ranks above it."""

_ROOM = 1_000_000
_COSINE = Policy(relevance=1.0, recency=0.0, importance=0.0, late_share=0.0, lexical_share=0.0)
CHANNELS: Mapping[str, Policy] = {
    "dense": _COSINE,
    "full-text": replace(_COSINE, lexical_share=1.0),
    "hybrid": Policy(),
}
PASSES: Mapping[str, float | None] = {"plain": 1.0, "MMR 0.5": 0.5, "MMR 0.7": 0.7, "dedupe 0.85": None}
"""The lambda of each diversity pass; 1 leaves the ranking as it is, None removes near-duplicates."""


@dataclass(slots=True)
class Returned:
    """The content of an answer: the line of each old note and of each end, by change; its chains and tokens.

    `history` is the part of the tokens that may be cut from the chains.
    """

    old: dict[int, float] = field(default_factory=dict)
    end: dict[int, float] = field(default_factory=dict)
    chains: frozenset[str] = frozenset()
    tokens: int = 0
    history: int = 0

    @property
    def any_separated(self) -> bool:
        """Whether some old note is returned without what ended it."""
        return bool(self.old.keys() - self.end.keys())


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to one request by one channel and one pass.

    `at` is by variant and k: `notes` are the k best notes, each alone; `closed` the same notes, each as its chain;
    `chains` the k best chains, as recall returns them. `budgeted` is by variant: `notes` and `closed` are filled from
    everything found, `bare` is `closed` without history, `recall` the chains within recall's own limits.
    """

    channel: str
    diversity: str
    at: Mapping[tuple[str, int], Returned]
    budgeted: Mapping[str, Returned]


def answers(pair: StorePair, change: Change, ks: Sequence[int]) -> Iterator[Answers]:
    """Answer one request in every variant, with one search per store."""
    notes_by_channel = _entered(pair.plain, change.query)
    chains_by_channel = _entered(pair.linked, change.query)
    for channel in CHANNELS:
        found, relevance = notes_by_channel[channel]
        chains = deliverable(chains_by_channel[channel][0], whole=False)
        for diversity, weight in PASSES.items():
            notes = _chosen(found, relevance, weight)
            returned = rank(chains, temporal.NOW, 1.0 if weight is None else weight)
            returned = _deduplicated(returned) if weight is None else returned
            at = {}
            for k in ks:
                at["notes", k] = _of_notes(pair, notes[:k], _ROOM)
                at["closed", k] = _of_chains(pair, _whole(pair, _closed(pair, notes[:k]), _ROOM))
                at["chains", k] = _of_chains(pair, _whole(pair, returned[:k], _ROOM))
            budgeted = {}
            if diversity == "plain":
                closed = _closed(pair, notes)
                budgeted["notes"] = _of_notes(pair, notes, BUDGET)
                budgeted["closed"] = _of_chains(pair, _whole(pair, closed, BUDGET))
                budgeted["bare"] = _of_chains(pair, _bare(pair, closed, BUDGET))
                budgeted["recall"] = _of_chains(
                    pair, _whole(pair, returned[: pair.linked.context.max_chains], BUDGET)
                )
            yield Answers(channel, diversity, at, budgeted)


def _entered(stage: Stage, query: str) -> dict[str, tuple[list[Entered], list[float]]]:
    """The notes that each channel enters, best first, and their relevance on the scale of a cosine."""
    context = stage.context
    hits, degraded = search(context, query, ())
    assert degraded is None, degraded
    records = context.store.chains({hit.chain for hit in [*hits.by_vector, *hits.by_text]})
    counts = context.store.usage.counts([event.id for record in records for event in record.events], "")
    alone = {"dense": replace(hits, by_text=(), cut=False), "full-text": Hits((), hits.by_text, None), "hybrid": hits}
    result = {}
    for channel, these in alone.items():
        found = enter(stage.with_policy(CHANNELS[channel]), these, records, counts, "decay", None, NOW)
        scores = {hit.note_id: hit.score for hit in reversed([*these.by_vector, *these.by_text])}
        top = max(scores.values(), default=1.0) if channel == "full-text" else 1.0
        own = channel == "hybrid"
        relevance = [each.score if own else scores[each.entries[0]] / top for each in found]
        result[channel] = (found, relevance)
    return result


def _chosen(found: Sequence[Entered], relevance: Sequence[float], weight: float | None) -> list[Entered]:
    """The notes that a diversity pass leaves, in its order. Such a pass sees notes and no chains."""
    if weight is None:
        return _deduplicated(found)
    if weight == 1.0:
        return list(found)
    order = diverse(relevance[:POOL], [each.vector for each in found[:POOL]], weight)
    return [found[position] for position in order]


def _deduplicated(ranked: Iterable[Entered]) -> list[Entered]:
    """The notes without near-duplicates of a note above them."""
    distinct: list[Entered] = []
    for each in ranked:
        if not any(
            each.vector is not None and other.vector is not None and float(each.vector @ other.vector) >= SAME
            for other in distinct
        ):
            distinct.append(each)
    return distinct


def _closed(pair: StorePair, notes: Sequence[Entered]) -> list[Entered]:
    """The chains that the notes enter, each chain once, in the position of the best of its notes."""
    entered: dict[str, Entered] = {}
    for note in notes:
        origin = pair.origins[note.entries[0]]
        known = entered.get(origin.chain.id)
        entries = (*(known.entries if known else ()), origin.entry)
        entered[origin.chain.id] = Entered(origin.chain, origin.chain, entries, note.score, note.vector)
    return list(entered.values())


def _of_notes(pair: StorePair, notes: Sequence[Entered], room: int) -> Returned:
    packed = _packed(pair.plain.context, notes, room)
    returned = Returned()
    for line, each in enumerate(packed):
        origin = pair.origins[each.parcel.key]
        if origin.change is not None:
            (returned.end if origin.ends else returned.old)[origin.change] = line
    returned.chains = frozenset(pair.origins[each.parcel.key].chain.id for each in packed)
    returned.tokens = sum(each.tokens for each in packed)
    return returned


def _whole(pair: StorePair, chains: Sequence[Entered], room: int) -> list[Packed]:
    """The chains as recall returns them."""
    return _packed(pair.linked.context, chains, room)


def _packed(context: ToolContext, entered: Sequence[Entered], room: int) -> list[Packed]:
    lines = [(each.chain.id, render_entered(each, context.formatter, whole=False).lines) for each in entered]
    packed, _ = pack([Parcel(chain_id, each) for chain_id, each in lines], room, context.count_tokens)
    return packed


def _bare(pair: StorePair, chains: Sequence[Entered], room: int) -> list[Packed]:
    """The same chains without the history that may be cut, to see its share of the price."""
    every = _whole(pair, chains, _ROOM)
    needed = [tuple(line for line in each.lines if line.must or line.wanted) for each in every]
    parcels = [Parcel(each.parcel.key, lines) for each, lines in zip(every, needed, strict=True)]
    packed, _ = pack(parcels, room, pair.linked.context.count_tokens)
    return packed


def _of_chains(pair: StorePair, packed: Sequence[Packed]) -> Returned:
    """The content as read from the returned lines, not from what the chains should hold."""
    context = pair.linked.context
    returned = Returned(
        chains=frozenset(each.parcel.key for each in packed), tokens=sum(each.tokens for each in packed)
    )
    number = 0
    for each in packed:
        for line in each.lines:
            number += 1
            if line.note_id in pair.ends:
                returned.end[pair.ends[line.note_id]] = number
            change = pair.olds.get(line.note_id)
            if change is not None:
                returned.old[change] = number
                # A retraction is in the line of its note: a label before the text, and the reason after it.
                if pair.revoked and pair.plan.changes[change].end in line.text:
                    returned.end[change] = number - 0.5 if line.text.startswith("* RETRACTED") else number + 0.5
        returned.history += _history(each, context)
    return returned


def _history(packed: Packed, context: ToolContext) -> int:
    return sum(context.count_tokens(line.text) + 1 for line in packed.lines if not line.must and not line.wanted)
