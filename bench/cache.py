"""Embed each text only once: a cache in memory for one run, and in a file if a folder is given."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stilltrue.retrieval.late_interaction import WIDTH
from store.port import Embedder, Encoded, Fingerprint

_SAMPLE = "Priya keeps the key of locker 7."


class CachedEmbedder:
    """An embedder that caches its results. It also serves as the `Embedding` of a tool context."""

    problem = None

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Encoded] = {}

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the wrapped embedder."""
        return self._embedder.fingerprint

    def get(self, wait_s: float = 0.0) -> Embedder:
        """This embedder, at once."""
        return self

    def pieces(self, text: str) -> list[str]:
        """The pieces into which the wrapped embedder splits the text."""
        return self._embedder.pieces(text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Only the vectors, one row per text."""
        return np.array([each.vector for each in self.encode(texts)], np.float32)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """What the wrapped embedder returns; a text that was seen before costs nothing."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._embedder.encode(new) if new else (), strict=True))
        return [self._known[text] for text in texts]

    def learn(self, texts: Iterable[str], folder: Path) -> None:
        """Load the texts from their file in the folder, or embed them and write that file.

        The file name is a hash of the texts and of the embedder's result for a sample, sketch included.
        """
        wanted = sorted(set(texts))
        file = folder / f"{self._key(wanted)}.npz"
        if file.is_file():
            with np.load(file) as arrays:
                vectors, rows, ends = arrays["vectors"], arrays["sketches"], arrays["ends"]
            sketches = np.split(rows, ends[:-1])
            self._known.update(zip(wanted, map(Encoded, vectors, sketches), strict=True))
            return
        encoded = self.encode(wanted)
        sketches = [np.zeros((0, WIDTH), np.int8) if each.sketch is None else each.sketch for each in encoded]
        folder.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".tmp.npz")
        np.savez(
            draft,
            vectors=np.array([each.vector for each in encoded], np.float32),
            sketches=np.concatenate(sketches),
            ends=np.cumsum([len(each) for each in sketches]),
        )
        draft.replace(file)

    def _key(self, texts: Iterable[str]) -> str:
        (sample,) = self._embedder.encode([_SAMPLE])
        digest = hashlib.sha256(str(self.fingerprint).encode())
        digest.update(sample.vector.round(3).tobytes() + (b"" if sample.sketch is None else sample.sketch.tobytes()))
        for text in texts:
            digest.update(text.encode() + b"\0")
        return digest.hexdigest()[:16]


def default_folder() -> Path:
    """The default folder of the cache file, in the system's folder for temporary files."""
    return Path(tempfile.gettempdir()) / "stilltrue-bench"
