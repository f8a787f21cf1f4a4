"""Which words of a query are worth a full-text search."""

from __future__ import annotations

import re

STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being but by can could did do does doing
    down during each few for from further had has have having he her here hers herself him himself his how i if in
    into is it its itself just me more most my myself no nor not now of off on once only or other our ours ourselves
    out over own please same she should so some such than that the their theirs them themselves then there these
    they this those through to too under until up us very was we were what when where which while who whom whose why
    will with would you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a list this long is easier to read as text
)
"""English words that say how a question is asked, not what it is about."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def content_words(query: str) -> str:
    """The words of the query that are not stop words, in order; the whole query if nothing else is in it.

    The index keeps stop words, since some of them are somebody's name. So a query of nothing but stop words ("who is
    it?") is searched as it is.
    """
    kept = [word for word in _WORD.findall(query) if word.casefold() not in STOP_WORDS]
    return " ".join(kept) or query
