"""One note: a statement in natural language, immutable once stored, and the links it was stored with."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

USER = "user"
"""The source of a note that the person said. Any other source is somebody's or something's word."""


class LinkKind(StrEnum):
    """How a new note bears on an older one."""

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
    """One statement, as it was said.

    `id` is that of the event which carries it and `recorded_at` (UTC) the moment of it. `subjects` are in
    their canonical spelling (see `canonical_subject`). `valid_from` and `valid_until` bound the time in
    which the statement holds, the end excluded; None is unbounded. `importance` lies in [0, 1].
    An erased note keeps everything here but its words: `text` is empty and `cues` are none. Of an `unreadable` note
    the stored bytes are damaged: only its id, subjects, class and time are known.
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
    """The one spelling of a subject: compatibility-normalised, case-folded, single inner spaces, nothing invisible.

    "Priya", " priya " and "PRIYA" are one subject; a requirement must not hide behind a capital letter, nor behind
    a character of no width.
    """
    visible = (character for character in raw if unicodedata.category(character) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", "".join(visible)).casefold().split())


def content_hash(text: str, subjects: Iterable[str], klass: str) -> str:
    """Under what a note is looked up to see whether it was said before: text, subjects and class (SHA-256, hex).

    The order of the subjects does not count, every byte of the text does: "port 5432" and "port 5433" are two
    facts. Whether the note found is the same in links and validity too is for the caller to compare.
    """
    said = json.dumps([text, sorted(subjects), klass], ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()
