"""A fast stand-in for an embedding model, with random vectors. For tests of storage, not of search."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from store.port import Encoded, Fingerprint

_PIECE = 240
"""The length of a piece, in characters."""


class RandomModel:
    """A model with this name and dimension. Equal texts get equal vectors; similar texts do not get similar ones."""

    def __init__(self, name: str, dimension: int) -> None:
        self._fingerprint = Fingerprint(name, hashlib.sha256(name.encode()).hexdigest(), dimension)

    @property
    def fingerprint(self) -> Fingerprint:
        """Made from the name, in place of a hash of weights."""
        return self._fingerprint

    def pieces(self, text: str) -> list[str]:
        """The text in parts of equal length."""
        return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)] or [text]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text, of shape (len(texts), dimension)."""
        return np.array([self._random_vector(text) for text in texts], np.float32)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The vectors, without sketches."""
        return [Encoded(vector) for vector in self.embed(texts)]

    def _random_vector(self, text: str) -> NDArray[np.float32]:
        seed = hashlib.sha256(f"{self._fingerprint.model}\n{text}".encode(errors="replace")).digest()
        drawn = np.random.default_rng(list(seed)).normal(size=self._fingerprint.dimension).astype(np.float32)
        unit: NDArray[np.float32] = drawn / np.linalg.norm(drawn)
        return unit
