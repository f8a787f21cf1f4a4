"""Rankings of the notes for a question: each search channel, a common fusion of both, and the product's own."""

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
"""How many ranks of a ranking are evaluated."""

RRF_K = 60
_NO_BUDGET = 1_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """What the product's search found for a question, shared by all rankings of it."""

    question: Question
    hits: Hits
    records: list[ChainRecord]


def found(question: Question) -> Found:
    """Search for the question: the hits of both channels, and their chains."""
    context = question.context
    hits, degraded = search(context, question.text, question.subjects)
    if degraded:
        raise RuntimeError(degraded)
    return Found(question, hits, context.store.chains({hit.chain for hit in (*hits.by_vector, *hits.by_text)}))


def channels(question: Question, reranker: Reranker | None = None) -> dict[str, Ranked]:
    """The ranking of every channel.

    `fusion` and `late` are the product's relevance without and with late interaction. `recall` is what the tool
    returns, with recency, importance, temporal intent and diversity; in `recall_ageing` plain notes decay as
    well. With a reranker, `cross_encoder` is its order of the candidates.
    """
    hits_found = found(question)
    ranked = {
        "full_text": _distinct(hits_found.hits.by_text),
        "vectors": _distinct(hits_found.hits.by_vector),
        "rrf": _rrf(hits_found.hits),
        "fusion": by_relevance(hits_found, replace(question.context.policy, late_share=0.0)),
        "late": by_relevance(hits_found, question.context.policy),
    }
    if reranker is not None:
        judged = replace(hits_found, hits=replace(hits_found.hits, reranker=reranker))
        ranked["cross_encoder"] = by_relevance(judged, question.context.policy)
    ranked["recall"] = _recalled(question.context, question)
    if question.ageing is not None:
        ranked["recall_ageing"] = _recalled(question.ageing, question)
    return ranked


def by_relevance(hits_found: Found, policy: Policy) -> Ranked:
    """The notes by the product's relevance alone, with no weight on recency and importance."""
    context = replace(hits_found.question.context, policy=replace(policy, relevance=1.0, recency=0.0, importance=0.0))
    counts = counts_of(context, hits_found.records, "")
    entered = enter(context, hits_found.hits, hits_found.records, counts, "none", None, context.clock())
    return [each.entries[0] for each in sorted(entered, key=lambda each: -each.score)]


def _recalled(context: ToolContext, question: Question) -> Ranked:
    wide = replace(context, max_chains=DEPTH)
    answer = recall(wide, question.text, subjects=question.subjects or None, budget_tokens=_NO_BUDGET).data
    assert isinstance(answer, Recalled)
    return [chain.lead[0].id for chain in answer.chains]


def _distinct(hits: Iterable[Hit]) -> Ranked:
    return list(dict.fromkeys(hit.note_id for hit in hits))


def _rrf(hits: Hits) -> Ranked:
    """Reciprocal rank fusion (Cormack et al. 2009) with k = 60, as is common. Not used by the product."""
    scores: dict[str, float] = {}
    for channel in (_distinct(hits.by_vector), _distinct(hits.by_text)):
        for rank, note_id in enumerate(channel, 1):
            scores[note_id] = scores.get(note_id, 0.0) + 1.0 / (RRF_K + rank)
    return sorted(scores, key=lambda note_id: (-scores[note_id], note_id))


def recall_at(ranked: Ranked, wanted: frozenset[str], k: int) -> float:
    """The share of the wanted notes among the first k."""
    return len(wanted.intersection(ranked[:k])) / len(wanted)


def reciprocal_rank(ranked: Ranked, wanted: frozenset[str]) -> float:
    """One over the rank of the first wanted note; 0 if none is among the first `DEPTH`."""
    return next((1.0 / rank for rank, note_id in enumerate(ranked[:DEPTH], 1) if note_id in wanted), 0.0)


def figures(
    rankings: Sequence[tuple[Question, Mapping[str, Ranked]]], ks: Sequence[int]
) -> dict[str, dict[str, float]]:
    """For each channel the means over the questions: recall at each k, and the reciprocal rank."""
    means_of: dict[str, dict[str, float]] = {}
    for channel in rankings[0][1]:
        pairs = [(ranked[channel], question.wanted) for question, ranked in rankings]
        means = {f"recall_at_{k}": _mean([recall_at(*pair, k) for pair in pairs]) for k in ks}
        means_of[channel] = {**means, "mrr": _mean([reciprocal_rank(*pair) for pair in pairs])}
    return means_of


def half_width(rankings: Sequence[tuple[Question, Mapping[str, Ranked]]], channel: str, k: int) -> float:
    """Half of the 95 % interval of a recall at k, by the normal approximation over the questions."""
    values = [recall_at(ranked[channel], question.wanted, k) for question, ranked in rankings]
    return 1.96 * stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
