"""Pack whole chains into a token budget, and report what was left out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

TokenCounter = Callable[[str], int]
"""Counts the tokens of a line. The budget is in the tokens of the counter."""

_MARGIN = 1.1
_PIECES = re.compile(
    r"(?P<word>[A-Za-z]+)"
    r"|(?P<digits>[0-9]+)"
    r"|(?P<ideograph>[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])"
    r"|(?P<letters>[^\W\d_]+)"
    r"|(?P<space>\s+)"
    r"|(?P<other>.)",
    re.DOTALL,
)


def estimate_tokens(text: str) -> int:
    """An estimate of the tokens in `text`, too high rather than too low.

    Not every model that may read this has a public tokenizer, so it counts by script. An English word is one token
    for each eight letters that it begins; digits are one token for three; an ideograph, a syllable or a punctuation
    mark is one; other alphabets are one token for three letters. A tenth is added. Four characters per token, the
    usual shortcut, undercounts Chinese and Japanese by a factor of two to four.
    """
    tokens = 0
    for match in _PIECES.finditer(text):
        size = match.end() - match.start()
        match match.lastgroup:
            case "word":
                tokens += 1 + (size - 1) // 8
            case "digits" | "letters":
                tokens += math.ceil(size / 3)
            case "space":
                tokens += size > 1 or match.group() in "\n\t"
            case "ideograph":
                tokens += 1
            case _:
                tokens += 1 if ord(match.group()) < 0x10000 else 3
    return math.ceil(tokens * _MARGIN)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chain. `must` lines are never cut; of the others, the last of the chain are cut first.

    `wanted` lines are cut only after all others. `note_id` is the note that the line shows, empty for a line about
    the whole chain.
    """

    text: str
    must: bool
    note_id: str
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Parcel:
    """A whole chain, ready to be packed: the lines of its lead, then the rest from newest to oldest."""

    key: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Packed:
    """A parcel as it is delivered: the lines that are shown, how many were cut, and the size in tokens."""

    parcel: Parcel
    lines: tuple[Line, ...]
    hidden: int
    tokens: int

    @property
    def text(self) -> str:
        return "\n".join([line.text for line in self.lines] + ([cut_notice(self.hidden)] if self.hidden else []))


@dataclass(frozen=True, slots=True)
class Omitted:
    """A chain that did not fit, and the tokens that it needs with everything cut that can be."""

    key: str
    tokens: int


def cut_notice(hidden: int) -> str:
    """The line that replaces what was cut."""
    return f"  (+{hidden} older of its history not shown)"


def pack(
    parcels: Sequence[Parcel], budget: int, count: TokenCounter = estimate_tokens
) -> tuple[list[Packed], list[Omitted]]:
    """Pack parcels, given best first, into `budget` tokens. Those that do not fit are skipped and returned, too.

    History is cut first, oldest first. Then, oldest first, the notes that lead from the entry to what holds: a fact
    that changed a hundred times can still be delivered to a question in its oldest words. A line end counts as a
    token, so that the joined text is never larger than the sum of its lines.
    """
    packed: list[Packed] = []
    omitted: list[Omitted] = []
    room = budget
    for parcel in parcels:
        fitting = _fit(parcel, room, count)
        if isinstance(fitting, Packed):
            packed.append(fitting)
            room -= fitting.tokens
        else:
            omitted.append(fitting)
    return packed, omitted


def whole(parcel: Parcel, count: TokenCounter = estimate_tokens) -> Packed:
    """The parcel with all of its lines, outside any budget."""
    return Packed(parcel, parcel.lines, 0, sum(count(line.text) + 1 for line in parcel.lines))


def _fit(parcel: Parcel, room: int, count: TokenCounter) -> Packed | Omitted:
    sizes = [count(line.text) + 1 for line in parcel.lines]
    optional = [position for position, line in enumerate(parcel.lines) if line.wanted and not line.must]
    optional += [position for position, line in enumerate(parcel.lines) if not line.wanted and not line.must]
    total = shortest = sum(sizes)
    cut: set[int] = set()
    notice = 0
    while total + notice > room:
        if not optional:
            return Omitted(parcel.key, shortest)
        oldest = optional.pop()
        cut.add(oldest)
        total -= sizes[oldest]
        notice = count(cut_notice(len(cut))) + 1
        shortest = min(shortest, total + notice)
    kept = tuple(line for position, line in enumerate(parcel.lines) if position not in cut)
    return Packed(parcel, kept, len(cut), total + notice)
