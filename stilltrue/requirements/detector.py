"""Does a note read as a requirement that was not filed as one? Decided by its vector and its words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stilltrue.requirements.words import Vocabulary, features, is_english, names, sentences

Floats = NDArray[np.float32]

PERMITS: Final = "permits"
"""The concept of what loosens a restriction."""

_STILL_RESTRICTS: Final = frozenset({"forbidden", "must_not", "never_do", "emphatic", "refuses", "only"})
_POSSIBLE: Final = 0.2
"""How likely the vector of a whole note must make a requirement that one sentence's words give away."""

_SPREAD: Final = 4.0
_STRICTEST: Final = 0.995


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The constraint class that a note reads as, and how likely it is a requirement at all, from 0 to 1."""

    klass: str
    score: float


@dataclass(frozen=True, slots=True)
class Table:
    """A multinomial logistic regression over [vector, words]; row 0 of each array is "no requirement".

    `by_vector` is (classes + 1, dimension), or of width 0 for a table that needs no vector; `by_words` is
    (classes + 1, features); `bias` is (classes + 1,). A score below `threshold` is no suspicion.
    """

    by_vector: Floats
    by_words: Floats
    bias: Floats
    threshold: float


@dataclass(frozen=True, slots=True)
class Prototype:
    """A class that a user added: a direction in the vector space, and the projection at which suspicion begins.

    The score is the logistic of `slope` times the distance from `offset`, so it is 0.5 at the offset.
    """

    klass: str
    direction: Floats
    offset: float
    slope: float


@dataclass(frozen=True, slots=True)
class Weights:
    """What the detector knows: fitted by bench/filing/fit.py and passed in by the caller.

    `read` is for a vector of the model it was fitted on, of a text in a language that the model reads; `unread`
    is for words alone. `background` is a sample of vectors of ordinary notes, (n, dimension), for added classes.
    """

    classes: tuple[str, ...]
    vocabulary: Vocabulary
    read: Table
    unread: Table
    background: Floats
    added: tuple[Prototype, ...] = ()


def suspect(text: str, vector: Floats | None, weights: Weights) -> Suspicion | None:
    """The constraint class that a note seems to belong to, or None where it reads as an ordinary note.

    `vector` is the note's unit vector, or None where there is none, or one of another model: then the words
    decide alone, and classes that a user added are not found. What permits is never suspected. A note of several
    sentences is suspected as a whole, or for one sentence of it.
    """
    read = vector if vector is not None and is_english(text, weights.vocabulary) else None
    found = [_by_words(text, read, weights)]
    pieces = sentences(text)
    if len(pieces) > 1:
        found += [_by_sentence(piece, read, weights) for piece in pieces]
    if vector is not None and weights.added and not _only_loosens(features(text, weights.vocabulary), weights):
        found += [_by_prototype(prototype, vector) for prototype in weights.added]
    margin, suspicion = max(found, key=lambda each: each[0])
    return suspicion if margin >= 0 else None


def probabilities(table: Table, vector: Floats | None, seen: Floats) -> NDArray[np.float64]:
    """How likely each class is, (classes + 1,), the first being "no requirement"; they add up to 1."""
    logits = table.bias + table.by_words @ seen
    if vector is not None and table.by_vector.shape[1]:
        logits = logits + table.by_vector @ vector
    raised = np.exp((logits - logits.max()).astype(np.float64))
    likely: NDArray[np.float64] = raised / raised.sum()
    return likely


def extend(
    weights: Weights, klass: str, examples: Floats, background: Floats | None = None, *, share: float = _STRICTEST
) -> Weights:
    """The weights with one more class, known by the vectors of its description and examples, (n, dimension).

    The direction is that of linear discriminant analysis: the mean of the examples less that of the background,
    whitened by the background's covariance, which is shrunk towards a multiple of the identity since it has fewer
    rows than columns. Suspicion begins above `share` of the background and halfway to the examples' mean,
    whichever is further. Raises ValueError where there is no example.
    """
    if not len(examples):
        raise ValueError(f"The class {klass!r} needs at least one example.")
    ordinary = (weights.background if background is None else background).astype(np.float64)
    centre = ordinary.mean(axis=0)
    spread = np.cov(ordinary, rowvar=False)
    shrunk = 0.2 * spread + 0.8 * np.trace(spread) / len(spread) * np.eye(len(spread))
    direction = np.linalg.solve(shrunk, examples.mean(axis=0) - centre)
    direction /= np.linalg.norm(direction)
    outside, inside = ordinary @ direction, examples @ direction
    offset = max(float(np.quantile(outside, share)), float(outside.mean() + inside.mean()) / 2)
    slope = _SPREAD / max(float(inside.mean()) - offset, 1e-3)
    prototype = Prototype(klass, direction.astype(np.float32), offset, slope)
    return replace(weights, added=(*weights.added, prototype))


def _by_words(text: str, vector: Floats | None, weights: Weights) -> tuple[float, Suspicion]:
    """How far above its threshold a text is, by its words and where there is one its vector; and as what."""
    table = weights.unread if vector is None else weights.read
    seen = features(text, weights.vocabulary)
    likely = probabilities(table, vector, seen)
    suspicion = Suspicion(weights.classes[int(likely[1:].argmax())], round(float(1 - likely[0]), 4))
    return (-1.0 if _only_loosens(seen, weights) else suspicion.score - table.threshold), suspicion


def _by_sentence(sentence: str, vector: Floats | None, weights: Weights) -> tuple[float, Suspicion]:
    """The same for one sentence of a longer note, `vector` being that of the whole.

    The other sentences dilute the vector, so the words of this one have to suffice alone, and the vector only
    has to leave it possible.
    """
    margin, suspicion = _by_words(sentence, None, weights)
    if vector is None or margin < 0:
        return margin, suspicion
    likely = probabilities(weights.read, vector, features(sentence, weights.vocabulary))
    return (margin if 1 - likely[0] >= _POSSIBLE else -1.0), suspicion


def _by_prototype(prototype: Prototype, vector: Floats) -> tuple[float, Suspicion]:
    """How far above its threshold a vector is for an added class, and the suspicion that it would be."""
    score = 1 / (1 + np.exp(-prototype.slope * (float(vector @ prototype.direction) - prototype.offset)))
    return float(score) - 0.5, Suspicion(prototype.klass, round(float(score), 4))


def _only_loosens(seen: Floats, weights: Weights) -> bool:
    """Whether a text permits something and restricts nothing, by its features."""
    said = names(seen, weights.vocabulary)
    if PERMITS not in said:
        return False
    return not said & _STILL_RESTRICTS and ("negative_rule" not in said or "fact_no" in said)
