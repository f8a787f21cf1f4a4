"""A long text, cut into pieces that a model can read whole."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

# Scripts without spaces end their sentences with these marks, so a word ends there as well.
_WORD: Final = re.compile(r"\S+?[。！？]+|\S+")
_SENTENCE_END: Final = re.compile(r"""[.!?…。！？]["'”’)\]]*\s*$|\n\s*$""")


class _Atom(NamedTuple):
    """A word with the space after it, or a part of a very long word: what is never cut further."""

    start: int
    end: int
    tokens: int


def cut(text: str, window: int, count: Callable[[str], int], overlap: int = 32) -> list[str]:
    """The pieces of `text`, in order: each is a slice of at most `window` tokens as `count` counts them.

    Every character is in some piece, and a text that fits is one piece, itself. A piece ends with a
    sentence where one ends in its second half, else with a word. The next piece begins up to
    `overlap` tokens before that, so that no statement loses its neighbourhood at a border.
    """
    if count(text) <= window:
        return [text]
    overlap = min(overlap, window // 4)
    atoms = list(_atoms(text, max(1, window // 8), count))
    ends = [bool(_SENTENCE_END.search(text, atom.start, atom.end)) for atom in atoms]
    pieces: list[str] = []
    start = end = 0
    while end < len(atoms):
        reached = end
        end = max(_fill(atoms, start, window), reached + 1)
        # Words are counted one by one, and together they can be more tokens: then less is taken on,
        # and where only the overlap is left to give, less is repeated.
        while end - start > 1 and count(text[atoms[start].start : atoms[end - 1].end]) > window:
            end, start = (end - 1, start) if end > reached + 1 else (end, start + 1)
        if end < len(atoms):
            half = max(reached, start + _fill(atoms[start:end], 0, window // 2))
            end = next((i for i in range(end, half, -1) if ends[i - 1]), end)
        pieces.append(text[atoms[start].start : atoms[end - 1].end])
        start = _step_back(atoms, ends, start, end, overlap)
    return pieces


def _atoms(text: str, limit: int, count: Callable[[str], int]) -> Iterator[_Atom]:
    starts = [match.start() for match in _WORD.finditer(text)]
    borders = [0, *starts[1:], len(text)]
    for start, end in itertools.pairwise(borders):
        yield from _split(text, start, end, limit, count)


def _split(text: str, start: int, end: int, limit: int, count: Callable[[str], int]) -> Iterator[_Atom]:
    tokens = count(text[start:end])
    if tokens <= limit or end - start == 1:
        yield _Atom(start, end, tokens)
        return
    middle = (start + end) // 2
    yield from _split(text, start, middle, limit, count)
    yield from _split(text, middle, end, limit, count)


def _fill(atoms: list[_Atom], start: int, window: int) -> int:
    """The first atom after `start` that does not fit any more."""
    end, tokens = start, 0
    while end < len(atoms) and tokens + atoms[end].tokens <= window:
        tokens += atoms[end].tokens
        end += 1
    return end


def _step_back(atoms: list[_Atom], ends: list[bool], start: int, end: int, overlap: int) -> int:
    """Where the next piece begins: a sentence or else a word, within `overlap` tokens before `end`."""
    back, tokens = end, 0
    while back - 1 > start and tokens + atoms[back - 1].tokens <= overlap:
        back -= 1
        tokens += atoms[back].tokens
    return next((i for i in range(back, end) if ends[i - 1]), back)
