"""Entry scores and the order of chains: what each signal does, and what no signal may do."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stilltrue.retrieval.ranking import (
    MAX_BOOST,
    MAX_RATING,
    Candidate,
    Policy,
    Recency,
    diverse,
    normalised,
    relevance,
    score,
)

POLICY = Policy()
ONLY_RECENCY = Policy(relevance=0.0, recency=1.0, importance=0.0)
ONLY_IMPORTANCE = Policy(relevance=0.0, recency=0.0, importance=1.0)

candidates = st.lists(
    st.builds(
        Candidate,
        note_id=st.just("n"),
        similarity=st.none() | st.floats(-1, 1),
        lexical=st.floats(0, 50),
        age_days=st.floats(-1, 5000),
        half_life_days=st.none() | st.floats(0.1, 1000),
        importance=st.floats(0, 1),
        retrievals=st.integers(0, 10**6),
        ratings=st.integers(-1000, 1000),
    ),
    max_size=12,
)


def candidate(**given: Any) -> Candidate:
    """A candidate with default values, except for those given."""
    usual: dict[str, Any] = {
        "note_id": "n",
        "similarity": 0.5,
        "lexical": 0.0,
        "age_days": 1.0,
        "half_life_days": None,
        "importance": 0.5,
    }
    return Candidate(**usual | given)


@given(candidates, st.sampled_from(["decay", "none", "inverted"]))
def test_every_candidate_gets_a_finite_score_within_the_sum_of_the_weights_and_the_boost(
    found: list[Candidate], recency: Recency
) -> None:
    """No count of reads or ratings carries a note further than half the boost beyond the signals."""
    scores = score(found, POLICY, recency)
    half = MAX_BOOST / 2 + 1e-9
    assert len(scores) == len(found)
    assert all(math.isfinite(value) and -half <= value <= 1 + half for value in scores)


use = st.tuples(st.integers(0, 10**6), st.integers(-1000, 1000))


@given(
    candidates,
    st.lists(use, min_size=12, max_size=12),
    st.floats(0, 1),
    st.sampled_from(["decay", "none", "inverted"]),
)
def test_reads_and_ratings_move_no_score_by_more_than_the_boost(
    found: list[Candidate], used: list[tuple[int, int]], bonus: float, recency: Recency
) -> None:
    """Whatever happens to one candidate or to all of them, and however large the configured bonus."""
    policy = replace(POLICY, retrieval_bonus=bonus)
    other = [
        replace(each, retrievals=reads, ratings=ratings) for each, (reads, ratings) in zip(found, used, strict=False)
    ]
    before, after = score(found, policy, recency), score(other, policy, recency)
    assert all(abs(one - two) <= MAX_BOOST + 1e-9 for one, two in zip(before, after, strict=True))


@given(candidates, st.floats(0, 1), st.sampled_from(["decay", "none", "inverted"]))
def test_reads_and_ratings_reorder_only_candidates_closer_than_the_boost(
    found: list[Candidate], bonus: float, recency: Recency
) -> None:
    """Two that differ by more without boosts stay in their order with them."""
    policy = replace(POLICY, retrieval_bonus=bonus)
    plain = score([replace(each, retrievals=0, ratings=0) for each in found], policy, recency)
    boosted = score(found, policy, recency)
    for (better, high), (worse, low) in permutations(zip(plain, boosted, strict=True), 2):
        assert better - worse <= MAX_BOOST + 1e-9 or high > low


def test_equal_importances_stay_equal_when_one_of_the_notes_is_read() -> None:
    """One read must not be stretched to the whole weight of importance."""
    read, unread = score([candidate(retrievals=1), candidate()], ONLY_IMPORTANCE)
    assert unread == 0.5
    assert 0 < read - unread < MAX_BOOST / 10


def test_without_a_bonus_reads_do_not_count_but_ratings_do() -> None:
    """`recall.retrieval_bonus` is how much of the boost reads can use."""
    policy = replace(ONLY_IMPORTANCE, retrieval_bonus=0.0)
    read, unread, rated = score([candidate(retrievals=50), candidate(), candidate(ratings=1)], policy)
    assert read == unread < rated


def test_a_bonus_above_the_maximum_boost_counts_as_the_maximum() -> None:
    """Reads cannot use more of the boost than there is."""
    found = [candidate(retrievals=reads) for reads in (0, 3, 10**6)]
    assert score(found, replace(POLICY, retrieval_bonus=1.0)) == score(
        found, replace(POLICY, retrieval_bonus=MAX_BOOST)
    )


def test_no_candidates_give_no_scores() -> None:
    """An empty search is not an error."""
    assert score([], POLICY) == []


def test_of_two_otherwise_equal_candidates_the_more_relevant_scores_higher() -> None:
    """By vectors, by full text, or by both."""
    by_vector = score([candidate(similarity=0.9), candidate(similarity=0.2)], POLICY)
    by_text = score([candidate(lexical=9.0), candidate(lexical=2.0)], POLICY)
    assert by_vector[0] > by_vector[1]
    assert by_text[0] > by_text[1]


def test_of_two_candidates_of_a_class_that_decays_the_fresher_scores_higher() -> None:
    """Half-lives are set per class."""
    fresh, stale = score([candidate(half_life_days=14, age_days=age) for age in (1, 40)], POLICY)
    assert fresh > stale


def test_age_does_not_matter_in_a_class_without_a_half_life() -> None:
    """Age is not evidence: a decision of five years ago scores as one of today."""
    old, new = score([candidate(age_days=age) for age in (1800, 0)], POLICY)
    assert old == new


def test_a_note_that_does_not_decay_is_never_less_recent_than_one_that_does() -> None:
    """Its term is 1, even beside something read a moment ago."""
    lasting, fading = score([candidate(age_days=3000), candidate(age_days=1, half_life_days=14)], ONLY_RECENCY)
    assert lasting == 1.0
    assert fading <= lasting
    assert score([candidate(age_days=3000), candidate(age_days=1)], ONLY_RECENCY) == [1.0, 1.0]


def test_a_note_stored_just_now_is_as_recent_as_one_that_does_not_decay() -> None:
    """Whatever its class, only what has aged falls behind."""
    ages = (0.0, 0.1, 14.0)
    lasting, *fading = score(
        [candidate(), *(candidate(age_days=age, half_life_days=14) for age in ages)], ONLY_RECENCY
    )
    assert fading == pytest.approx([lasting, lasting, lasting / 2], rel=0.01)


def test_recency_halves_after_the_half_life() -> None:
    """Of the ages 0, one half-life and very old, the middle one is halfway."""
    scores = score([candidate(half_life_days=10, age_days=age) for age in (0, 10, 10**6)], ONLY_RECENCY)
    assert scores == pytest.approx([1.0, 0.5, 0.0])


def test_a_question_about_the_past_ignores_recency_or_inverts_it() -> None:
    """ "none" ignores age, "inverted" prefers the older."""
    found = [candidate(half_life_days=14, age_days=age) for age in (1, 40)]
    fresh, stale = score(found, POLICY, "none")
    assert fresh == stale
    fresh, stale = score(found, POLICY, "inverted")
    assert fresh < stale


def test_a_question_about_the_beginning_prefers_the_older_of_two_that_do_not_decay() -> None:
    """The very first choice is often a decision or a fact. Its age counts here, though it never decays."""
    old, new = score([candidate(age_days=age) for age in (1800, 1)], POLICY, "inverted")
    assert old > new


def test_of_two_otherwise_equal_candidates_the_more_important_scores_higher() -> None:
    """Importance is given when a note is stored."""
    high, low = score([candidate(importance=0.9), candidate(importance=0.1)], POLICY)
    assert high > low


def test_helped_raises_a_score_and_misled_lowers_it_up_to_a_limit() -> None:
    """Ten ratings in one direction are the maximum that counts."""
    found = [candidate(ratings=count) for count in (-(10**6), -MAX_RATING, -1, 0, 1, MAX_RATING, 10**6)]
    scores = score(found, ONLY_IMPORTANCE)
    assert scores[0] == scores[1] < scores[2] < scores[3] < scores[4] < scores[5] == scores[6]


def test_each_further_read_raises_a_score_by_less() -> None:
    """The boost grows with the logarithm: the first ten reads count for more than the next ten."""
    never, ten, twenty = score([candidate(retrievals=count) for count in (0, 10, 20)], ONLY_IMPORTANCE)
    assert ten - never > twenty - ten > 0


def test_a_constant_signal_counts_one_half_for_all() -> None:
    """It tells nothing apart, and nothing is divided by zero."""
    assert normalised([3.0, 3.0, 3.0]).tolist() == [0.5, 0.5, 0.5]
    assert normalised([1.0, 2.0, 3.0]).tolist() == [0.0, 0.5, 1.0]


def test_without_vectors_full_text_decides_alone() -> None:
    """A store whose model is not ready still ranks."""
    found = [candidate(similarity=None, lexical=score) for score in (8.0, 2.0, 0.0)]
    assert relevance(found, POLICY).tolist() == [1.0, 0.25, 0.0]


def test_without_a_word_in_common_vectors_decide_alone() -> None:
    """Full text found nothing, so it has no share."""
    found = [candidate(similarity=similarity) for similarity in (0.8, 0.6, 0.4)]
    assert relevance(found, POLICY).tolist() == pytest.approx([1.0, 0.5, 0.0])


def test_a_candidate_that_only_full_text_found_counts_as_the_least_similar() -> None:
    """It is not put last for having no vector, and it is given no similarity that it may not have."""
    found = [candidate(similarity=0.9), candidate(similarity=0.1), candidate(similarity=None, lexical=5.0)]
    near, far, by_words = relevance(found, POLICY).tolist()
    assert far < by_words < near


def test_at_lambda_1_the_order_is_that_of_the_scores_and_ties_keep_their_order() -> None:
    """Diversity has no weight then."""
    vectors = [np.array([1.0, 0.0], dtype=np.float32)] * 4
    assert diverse([0.2, 0.9, 0.9, 0.5], vectors, 1.0) == [1, 2, 3, 0]


def test_a_chain_similar_to_one_already_chosen_comes_after_a_different_one() -> None:
    """Of two near twins, the second comes after a chain that says something else."""
    north, east = np.array([1.0, 0.0], dtype=np.float32), np.array([0.0, 1.0], dtype=np.float32)
    assert diverse([0.9, 0.85, 0.7], [north, north, east], 0.5) == [0, 2, 1]


def test_a_chain_without_a_vector_is_similar_to_no_other() -> None:
    """It keeps its place by score."""
    north = np.array([1.0, 0.0], dtype=np.float32)
    assert diverse([0.9, 0.85, 0.8], [north, north, None], 0.5) == [0, 2, 1]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.none() | st.floats(0, 2 * math.pi)), max_size=12),
    st.floats(0, 1),
)
def test_diversity_reorders_and_drops_nothing(chains: list[tuple[float, float | None]], share: float) -> None:
    """Every chain is in the order once, and the best score comes first."""
    scores = [value for value, _ in chains]
    vectors = [None if at is None else np.array([math.cos(at), math.sin(at)], np.float32) for _, at in chains]
    order = diverse(scores, vectors, share)
    assert sorted(order) == list(range(len(chains)))
    assert not order or scores[order[0]] == max(scores)
