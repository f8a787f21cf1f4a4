"""Late interaction: how well each token of a query is met by the tokens of a text.

One vector for a whole text blurs the names in it. The same model also gives a vector for each token, for free,
and comparing token by token sees them again (Khattab and Zaharia, "ColBERT", 2020: for each token of the query
the best match in the text, then their sum). The token vectors are kept as a sketch: projected on the directions
in which tokens differ most, in one byte a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Sketch: TypeAlias = NDArray[np.int8]
"""The tokens of one text: (tokens, WIDTH)."""

WIDTH = 64
"""Numbers for each token, of one byte each."""

_SCALE = 254.0
_LARGEST = 127


def sketch(tokens: NDArray[np.float32], basis: NDArray[np.float32]) -> Sketch:
    """Token vectors (tokens, dimension), projected on `basis` (dimension, WIDTH), to unit rows in bytes.

    A number of a unit row of 64 is rarely above a half, so a half is what the largest byte stands for.
    """
    projected = tokens @ basis
    unit = projected / np.maximum(np.linalg.norm(projected, axis=1, keepdims=True), 1e-9)
    packed: Sketch = np.clip(np.rint(unit * _SCALE), -_LARGEST, _LARGEST).astype(np.int8)
    return packed


def scores(query: Sketch, texts: Sequence[Sketch]) -> NDArray[np.float64]:
    """How well each of the texts meets the tokens of the query, about 0 to 1; 0 for a text without tokens.

    score(text) = sum over the query's tokens of weight * best match in the text. A token that all the texts meet
    alike ("the", the name of whom everything is about) tells none from another, so its weight is by how much the
    best of them is above their mean.
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
