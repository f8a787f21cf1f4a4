"""Writes store/embed/data/requirements/weights.npz: what the detector of requirements has learnt.

    python -m bench.filing.fit

Two tables are fitted on the families of bench/data/filing that are not held out: one for English texts with their
vectors, one for all texts by their words alone. Each family is then predicted by tables fitted on the others; these
predictions calibrate the scores and set the thresholds. Nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench.filing.examples import CLASSES, Example, fitted
from bench.filing.regression import Array, fit, softmax
from bench.stage import model
from stilltrue.requirements.words import features
from store.embed.requirements import FITTED, load_vocabulary

VECTOR_SCALE = 3.0
PAIR_SCALE = 0.5
PENALTY = 0.5
"""Chosen on the families that are fitted on, each predicted from the others."""

NEAR_MISSES_SUSPECTED = 0.03
"""The share of near misses that the thresholds let through, of families that were not fitted on."""

BACKGROUND = 128

Stored = dict[str, NDArray[np.generic]]


def learn(told: Sequence[Example]) -> Stored:
    """The arrays of the weights file, from these examples."""
    known = load_vocabulary()
    words = np.array([features(each.text, known) for each in told], dtype=np.float64)
    scale = np.where(np.arange(known.width) < len(known.concepts), 1.0, PAIR_SCALE)
    vectors = np.asarray(model().embed([each.text for each in told]), dtype=np.float64)
    english = np.array([each.language == "en" for each in told])
    both = np.hstack([vectors * VECTOR_SCALE, words * scale])
    stored: Stored = {"classes": np.array(CLASSES)}
    for name, inputs, rows in (
        ("read", both, english),
        ("unread", words * scale, np.ones(len(told), dtype=bool)),
    ):
        weights, threshold = _table(inputs[rows], [each for each, used in zip(told, rows, strict=True) if used])
        width = weights.shape[1] - 1 - known.width
        stored[f"{name}_by_vector"] = (weights[:, :width] * VECTOR_SCALE).astype(np.float32)
        stored[f"{name}_by_words"] = (weights[:, width:-1] * scale).astype(np.float32)
        stored[f"{name}_bias"] = weights[:, -1].astype(np.float32)
        stored[f"{name}_threshold"] = np.array(threshold)
    ordinary = [at for at, each in enumerate(told) if each.klass is None and english[at]]
    spaced = [ordinary[at * len(ordinary) // BACKGROUND] for at in range(BACKGROUND)]
    stored["background"] = vectors[spaced].astype(np.float16)
    return stored


def _table(inputs: Array, told: Sequence[Example]) -> tuple[Array, float]:
    """Calibrated weights (classes + 1, columns + 1) and the threshold, from rows and their examples."""
    classes = np.array([CLASSES.index(each.klass) + 1 if each.klass else 0 for each in told], dtype=np.int64)
    logits = _out_of_family(inputs, classes, [each.family for each in told])
    temperature = _temperature(logits, classes)
    scores = 1 - softmax(logits / temperature)[:, 0]
    near = np.array([each.near_miss for each in told])
    threshold = float(np.quantile(scores[near], 1 - NEAR_MISSES_SUSPECTED))
    return fit(inputs, classes, len(CLASSES) + 1, PENALTY) / temperature, round(threshold, 4)


def _out_of_family(inputs: Array, classes: NDArray[np.int64], families: Sequence[str]) -> Array:
    """The logits of each row, (rows, classes + 1), by weights that were fitted without its family."""
    of = np.array(families)
    logits = np.zeros((len(inputs), len(CLASSES) + 1))
    for family in sorted(set(families)):
        left = of == family
        weights = fit(inputs[~left], classes[~left], len(CLASSES) + 1, PENALTY)
        logits[left] = inputs[left] @ weights[:, :-1].T + weights[:, -1]
    return logits


def _temperature(logits: Array, classes: NDArray[np.int64]) -> float:
    """By what the logits are divided so that their probabilities are those observed (temperature scaling)."""
    candidates = np.geomspace(0.25, 8, 121)
    rows = np.arange(len(classes))
    losses = [-np.log(softmax(logits / each)[rows, classes] + 1e-12).mean() for each in candidates]
    return float(candidates[int(np.argmin(losses))])


if __name__ == "__main__":
    learnt = learn(fitted())
    FITTED.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(FITTED, **learnt)  # type: ignore[arg-type]
    print(f"{FITTED.name}: {FITTED.stat().st_size / 1024:.0f} KB; thresholds {learnt['read_threshold']:.3f} with")
    print(f"vectors, {learnt['unread_threshold']:.3f} by words alone")
