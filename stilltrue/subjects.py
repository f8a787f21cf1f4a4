"""Which subjects a text may name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stilltrue.note import canonical_subject

_WORDS = re.compile(r"\w+(?:[:./@_-]\w+)*")
_EDGES = ".,;:!?()[]{}<>\"'“”‘’„«»…"
_LONGEST = 4


def names_in(text: str) -> list[str]:
    """Every run of one to four words in the text, as a subject would be spelt, each once.

    A possessive counts as the name ("Priya's" names priya), and so does a word with its marks ("C++", "R&D").
    Whether such a subject exists is for the store to say.
    """
    said = canonical_subject(re.sub(r"['’]s\b", "", text))
    marked = [word for each in said.split() if (word := each.strip(_EDGES))]
    return list(dict.fromkeys([*_runs(_WORDS.findall(said)), *_runs(marked)]))


def _runs(words: list[str]) -> Iterator[str]:
    for start in range(len(words)):
        for length in range(1, min(_LONGEST, len(words) - start) + 1):
            yield " ".join(words[start : start + length])
