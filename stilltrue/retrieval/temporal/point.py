"""One time that a text names, and what its readers look at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from stilltrue.retrieval.temporal.intent import Span
from stilltrue.retrieval.temporal.language import Language
from stilltrue.retrieval.temporal.scan import Marked
from stilltrue.retrieval.temporal.signs import Sign
from stilltrue.retrieval.temporal.spans import Calendar


@dataclass(frozen=True, slots=True)
class Point:
    """A time that a text names: in the calendar, or a `fixed` span.

    `first` and `last` are its signs. `needs` is what must be beside it before it counts: nothing, a preposition of
    time, or a sentence that tells of the past. `end` is when it is over, where `fixed` has a margin for searching.
    """

    first: int
    last: int
    calendar: Calendar | None = None
    fixed: Span | None = None
    needs: Literal["nothing", "preposition", "past"] = "nothing"
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """What a pattern's meaning may look at: the signs, the text, the language and the day."""

    signs: Sequence[Marked]
    text: str
    language: Language
    today: datetime
    now: datetime


def mark_of(found: re.Match[str], name: str, scene: Scene) -> Marked | None:
    """The sign of the group `name`, or of `name2` and so on where another branch of the pattern matched."""
    for group, text in found.groupdict().items():
        if group.rstrip("234") == name and text is not None:
            return scene.signs[found.start(group)]
    return None


def value_of(found: re.Match[str], name: str, scene: Scene) -> Any:
    mark = mark_of(found, name, scene)
    return mark.value if mark else None


def taken(found: re.Match[str], **fields: Any) -> Point:
    return Point(found.start(), found.end() - 1, **fields)


def amount(found: re.Match[str], scene: Scene) -> Any:
    """The count and the unit that a match holds; no count is None."""
    count = unit = None
    for mark in scene.signs[found.start() : found.end()]:
        if mark.sign is Sign.NUMBER:
            count = mark.value
        elif mark.sign is Sign.UNIT:
            unit = mark.value
        elif mark.sign is Sign.PERIOD and isinstance(mark.value, tuple):
            count, unit = mark.value
    return count, unit
