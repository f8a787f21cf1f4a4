"""What each arm of `separation` delivers for one request: notes as ranked, the same notes closed, whole chains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.separation.stores import Change, Pair
from bench.stage import NOW, Stage
from stilltrue.retrieval.budget import Packed, Parcel, pack
from stilltrue.retrieval.ranking import Policy, diverse
from stilltrue.retrieval.selection import Entered, deliverable, packed, ranked
from tools.recall import renderer
from tools.support.context import ToolContext
from tools.support.retrieval import Hits, enter, search

BUDGET = 1_200
POOL = 20
"""Of how many notes a maximal marginal relevance chooses, as libraries have it by default."""

SAME = 0.85
"""The cosine from which a note is a near-duplicate of one that ranks above it."""

_ROOM = 1_000_000
_COSINE = Policy(relevance=1.0, recency=0.0, importance=0.0, late_share=0.0, lexical_share=0.0)
CHANNELS: Mapping[str, Policy] = {
    "dense": _COSINE,
    "full-text": replace(_COSINE, lexical_share=1.0),
    "hybrid": Policy(),
}
PASSES: Mapping[str, float | None] = {"plain": 1.0, "MMR 0.5": 0.5, "MMR 0.7": 0.7, "dedupe 0.85": None}
"""The lambda of each diversity pass, 1 where nothing is passed over; None for the removal of near-duplicates."""


@dataclass(slots=True)
class Told:
    """What an answer holds: the line of each old note and of each end, by change; its units and its tokens.

    `history` are those of the tokens that a chain can be told without.
    """

    old: dict[int, float] = field(default_factory=dict)
    end: dict[int, float] = field(default_factory=dict)
    chains: frozenset[str] = frozenset()
    tokens: int = 0
    history: int = 0

    def apart(self, change: int) -> bool:
        """Whether the old note is told without what ended it."""
        return change in self.old and change not in self.end

    @property
    def any_apart(self) -> bool:
        return bool(self.old.keys() - self.end.keys())


@dataclass(frozen=True, slots=True)
class Answers:
    """One request by one channel and one pass.

    `at` is by arm and k: `notes` are the k best notes, each alone; `closed` the same notes, each as its chain;
    `chains` the k best chains, as recall delivers them. `budgeted` is by arm: `notes` and `closed` are filled from
    all that was found, `bare` is `closed` without history, `recall` the chains within recall's own limits.
    """

    channel: str
    diversity: str
    at: Mapping[tuple[str, int], Told]
    budgeted: Mapping[str, Told]


def answers(pair: Pair, change: Change, ks: Sequence[int]) -> Iterator[Answers]:
    """One request in every arm, searched once in each store."""
    notes_by_channel = _entered(pair.plain, change.query)
    chains_by_channel = _entered(pair.linked, change.query)
    for channel in CHANNELS:
        found, relevance = notes_by_channel[channel]
        chains = deliverable(chains_by_channel[channel][0], whole=False)
        for diversity, weight in PASSES.items():
            notes = _chosen(found, relevance, weight)
            told = ranked(chains, 1.0 if weight is None else weight)
            told = _apart_enough(told) if weight is None else told
            at = {}
            for k in ks:
                at["notes", k] = _of_notes(pair, notes[:k], _ROOM)
                at["closed", k] = _of_chains(pair, _whole(pair, _closed(pair, notes[:k]), _ROOM))
                at["chains", k] = _of_chains(pair, _whole(pair, told[:k], _ROOM))
            budgeted = {}
            if diversity == "plain":
                closed = _closed(pair, notes)
                budgeted["notes"] = _of_notes(pair, notes, BUDGET)
                budgeted["closed"] = _of_chains(pair, _whole(pair, closed, BUDGET))
                budgeted["bare"] = _of_chains(pair, _bare(pair, closed, BUDGET))
                budgeted["recall"] = _of_chains(pair, _whole(pair, told[: pair.linked.context.max_chains], BUDGET))
            yield Answers(channel, diversity, at, budgeted)


def _entered(stage: Stage, asked: str) -> dict[str, tuple[list[Entered], list[float]]]:
    """What each channel enters, best first, and its relevance on the scale of a cosine."""
    context = stage.context
    hits, degraded = search(context, asked, ())
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
    """The notes that a diversity pass leaves, in its order: what a pass over notes does, which knows no chains."""
    if weight is None:
        return _apart_enough(found)
    if weight == 1.0:
        return list(found)
    order = diverse(relevance[:POOL], [each.vector for each in found[:POOL]], weight)
    return [found[position] for position in order]


def _apart_enough(ranked: Iterable[Entered]) -> list[Entered]:
    """Without those that are nearly the same as one above them."""
    kept: list[Entered] = []
    for each in ranked:
        if not any(
            each.vector is not None and other.vector is not None and float(each.vector @ other.vector) >= SAME
            for other in kept
        ):
            kept.append(each)
    return kept


def _closed(pair: Pair, notes: Sequence[Entered]) -> list[Entered]:
    """The same notes as the chains that they enter, each chain once, in the place of the best of its notes."""
    entered: dict[str, Entered] = {}
    for note in notes:
        place = pair.places[note.entries[0]]
        known = entered.get(place.chain.id)
        entries = (*(known.entries if known else ()), place.entry)
        entered[place.chain.id] = Entered(place.chain, place.chain, entries, note.score, note.vector)
    return list(entered.values())


def _of_notes(pair: Pair, notes: Sequence[Entered], room: int) -> Told:
    shown = _recalled(pair.plain.context, notes, room)
    told = Told()
    for line, each in enumerate(shown):
        place = pair.places[each.parcel.key]
        if place.change is not None:
            (told.end if place.ends else told.old)[place.change] = line
    told.chains = frozenset(pair.places[each.parcel.key].chain.id for each in shown)
    told.tokens = sum(each.tokens for each in shown)
    return told


def _whole(pair: Pair, chains: Sequence[Entered], room: int) -> list[Packed]:
    """As recall tells them."""
    return _recalled(pair.linked.context, chains, room)


def _recalled(context: ToolContext, entered: Sequence[Entered], room: int) -> list[Packed]:
    chains, _ = packed(entered, room, context.count_tokens, renderer(context, {}, whole=False))
    return [each.packed for each in chains]


def _bare(pair: Pair, chains: Sequence[Entered], room: int) -> list[Packed]:
    """The same lines without the history that a chain can be told without, to see what of the price is that."""
    every = _whole(pair, chains, _ROOM)
    needed = [tuple(line for line in each.lines if line.must or line.wanted) for each in every]
    parcels = [Parcel(each.parcel.key, lines) for each, lines in zip(every, needed, strict=True)]
    fitting, _ = pack(parcels, room, pair.linked.context.count_tokens)
    return fitting


def _of_chains(pair: Pair, shown: Sequence[Packed]) -> Told:
    """Read from the lines as they go out, not from what the chains should hold."""
    context = pair.linked.context
    told = Told(chains=frozenset(each.parcel.key for each in shown), tokens=sum(each.tokens for each in shown))
    number = 0
    for each in shown:
        for line in each.lines:
            number += 1
            if line.note_id in pair.ends:
                told.end[pair.ends[line.note_id]] = number
            change = pair.olds.get(line.note_id)
            if change is not None:
                told.old[change] = number
                # A retraction stands in the line of what it retracts: as a label before its words, and behind as why.
                if pair.revoked and pair.plan.changes[change].end in line.text:
                    told.end[change] = number - 0.5 if line.text.startswith("* RETRACTED") else number + 0.5
        told.history += _history(each, context)
    return told


def _history(shown: Packed, context: ToolContext) -> int:
    return sum(context.count_tokens(line.text) + 1 for line in shown.lines if not line.must and not line.wanted)
