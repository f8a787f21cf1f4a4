"""Entry scores, and the order of chains: normalised signals, weighted; bounded boosts; diversity between chains.

The three signals are those of Park et al., "Generative Agents" (2023): recency, importance and relevance, each
min-max normalised and then added with weights. Three things differ here. Decay is set per class, since a decision
does not go stale as a working context does. Reads and ratings are added after the normalisation and are bounded, so
that use alone cannot reorder a store. And diversity, by maximal marginal relevance (Carbonell and Goldstein, "The Use
of MMR", 1998), works on whole chains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Recency = Literal["decay", "none", "inverted"]
"""How recency counts: newer is better, not at all, or older is better."""

MAX_BOOST = 0.05
"""Reads and ratings together move a score by at most this much, from the lowest boost to the highest."""

MAX_RATING = 10
"""A note's ratings, `helped` minus `misled`, count up to this many in either direction."""

MAX_READS = 100
"""Reads count up to this many."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The weights of the three signals, and the other settings of the ranking.

    `lexical_share` in [0, 1] is the share of full text in the mix with vectors, where both exist. `late_share` in
    [0, 1] is the share of late interaction in relevance, where it exists; that mix has the rest. `retrieval_bonus`
    is how much of the boost reads can use: none at 0, all of it from MAX_BOOST on. `mmr_lambda` in [0, 1] weighs
    score against diversity: 1 is score alone, 0 is diversity alone.
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

    `similarity` is the best cosine among its index entries, None without vectors. `lexical` is its best BM25 score,
    minus the highest that a note not found by full text could have; that note has 0. `late` is its late interaction
    score, None without a sketch. `reranked` is the cross-encoder's score, None where it was not given the note.
    `age_days` counts from when it was last read or, if never, recorded. `ratings` is `helped` minus `misled`.
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

    score = w_relevance * relevance + w_recency * recency + w_importance * importance + boost, where the three signals
    are in [0, 1] and the boost is in [-MAX_BOOST / 2, MAX_BOOST / 2].
    """
    if not candidates:
        return []
    total = policy.relevance * normalised(relevance(candidates, policy))
    total += policy.importance * normalised([each.importance for each in candidates])
    if recency != "none":
        # "inverted" ranks by plain age. "What was our very first choice?" asks about decisions and facts too, which
        # do not decay: by decay they would all be equally old.
        ages = [each.age_days for each in candidates]
        total += policy.recency * (normalised(ages) if recency == "inverted" else _recency(candidates))
    total += np.array([_boost(each, policy) for each in candidates])
    return [float(value) for value in total]


def relevance(candidates: Sequence[Candidate], policy: Policy) -> NDArray[np.float64]:
    """How well each candidate fits the query, in [0, 1]: vectors and full text mixed, then late interaction.

    Where a cross-encoder has scored candidates, its scores replace all of that, since it reads query and text
    together and is the better judge. Candidates that it was not given rank with its worst.
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
    # Notes stored before there were sketches have none. Their place in the mix stands in for it: the lowest late
    # score would push them to the end, whatever they say.
    met = np.array([at if value is None else (value - low) / span for value, at in zip(late, first, strict=True)])
    share = policy.late_share
    mixed: NDArray[np.float64] = (1.0 - share) * first + share * met
    return mixed


def _mixed(candidates: Sequence[Candidate], lexical_share: float) -> NDArray[np.float64]:
    """A convex combination of the normalised scores of vectors and full text, in [0, 1].

    Scores rather than ranks are combined (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
    Retrieval", 2023): reciprocal rank fusion forgets by how much one candidate beats the next. The two are normalised
    differently. A BM25 score of 0 means "no word in common", so it has to stay 0: the scores are divided by the
    largest. A cosine has no such zero, so cosines are min-max normalised.
    """
    lexical = np.array([each.lexical for each in candidates], dtype=np.float64)
    best = lexical.max(initial=0.0)
    lexical = lexical / best if best > 0 else lexical
    known = [each.similarity for each in candidates if each.similarity is not None]
    if not known:
        return lexical
    # Found by words alone: it is as far from the query as the farthest of the others, or farther.
    floor = min(known)
    similarity = normalised([floor if each.similarity is None else each.similarity for each in candidates])
    # With no word in common anywhere, full text would only scale the cosines down.
    share = lexical_share if best > 0 else 0.0
    mixed: NDArray[np.float64] = (1.0 - share) * similarity + share * lexical
    return mixed


def normalised(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The values min-max normalised to [0, 1]. A constant signal tells nothing apart and is 0.5 for all."""
    array = np.asarray(values, dtype=np.float64)
    low, high = array.min(), array.max()
    if high - low < 1e-12:
        return np.full(array.shape, 0.5)
    scaled: NDArray[np.float64] = (array - low) / (high - low)
    return scaled


def diverse(scores: Sequence[float], vectors: Sequence[NDArray[np.float32] | None], mmr_lambda: float) -> list[int]:
    """The order in which to return chains, as positions, best first: maximal marginal relevance.

    next = argmax over the remaining of lambda * score - (1 - lambda) * (highest cosine to a chain already chosen).

    It is given one score and one unit vector per chain and nothing of its members, so it cannot separate a note from
    its correction. A chain without a vector is similar to no other.
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
    """0.5 ** (age / half-life) for each candidate, in [0, 1]; 1 where the class has no half-life.

    Among candidates that all decay, the terms are min-max normalised like the other signals. Beside a candidate that
    does not decay they are taken as they are. There the highest term is always 1, so that stretching would give the
    lowest one 0: something said an hour ago (0.998) would rank as if it were years old, beside any note of a class
    without a half-life.
    """
    raw = [
        1.0 if each.half_life_days is None else math.pow(0.5, max(each.age_days, 0.0) / each.half_life_days)
        for each in candidates
    ]
    return np.array(raw) if any(each.half_life_days is None for each in candidates) else normalised(raw)


def _boost(candidate: Candidate, policy: Policy) -> float:
    """What reads and ratings add to a score, in [-MAX_BOOST / 2, MAX_BOOST / 2]; 0 for a note with neither.

    It is added to the finished score and is no part of a signal. As a part of importance it would be normalised:
    where all importances are equal, which is the usual case, one read would be stretched to the whole weight of that
    signal. Bounded here, it decides only between candidates that are nearly equal. Reads count by their logarithm:
    the tenth says less about a note than the first.
    """
    rating = max(-MAX_RATING, min(MAX_RATING, candidate.ratings)) / MAX_RATING
    reads = math.log1p(min(candidate.retrievals, MAX_READS)) / math.log1p(MAX_READS)
    share = min(policy.retrieval_bonus / MAX_BOOST, 1.0)
    return MAX_BOOST / 2 * max(-1.0, min(1.0, rating + share * reads))
