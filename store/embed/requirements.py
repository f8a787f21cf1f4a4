"""Loads what the detector of requirements knows: the words by hand, the weights as they were fitted."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from stilltrue.requirements.detector import Table, Weights
from stilltrue.requirements.words import Vocabulary, vocabulary

FOLDER: Final = Path(__file__).with_name("data") / "requirements"
WORDS: Final = FOLDER / "words.toml"
FITTED: Final = FOLDER / "weights.npz"


@cache
def load_weights() -> Weights:
    """The shipped weights. They read vectors of the default model (`MINILM`) and of no other."""
    with np.load(FITTED) as stored:
        read, unread = (
            Table(
                stored[f"{name}_by_vector"].astype(np.float32),
                stored[f"{name}_by_words"].astype(np.float32),
                stored[f"{name}_bias"].astype(np.float32),
                float(stored[f"{name}_threshold"]),
            )
            for name in ("read", "unread")
        )
        classes = tuple(str(name) for name in stored["classes"])
        return Weights(classes, load_vocabulary(), read, unread, stored["background"].astype(np.float32))


@cache
def load_vocabulary() -> Vocabulary:
    """The concepts of words.toml, compiled; takes some 60 ms."""
    tables = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    language = tables["language"]
    return vocabulary(tables["concepts"], language["english"].split(), language["other"].split())
