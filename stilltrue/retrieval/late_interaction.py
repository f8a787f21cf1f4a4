"""Late interaction: how well the tokens of a text match each token of a query.

One vector for a whole text blurs the names in it. The same model gives a vector for each token at no extra cost, and
comparing token by token brings the names back (Khattab and Zaharia, "ColBERT", 2020: the best match in the text for
each token of the query, summed). Token vectors are stored as a sketch: projected on the directions in which tokens
differ most, with one byte for each number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Sketch: TypeAlias = NDArray[np.int8]
"""The tokens of one text: (tokens, WIDTH)."""

WIDTH = 64
"""Numbers, of one byte each, for a token."""

_SCALE = 254.0
_LARGEST = 127


def sketch(tokens: NDArray[np.float32], basis: NDArray[np.float32]) -> Sketch:
    """Token vectors (tokens, dimension), projected on `basis` (dimension, WIDTH), normalised and stored as bytes.

    The numbers of a unit row of 64 are rarely above a half, so a half maps to the largest byte.
    """
    projected = tokens @ basis
    unit = projected / np.maximum(np.linalg.norm(projected, axis=1, keepdims=True), 1e-9)
    packed: Sketch = np.clip(np.rint(unit * _SCALE), -_LARGEST, _LARGEST).astype(np.int8)
    return packed


def scores(query: Sketch, texts: Sequence[Sketch]) -> NDArray[np.float64]:
    """How well each text matches the tokens of the query, about 0 to 1; 0 for a text without tokens.

    score(text) = sum over the tokens of the query of weight * best match in the text. A token that all texts match
    equally well ("the", or the name of the person whom all the notes are about) does not tell them apart. So the
    weight of a token is the difference between its best match and the mean over the texts; the weights sum to 1.
    """
    result = np.zeros(len(texts))
    full = [position for position, text in enumerate(texts) if len(text)]
    if not full or not len(query):
        return result
    stacked = np.concatenate([texts[position] for position in full]).astype(np.float32) / _SCALE
    matches = stacked @ (query.astype(np.float32) / _SCALE).T
    starts = np.cumsum([0, *(len(texts[position]) for position in full[:-1])])
    best = np.maximum.reduceat(matches, starts, axis=0)
    weights = best.max(axis=0) - best.mean(axis=0)
    if weights.sum() < 1e-9:
        weights = np.ones_like(weights)
    result[full] = best @ (weights / weights.sum())
    return result
