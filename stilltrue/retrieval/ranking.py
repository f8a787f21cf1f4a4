"""Entry scores and the order of chains: min-max normalised signals, weighted; then diversity between chains.

The three signals are those of Park et al., "Generative Agents" (2023): recency, importance, relevance, each
normalised before they are added. What differs here: decay belongs to a class, reading refreshes, boosts are
bounded, and diversity (Carbonell and Goldstein, "The Use of MMR", 1998) works on whole chains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Recency = Literal["decay", "none", "inverted"]
"""How the recency term counts: newer is better, not at all, or older is better."""

RATING_STEP = 1.05
"""One `helped` raises a note's importance by 5 %; one `misled` lowers it by the same factor."""

MAX_RATING = 10
"""Ratings count up to this many in either direction: at most 1.63 times the importance, at least 0.61."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The weights of the three signals and the knobs beside them; all are configuration.

    `lexical_share` in [0, 1] is the part that full text has in the first mix where vectors exist too, `late_share`
    the part of relevance that late interaction decides where both are there; the rest is that mix.
    `retrieval_bonus` is the delta in importance + delta * log1p(retrievals). `mmr_lambda` in [0, 1]: 1 is pure
    score, 0 pure diversity.
    """

    relevance: float = 0.7
    recency: float = 0.15
    importance: float = 0.15
    lexical_share: float = 0.45
    late_share: float = 0.8
    retrieval_bonus: float = 0.05
    mmr_lambda: float = 0.7


@dataclass(frozen=True, slots=True)
class Candidate:
    """One note that the search found.

    `similarity` is the best cosine among its ways in, None where no vectors were to be had; `lexical` the best
    BM25, over what one that full text did not find can have, which is 0 here; `late` its score token by token, None
    where it has no sketch.
    `age_days` counts since it was last read, or else recorded.
    """

    note_id: str
    similarity: float | None
    lexical: float
    age_days: float
    half_life_days: float | None
    importance: float
    retrievals: int = 0
    ratings: int = 0
    late: float | None = None
    reranked: float | None = None


def score(candidates: Sequence[Candidate], policy: Policy, recency: Recency = "decay") -> list[float]:
    """The entry score of each candidate, in their order; higher is better.

    score = w_relevance * relevance + w_recency * recency + w_importance * importance, each signal min-max
    normalised over the candidates.
    """
    if not candidates:
        return []
    total = policy.relevance * normalised(relevance(candidates, policy))
    total += policy.importance * normalised([_importance(each, policy) for each in candidates])
    if recency != "none":
        ages = [each.age_days for each in candidates]
        total += policy.recency * (normalised(ages) if recency == "inverted" else _recency(candidates))
    return [float(value) for value in total]


def relevance(candidates: Sequence[Candidate], policy: Policy) -> NDArray[np.float64]:
    """How well each candidate fits the query, in [0, 1]: what both channels say, then token by token.

    Where a cross-encoder has scored the candidates, its scores stand in the place of all that, and a candidate
    that it was not given counts as its worst.
    Where a candidate has no sketch, its place in the first mix stands in for its late interaction.
    """
    if judged := [each.reranked for each in candidates if each.reranked is not None]:
        worst = min(judged)
        return normalised([worst if each.reranked is None else each.reranked for each in candidates])
    first = _mixed(candidates, policy.lexical_share)
    late = [each.late for each in candidates]
    known = [value for value in late if value is not None]
    if not known or policy.late_share == 0:
        return first
    first = normalised(first)
    low, span = min(known), max(max(known) - min(known), 1e-12)
    met = np.array([at if value is None else (value - low) / span for value, at in zip(late, first, strict=True)])
    share = policy.late_share
    mixed: NDArray[np.float64] = (1.0 - share) * first + share * met
    return mixed


def _mixed(candidates: Sequence[Candidate], lexical_share: float) -> NDArray[np.float64]:
    """A convex mix of both channels' normalised scores.

    Cosines are min-max normalised; BM25, whose zero means "no word in common", is divided by its maximum. A
    channel that found nothing has no say.
    """
    lexical = np.array([each.lexical for each in candidates], dtype=np.float64)
    best = lexical.max(initial=0.0)
    lexical = lexical / best if best > 0 else lexical
    known = [each.similarity for each in candidates if each.similarity is not None]
    if not known:
        return lexical
    floor = min(known)
    similarity = normalised([floor if each.similarity is None else each.similarity for each in candidates])
    share = lexical_share if best > 0 else 0.0
    mixed: NDArray[np.float64] = (1.0 - share) * similarity + share * lexical
    return mixed


def normalised(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The values min-max normalised to [0, 1]. A constant signal says nothing and counts 0.5 for all."""
    array = np.asarray(values, dtype=np.float64)
    low, high = array.min(), array.max()
    if high - low < 1e-12:
        return np.full(array.shape, 0.5)
    scaled: NDArray[np.float64] = (array - low) / (high - low)
    return scaled


def diverse(scores: Sequence[float], vectors: Sequence[NDArray[np.float32] | None], mmr_lambda: float) -> list[int]:
    """The order in which to tell chains: maximal marginal relevance over one vector for each chain.

    It sees one score and one vector per chain and nothing of its members, so it cannot part a note from its
    correction. A chain without a vector is like no other. Returns the positions, best first.
    """
    remaining = sorted(range(len(scores)), key=lambda position: -scores[position])
    closest = dict.fromkeys(remaining, 0.0)
    order: list[int] = []
    while remaining:
        best = max(remaining, key=lambda at: mmr_lambda * scores[at] - (1.0 - mmr_lambda) * closest[at])
        remaining.remove(best)
        order.append(best)
        chosen = vectors[best]
        if chosen is not None and mmr_lambda < 1.0:
            for other in remaining:
                vector = vectors[other]
                if vector is not None:
                    closest[other] = max(closest[other], float(vector @ chosen))
    return order


def _recency(candidates: Sequence[Candidate]) -> NDArray[np.float64]:
    """0.5 ** (age / half-life), min-max normalised; a class without a half-life does not decay: its term is 1.

    Beside one that does not decay the terms are taken as they are, from 0 to 1. Stretched, what was said an hour ago
    would be the least recent of all.
    """
    raw = [
        1.0 if each.half_life_days is None else math.pow(0.5, max(each.age_days, 0.0) / each.half_life_days)
        for each in candidates
    ]
    return np.array(raw) if any(each.half_life_days is None for each in candidates) else normalised(raw)


def _importance(candidate: Candidate, policy: Policy) -> float:
    rating = max(-MAX_RATING, min(MAX_RATING, candidate.ratings))
    rated = min(1.0, candidate.importance * RATING_STEP**rating)
    return rated + policy.retrieval_bonus * math.log1p(candidate.retrievals)
