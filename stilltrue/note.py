"""A note: one statement in natural language, immutable once stored, and the links it is stored with."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

USER = "user"
"""The source of a note that the user stated. Any other source is somebody or something else."""


class LinkKind(StrEnum):
    """What a new note means for an older one."""

    UPDATE = "update"
    """It was true, and it changed."""
    CORRECTION = "correction"
    """It was never true."""
    REFINEMENT = "refinement"
    """It is still true, and this adds to it."""


RETIRING = frozenset({LinkKind.UPDATE, LinkKind.CORRECTION})
"""The kinds that supersede. A refinement retires nothing."""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge from a new note to the older note `to`."""

    to: str
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class Note:
    """One statement, word for word.

    `id` is that of the event that carries it, and `recorded_at` (UTC) is the time of that event. `subjects` are in
    their canonical spelling, see `canonical_subject`. The statement holds from `valid_from` up to, but not including,
    `valid_until`; None is unbounded. `importance` is in [0, 1]. An erased note keeps everything but its words: `text`
    and `cues` are empty. The stored bytes of an `unreadable` note are damaged: only its id, subjects, class and time
    are known.
    """

    id: str
    text: str
    subjects: tuple[str, ...]
    klass: str
    source: str
    recorded_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    importance: float = 0.5
    attribute: str | None = None
    cues: tuple[str, ...] = ()
    unreadable: bool = False


def canonical_subject(raw: str) -> str:
    """The canonical spelling of a subject: NFKC, case-folded, single inner spaces, no invisible characters.

    "Priya", " priya " and "PRIYA" are one subject: a capital letter or a zero-width character must not hide a
    requirement.
    """
    visible = (character for character in raw if unicodedata.category(character) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", "".join(visible)).casefold().split())


def content_hash(text: str, subjects: Iterable[str], klass: str) -> str:
    """The hash by which an earlier note of the same text, subjects and class is found (SHA-256, hex).

    The order of the subjects does not matter, and every byte of the text does: "port 5432" and "port 5433" are two
    facts. The caller compares links and validity.
    """
    content = json.dumps([text, sorted(subjects), klass], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()
