"""The languages whose questions about time are understood, and which of them a query may be in."""

from __future__ import annotations

from collections.abc import Sequence

from stilltrue.retrieval.temporal.language import Language
from stilltrue.retrieval.temporal.languages.chinese import CHINESE
from stilltrue.retrieval.temporal.languages.dutch import DUTCH
from stilltrue.retrieval.temporal.languages.english import ENGLISH
from stilltrue.retrieval.temporal.languages.french import FRENCH
from stilltrue.retrieval.temporal.languages.german import GERMAN
from stilltrue.retrieval.temporal.languages.italian import ITALIAN
from stilltrue.retrieval.temporal.languages.japanese import JAPANESE
from stilltrue.retrieval.temporal.languages.portuguese import PORTUGUESE
from stilltrue.retrieval.temporal.languages.spanish import SPANISH
from stilltrue.retrieval.temporal.tokens import Token

LATIN = (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, DUTCH)


def candidates(words: Sequence[Token]) -> tuple[Language, ...]:
    """The languages that a query may be in, by its script and its most frequent words; English before its equals.

    A query with no such word may be in any of them.
    """
    texts = [word for word, *_ in words]
    kana = any("\u3040" <= word <= "\u30ff" for word in texts)
    han = any("\u3400" <= word <= "\u9fff" for word in texts)
    east = (JAPANESE,) if kana else (CHINESE,) if han else ()
    counts = [sum(word in language.markers for word in texts) for language in LATIN]
    most = max(counts)
    if most == 0:
        return east or LATIN
    if counts[0] == most:
        return (*east, ENGLISH)
    return (*east, *(language for language, count in zip(LATIN, counts, strict=True) if count == most))
