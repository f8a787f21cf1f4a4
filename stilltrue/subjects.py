"""Which subjects a text may name."""

from __future__ import annotations

import re

from stilltrue.note import canonical_subject

_WORDS = re.compile(r"\w+(?:[:./@_-]\w+)*")
_LONGEST = 4
_MOST = 400


def names_in(text: str) -> list[str]:
    """Every run of one to four words in the text, as a subject would be spelt; at most 400 of them.

    A possessive counts as the name ("Priya's" names priya). Whether such a subject exists is for the store to say.
    """
    words = _WORDS.findall(canonical_subject(re.sub(r"['’]s\b", "", text)))
    runs = (
        " ".join(words[start : start + length])
        for start in range(len(words))
        for length in range(1, min(_LONGEST, len(words) - start) + 1)
    )
    return list(dict.fromkeys(runs))[:_MOST]
