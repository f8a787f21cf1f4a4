"""What ranks the notes for a question: each channel of the search, a common way to mix them, and the product's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import stdev
from typing import TypeAlias

from bench.retrieval.sets import Question
from stilltrue.retrieval.ranking import Policy
from store.port import ChainRecord, Hit, Reranker
from tools.recall import recall
from tools.support.context import ToolContext
from tools.support.results import Recalled
from tools.support.retrieval import Hits, counts_of, enter, search

Ranked: TypeAlias = Sequence[str]
"""Ids of notes, best first."""

DEPTH = 20
"""How far down a ranking is looked at."""

RRF_K = 60
_NO_BUDGET = 1_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """What the product's search found for a question, once for all the ways to rank it."""

    question: Question
    hits: Hits
    records: list[ChainRecord]


def found(question: Question) -> Found:
    """The hits of both channels and the chains that they lead to."""
    context = question.context
    hits, degraded = search(context, question.text, question.subjects)
    if degraded:
        raise RuntimeError(degraded)
    return Found(question, hits, context.store.chains({hit.chain for hit in (*hits.by_vector, *hits.by_text)}))


def channels(question: Question, reranker: Reranker | None = None) -> dict[str, Ranked]:
    """The ranking of every channel.

    `fusion` and `late` are the product's relevance without and with late interaction, `recall` is what the verb
    tells: recency, importance, temporal intent and diversity included; `recall_ageing` the same where plain notes
    age. With a reranker, `cross_encoder` is what it makes of the candidates.
    """
    there = found(question)
    ranked = {
        "full_text": _distinct(there.hits.by_text),
        "vectors": _distinct(there.hits.by_vector),
        "rrf": _rrf(there.hits),
        "fusion": by_relevance(there, replace(question.context.policy, late_share=0.0)),
        "late": by_relevance(there, question.context.policy),
    }
    if reranker is not None:
        judged = replace(there, hits=replace(there.hits, reranker=reranker))
        ranked["cross_encoder"] = by_relevance(judged, question.context.policy)
    ranked["recall"] = _recalled(question.context, question)
    if question.ageing is not None:
        ranked["recall_ageing"] = _recalled(question.ageing, question)
    return ranked


def by_relevance(there: Found, policy: Policy) -> Ranked:
    """The notes by the product's relevance alone: `tools.entering.enter`, with no say for recency and importance."""
    context = replace(there.question.context, policy=replace(policy, relevance=1.0, recency=0.0, importance=0.0))
    counts = counts_of(context, there.records, "")
    entered = enter(context, there.hits, there.records, counts, "none", None, context.clock())
    return [each.entries[0] for each in sorted(entered, key=lambda each: -each.score)]


def _recalled(context: ToolContext, question: Question) -> Ranked:
    wide = replace(context, max_chains=DEPTH)
    told = recall(wide, question.text, subjects=question.subjects or None, budget_tokens=_NO_BUDGET).data
    assert isinstance(told, Recalled)
    return [chain.lead[0].id for chain in told.chains]


def _distinct(hits: Iterable[Hit]) -> Ranked:
    return list(dict.fromkeys(hit.note_id for hit in hits))


def _rrf(hits: Hits) -> Ranked:
    """Reciprocal rank fusion (Cormack et al. 2009) with k = 60, as it is commonly used. Not the product's."""
    scores: dict[str, float] = {}
    for channel in (_distinct(hits.by_vector), _distinct(hits.by_text)):
        for rank, note_id in enumerate(channel, 1):
            scores[note_id] = scores.get(note_id, 0.0) + 1.0 / (RRF_K + rank)
    return sorted(scores, key=lambda note_id: (-scores[note_id], note_id))


def recall_at(ranked: Ranked, wanted: frozenset[str], k: int) -> float:
    """The share of the wanted notes that stand among the first k."""
    return len(wanted.intersection(ranked[:k])) / len(wanted)


def reciprocal_rank(ranked: Ranked, wanted: frozenset[str]) -> float:
    """One over the rank of the first wanted note, 0 where none is among the first `DEPTH`."""
    return next((1.0 / rank for rank, note_id in enumerate(ranked[:DEPTH], 1) if note_id in wanted), 0.0)


def figures(
    rankings: Sequence[tuple[Question, Mapping[str, Ranked]]], ks: Sequence[int]
) -> dict[str, dict[str, float]]:
    """For each channel the means over the questions: recall at each k, and the reciprocal rank."""
    told: dict[str, dict[str, float]] = {}
    for channel in rankings[0][1]:
        pairs = [(ranked[channel], question.wanted) for question, ranked in rankings]
        means = {f"recall_at_{k}": _mean([recall_at(*pair, k) for pair in pairs]) for k in ks}
        told[channel] = {**means, "mrr": _mean([reciprocal_rank(*pair) for pair in pairs])}
    return told


def half_width(rankings: Sequence[tuple[Question, Mapping[str, Ranked]]], channel: str, k: int) -> float:
    """Half of the 95 % interval of a recall at k, by the normal approximation over the questions."""
    values = [recall_at(ranked[channel], question.wanted, k) for question, ranked in rankings]
    return 1.96 * stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
