"""The full embedder: any model that sentence-transformers can load from its own safetensors weights."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stilltrue.errors import StoreTrouble
from stilltrue.retrieval.late_interaction import sketch
from store.embed.pieces import cut
from store.embed.weights import DEFAULT_MODEL, VECTOR_SPACES, basis_of, sha256_of
from store.port import Encoded, Fingerprint

EXTRA: Final = "pip install 'stilltrue[sentence-transformers]'"

# Settings, tokenizers and safetensors. Not the same weights again in five other formats, some of
# them ten times as large, and no pickle: that is a program of whoever made the file.
_FILES: Final = ("*.json", "*.txt", "*.model", "*.safetensors")
_BATCH: Final = 8
_DEFAULT_WINDOW: Final = 512

# In a process of its own, because the hub's retries (a minute where it is unreachable) cannot be
# stopped from outside. The timer is for the case that the server has gone before its child.
_DOWNLOAD: Final = """
import os, sys, threading
guard = threading.Timer(float(sys.argv[2]), os._exit, (75,))
guard.daemon = True
guard.start()
try:
    from huggingface_hub import snapshot_download
    snapshot_download(sys.argv[1], allow_patterns=sys.argv[3:])
except Exception as error:
    sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())}")
"""


def find_model(model: str, allow_download: bool = False, download_deadline_s: float = 120.0) -> Path:
    """The folder of a hub model: out of the local cache, or else downloaded, where that is allowed.

    A look into the cache takes milliseconds and no network. A download that is not complete after
    `download_deadline_s` seconds is stopped. Raises `StoreTrouble`.
    """
    quiet()
    import huggingface_hub

    otherwise = "or put the model into a folder and set embedding.path"
    try:
        return _cached(model)
    except (OSError, ValueError) as missing:
        if not allow_download:
            raise StoreTrouble(
                f"The embedding model {model} is not on this machine, and downloads are not allowed.",
                f"Set embedding.allow_download to true, {otherwise}.",
            ) from missing
        if huggingface_hub.is_offline_mode():
            raise StoreTrouble(
                f"The embedding model {model} is not on this machine, and HF_HUB_OFFLINE forbids downloads.",
                f"Unset HF_HUB_OFFLINE, {otherwise}.",
            ) from missing
    problem = _download(model, download_deadline_s)
    if problem is not None:
        raise StoreTrouble(f"The download of {model} {problem}", f"Check the name and the connection, {otherwise}.")
    try:
        return _cached(model)
    except (OSError, ValueError) as missing:  # the hub takes it for a success to have no file to send
        raise StoreTrouble(
            f"The hub has no model under the name {model}, or none with safetensors weights.",
            f"Check embedding.model, {otherwise}.",
        ) from missing


class SentenceTransformersEngine:
    """A sentence-transformers model on the CPU. Calls from several threads take turns."""

    def __init__(self, folder: Path, model: str, threads: int = 1) -> None:
        """Load the model in `folder`. Slow: the import alone takes ten seconds and more.

        `model` names it where its weights are not known (see `store/embed/weights.py`).
        Raises `StoreTrouble` where the folder holds no safetensors weights.
        """
        weights = _sha256_of_weights(folder)
        quiet()
        import sentence_transformers
        import torch

        # Two threads on a busy machine wait for each other: ten times slower than one.
        torch.set_num_threads(threads)
        self._unit: Any = torch.nn.functional.normalize
        self._model: Any = sentence_transformers.SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False
        )
        self._tokenizer: Any = self._model.tokenizer
        dimension = int(self._model.get_embedding_dimension())
        name = folder.name if model == DEFAULT_MODEL and weights not in VECTOR_SPACES else model
        self._fingerprint = VECTOR_SPACES.get(weights, Fingerprint(name, weights, dimension))
        self._basis = basis_of(self._fingerprint)
        window = int(self._model.max_seq_length or _DEFAULT_WINDOW)
        self._window = window - int(self._tokenizer.num_special_tokens_to_add())
        # Each use tells the tokenizer anew how to cut and pad, and two at once make it fail.
        self._turn = threading.Lock()

    @property
    def fingerprint(self) -> Fingerprint:
        """The vector space: the model's name, the sha256 of its weights and its dimension."""
        return self._fingerprint

    def pieces(self, text: str) -> list[str]:
        """`text` cut into slices that the model can read whole, overlapping a little."""
        with self._turn:
            return cut(text, self._window, self._count)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text, shape (len(texts), dimension). See `pieces` for long texts."""
        if not texts:
            return np.empty((0, self._fingerprint.dimension), dtype=np.float32)
        with self._turn:
            vectors = self._model.encode(
                list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(vectors, dtype=np.float32)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """For each text its unit vector and, where the model has a basis, the sketch of its tokens.

        The library gives one or the other, so with a basis the model runs twice.
        """
        vectors = self.embed(texts)
        if self._basis is None:
            return [Encoded(vector) for vector in vectors]
        tokens = self.token_vectors(texts)
        return [Encoded(vector, sketch(each, self._basis)) for vector, each in zip(vectors, tokens, strict=True)]

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text the unit vectors of its tokens, without the special tokens.

        Their width is that of the model's last layer: `dimension`, unless the model ends in a dense layer.
        """
        if not texts:
            return []
        with self._turn:
            states = self._model.encode(
                list(texts), batch_size=_BATCH, output_value="token_embeddings", show_progress_bar=False
            )
            marks = [self._special(text) for text in texts]
        return [
            self._unit(state[-len(mark) :], dim=-1).numpy()[~mark] for state, mark in zip(states, marks, strict=True)
        ]

    def _count(self, text: str) -> int:
        encoded = self._tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)
        return len(encoded["input_ids"])

    def _special(self, text: str) -> NDArray[np.bool_]:
        """For each token the model reads of `text`, whether the tokenizer has added it."""
        encoded = self._tokenizer(
            text, truncation=True, max_length=self._model.max_seq_length, return_special_tokens_mask=True
        )
        return np.asarray(encoded["special_tokens_mask"], dtype=np.bool_)


def quiet() -> None:
    """No progress bars and no telemetry from the libraries. To be called before they are imported.

    stdout belongs to the protocol. It cannot be redirected while they load, as the transport may
    take hold of it at that very moment, so they must have nothing to say.
    """
    for name in ("TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def _cached(model: str) -> Path:
    import huggingface_hub

    return Path(huggingface_hub.snapshot_download(model, local_files_only=True, allow_patterns=list(_FILES)))


def _download(model: str, deadline_s: float) -> str | None:
    """Fill the local cache; what went wrong, if anything did."""
    command = [sys.executable, "-P", "-c", _DOWNLOAD, model, str(deadline_s + 5), *_FILES]
    try:
        # No stdin and no stdout: those of the server are its connection to the client.
        done = subprocess.run(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=deadline_s,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return f"was stopped, as it was not complete after {deadline_s:g} s (embedding.download_deadline_s)."
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return f"failed: {lines[-1] if lines else f'exit code {done.returncode}'}"


def _sha256_of_weights(folder: Path) -> str:
    """The sha256 of the model.safetensors, or of the names and hashes of all weights if they are several."""
    files = sorted(folder.rglob("*.safetensors"))
    if not files:
        raise StoreTrouble(
            f"The folder {folder} holds no safetensors weights.",
            "Take a model that is published as model.safetensors: other formats can run code when read.",
        )
    if len(files) == 1:
        return sha256_of(files[0])
    lines = [f"{file.relative_to(folder).as_posix()} {sha256_of(file)}\n" for file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
