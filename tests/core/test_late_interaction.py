"""Late interaction: each token of a query is matched with the tokens of a text."""

from __future__ import annotations

import numpy as np

from stilltrue.retrieval.late_interaction import WIDTH, Sketch, scores, sketch
from store.embed.load import load_embedder

AXES = np.eye(WIDTH, dtype=np.float32)


def of(*axes: int) -> Sketch:
    """A sketch whose tokens point along these axes."""
    return sketch(AXES[list(axes)], AXES)


def test_a_text_that_matches_more_tokens_of_the_query_scores_higher() -> None:
    """Each token of the query takes its best match, wherever that is in the text."""
    both, one, none = scores(of(1, 2), [of(9, 2, 8, 1), of(1, 7), of(5, 6)])
    assert both > one > none


def test_a_token_that_every_text_matches_does_not_matter() -> None:
    """If all texts have the first token, only the second tells them apart."""
    matching, other = scores(of(1, 2), [of(1, 2), of(1, 3)])
    assert matching > 0.2
    assert abs(other) < 0.01


def test_a_text_without_tokens_scores_zero_and_does_not_affect_the_others() -> None:
    """Empty texts and empty queries are not errors."""
    empty = np.empty((0, WIDTH), dtype=np.int8)
    assert scores(of(1), [empty, of(1)])[0] == 0
    assert scores(of(1), [empty, of(1)])[1] == scores(of(1), [of(1)])[0]
    assert scores(empty, [of(1)]).tolist() == [0]
    assert scores(of(1), []).tolist() == []


def test_a_sketch_keeps_the_angles_between_tokens() -> None:
    """At one byte a number, the cosine of two rows is off by less than 0.02."""
    rows = np.random.default_rng(7).normal(size=(40, WIDTH)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    kept = sketch(rows, AXES).astype(np.float32) / 254
    assert np.abs(kept @ kept.T - rows @ rows.T).max() < 0.02


def test_names_are_seen_token_by_token_where_one_vector_blurs_them() -> None:
    """With the real model: of two sentences on one topic, the one with the name in the query scores higher."""
    model = load_embedder()
    query, *texts = model.encode(
        [
            "Which port does Kestrel listen on?",
            "Kestrel takes connections on 7433, behind the proxy.",
            "The gateway listens on port 8080 and the port of the admin page is 8081.",
        ]
    )
    assert query.sketch is not None
    kestrel, gateway = scores(query.sketch, [each.sketch for each in texts if each.sketch is not None])
    assert kestrel > gateway


def test_encoding_gives_the_vectors_of_embedding_and_a_sketch_of_every_token() -> None:
    """One pass gives both."""
    model = load_embedder()
    texts = ["Tom likes tea.", "", "a longer sentence about the harbour"]
    encoded = model.encode(texts)
    np.testing.assert_allclose([each.vector for each in encoded], model.embed(texts), atol=1e-5)
    assert [each.sketch is not None and each.sketch.shape[1:] == (WIDTH,) for each in encoded] == [True] * 3
    assert [len(each.sketch) for each in encoded if each.sketch is not None][:2] == [4, 0]
