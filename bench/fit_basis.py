"""Write store/embed/data/minilm/basis.npy: the 64 directions in which tokens of all-MiniLM-L6-v2 vary most.

    python -m bench.fit_basis

They are the first right singular vectors of the token vectors of all texts in bench/data. They are not centred,
because sketches compare directions from the origin. No evaluation set is used.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from store.embed.minilm import OnnxMiniLM, find_weights

WIDTH = 64
TARGET = Path(__file__).resolve().parent.parent / "store" / "embed" / "data" / "minilm" / "basis.npy"


def texts() -> list[str]:
    """Every text of the bundled data, without duplicates."""
    found: dict[str, None] = {}
    for file in sorted((Path(__file__).parent / "data").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            _collect(json.loads(line), found)
    return list(found)


def _collect(value: object, found: dict[str, None]) -> None:
    if isinstance(value, str) and " " in value:
        found[value] = None
    elif isinstance(value, dict):
        for inner in value.values():
            _collect(inner, found)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, found)


if __name__ == "__main__":
    weights = find_weights()
    if weights is None:
        sys.exit("the weights of all-MiniLM-L6-v2 are not installed")
    known = texts()
    tokens = np.concatenate(OnnxMiniLM(weights).token_vectors(known))
    _, strength, directions = np.linalg.svd(tokens, full_matrices=False)
    np.save(TARGET, directions[:WIDTH].T.astype(np.float16))
    explained = float((strength[:WIDTH] ** 2).sum() / (strength**2).sum())
    print(f"{len(known)} texts, {len(tokens)} tokens; {WIDTH} of {tokens.shape[1]} directions: {explained:.3f}")
