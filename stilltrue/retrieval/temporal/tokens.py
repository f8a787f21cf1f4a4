"""A query cut into words: folded for look-up, with the place of each in the text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MAX_CHARACTERS = 2_000
"""Of a longer query, this many characters at each end are read; that is where a question is asked."""

Token = tuple[str, int, int]
"""A word without case and accents, and where it starts and ends in the normalised text."""

_CJK = r"\u3005\u3040-\u30ff\u3400-\u9fff"
_CHUNK = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")
_PIECE = re.compile(r"[^\W\d_]+|\d+|.")
_LEADING = "([{\"'“”«¿¡„「『《（"
_TRAILING = ".,;:!?)]}\"'“”»…。、？！，；：」』》）"
_QUOTED = re.compile(
    r'"[^"]{1,80}"|“[^”]{1,80}”|„[^“”]{1,80}[“”]|«[^»]{1,80}»|「[^」]{1,80}」|『[^』]{1,80}』|《[^》]{1,80}》'
)


def normalised(query: str) -> str:
    """The text that places refer to: composed characters, single spaces, straight apostrophes, quotations blanked.

    What stands in quotation marks is a name or a title and says nothing about time.
    """
    if len(query) > 2 * MAX_CHARACTERS:
        query = f"{query[:MAX_CHARACTERS]} . {query[-MAX_CHARACTERS:]}"
    text = " ".join(unicodedata.normalize("NFC", query).replace("’", "'").split())
    blanked = _QUOTED.sub(lambda found: "§" * len(found.group()), text)
    return blanked if any(character.isalpha() for character in blanked) else text


def tokens(text: str) -> list[Token]:
    """The words of a normalised text. A chunk with digits stays whole, so that "v2024.1" holds no year."""
    folded = text.lower() if text.isascii() else "".join(map(_folded, text))
    found: list[Token] = []
    for chunk in _CHUNK.finditer(folded):
        start, end = chunk.span()
        word = chunk.group()
        inner = word.lstrip(_LEADING)
        left = start + len(word) - len(inner)
        core = inner.rstrip(_TRAILING)
        right = left + len(core)
        found += [(folded[at], at, at + 1) for at in range(start, left)]
        if any(character.isdigit() for character in core):
            found.append((core, left, right))
        else:
            found += [(each.group(), left + each.start(), left + each.end()) for each in _PIECE.finditer(core)]
        found += [(folded[at], at, at + 1) for at in range(right, end)]
    return found


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    """The character without accent, width and case, where that is one character; kana keep their marks."""
    if "\u3000" <= character < "\uff00":
        return character
    bare = "".join(each for each in unicodedata.normalize("NFKD", character) if not unicodedata.combining(each))
    lowered = bare.lower()
    return lowered if len(lowered) == 1 else character
