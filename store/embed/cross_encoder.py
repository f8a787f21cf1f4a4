"""An optional cross-encoder: it reads the query and a note together, and costs a run of a model for each note."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stilltrue.errors import StilltrueError, StoreTrouble
from store.embed.sentence_transformer import EXTRA, find_model, quiet
from store.port import Reranker

_BATCH: Final = 16
_WINDOW: Final = 256


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder on the CPU. Calls from several threads take turns."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        """Load the model in `folder`. Slow: the import alone takes ten seconds and more."""
        quiet()
        import sentence_transformers
        import torch

        torch.set_num_threads(threads)
        self._model: Any = sentence_transformers.CrossEncoder(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False, max_length=_WINDOW
        )
        self._turn = threading.Lock()

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One number for each text, (len(texts),); the ends of texts beyond 256 tokens are not read."""
        if not texts:
            return np.empty(0, dtype=np.float32)
        with self._turn:
            scores = self._model.predict(
                [(query, text) for text in texts], batch_size=_BATCH, show_progress_bar=False
            )
        return np.asarray(scores, dtype=np.float32).reshape(len(texts), -1)[:, -1]


def load_reranker(
    model: str, *, allow_download: bool = False, download_deadline_s: float = 120.0, threads: int = 1
) -> Reranker:
    """Load a cross-encoder by its folder or its name on the hub, and run it once.

    Raises `StoreTrouble` that says what was wrong and what to do.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        raise StoreTrouble(
            "A cross-encoder needs the sentence-transformers library, which is not installed.",
            f"Install it ({EXTRA}), or leave recall.rerank_model empty.",
        )
    try:
        folder = Path(model).expanduser()
        if not folder.is_dir():
            folder = find_model(model, allow_download, download_deadline_s)
        reranker = CrossEncoderReranker(folder, threads)
        if not np.isfinite(reranker.score("Where is the key?", ["The key is under the mat.", "It rains."])).all():
            raise StoreTrouble(f"The cross-encoder {model} gives no numbers.", "Use another one.")
    except StilltrueError:
        raise
    except Exception as error:
        raise StoreTrouble(
            f"The cross-encoder {model} cannot be loaded: {type(error).__name__}: {error}",
            "Check recall.rerank_model: it is the folder or the hub's name of a sentence-transformers CrossEncoder.",
        ) from error
    return reranker
