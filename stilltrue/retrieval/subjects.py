"""Which of the known subjects a text names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from stilltrue.note import canonical_subject

_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts whose words stand without spaces between them, or with endings grown on to them."""


def named_in(text: str, subjects: Iterable[str]) -> list[str]:
    """Those of the subjects (in their canonical spelling) that the text names, in their order.

    A name counts where it stands as words of its own: "Priya's plans" names priya, "art" is not named by "party".
    In scripts that write without spaces it counts wherever it stands.
    """
    said = canonical_subject(text)
    return [subject for subject in subjects if _names(said, subject)]


def _names(said: str, subject: str) -> bool:
    at = said.find(subject)
    while at >= 0:
        end = at + len(subject)
        before, after = said[at - 1 : at], said[end : end + 1]
        if _is_edge(before, subject[0]) and _is_edge(after, subject[-1]):
            return True
        at = said.find(subject, at + 1)
    return False


def _is_edge(beside: str, own: str) -> bool:
    """Whether a word ends between the subject's outermost character and the one beside it."""
    if not beside or not (beside.isalnum() and own.isalnum()):
        return True
    return unicodedata.name(own, "").startswith(_UNSPACED)
