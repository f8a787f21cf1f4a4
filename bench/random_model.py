"""Models whose vectors are drawn by chance: quick, of any dimension. For what is kept, not for what is found."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from store.port import Encoded, Fingerprint

_PIECE = 240
"""Characters of a piece."""


class Drawn:
    """A model of this name. The same text has the same vector each time, and texts that are alike have not."""

    def __init__(self, name: str, dimension: int) -> None:
        self._fingerprint = Fingerprint(name, hashlib.sha256(name.encode()).hexdigest(), dimension)

    @property
    def fingerprint(self) -> Fingerprint:
        """The name, as if it were of weights."""
        return self._fingerprint

    def pieces(self, text: str) -> list[str]:
        """The text in parts of one length."""
        return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)] or [text]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text: (len(texts), dimension)."""
        return np.array([self._drawn(text) for text in texts], np.float32)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The vectors, without sketches."""
        return [Encoded(vector) for vector in self.embed(texts)]

    def _drawn(self, text: str) -> NDArray[np.float32]:
        seed = hashlib.sha256(f"{self._fingerprint.model}\n{text}".encode(errors="replace")).digest()
        drawn = np.random.default_rng(list(seed)).normal(size=self._fingerprint.dimension).astype(np.float32)
        unit: NDArray[np.float32] = drawn / np.linalg.norm(drawn)
        return unit
