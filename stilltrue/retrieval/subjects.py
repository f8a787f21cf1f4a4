"""Which of the known subjects a text names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from stilltrue.note import canonical_subject

_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts without spaces between words, or with endings attached to them."""


def named_in(text: str, subjects: Iterable[str]) -> list[str]:
    """The subjects (in canonical spelling) that the text names, in their order.

    A name has to be a word, or words, of its own: "Priya's plans" names priya, but "party" does not name art. In
    scripts without spaces between words it counts anywhere.
    """
    canonical = canonical_subject(text)
    return [subject for subject in subjects if _names(canonical, subject)]


def _names(text: str, subject: str) -> bool:
    at = text.find(subject)
    while at >= 0:
        end = at + len(subject)
        before, after = text[at - 1 : at], text[end : end + 1]
        if _is_edge(before, subject[0]) and _is_edge(after, subject[-1]):
            return True
        at = text.find(subject, at + 1)
    return False


def _is_edge(beside: str, own: str) -> bool:
    """Whether a word ends between `own`, the first or last character of the subject, and the one `beside` it."""
    if not beside or not (beside.isalnum() and own.isalnum()):
        return True
    return unicodedata.name(own, "").startswith(_UNSPACED)
