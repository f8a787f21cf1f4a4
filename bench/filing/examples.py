"""The hand-written notes of bench/data/filing, and which families of them nothing is fitted on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.stage import DATA

FOLDER: Final = DATA / "filing"
HELD_OUT: Final = ("chat", "office")
"""Families that were written before there was a detector. Nothing is fitted or tuned on them."""

CLASSES: Final = ("allergy", "accessibility", "legal_restriction", "do_not_contact", "hard_preference")


@dataclass(frozen=True, slots=True)
class Example:
    """A note, the constraint class it belongs to (None for others), and whether it only looks like one."""

    text: str
    klass: str | None
    near_miss: bool
    family: str
    language: str


def examples(folder: Path = FOLDER) -> list[Example]:
    """All notes of the folder's files, by file and line."""
    files = sorted(folder.glob("*.jsonl"))
    return [Example(**json.loads(line)) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def fitted(held_out: bool = False) -> list[Example]:
    """The examples to fit on, or those of the families held out."""
    return [each for each in examples() if (each.family in HELD_OUT) == held_out]
