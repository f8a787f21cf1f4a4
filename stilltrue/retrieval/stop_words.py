"""Which words of a question are worth looking up in the full text."""

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
    """.split()  # noqa: SIM905 - a list of this length is read as a text
)
"""English words that say how a question is asked, not what about."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def content_words(query: str) -> str:
    """The words of the query that are no stop words, in order; the query itself where nothing would be left.

    The index keeps every word, since some of them are names to somebody. A question of nothing but stop words
    ("who is it?") is looked up as it stands.
    """
    kept = [word for word in _WORD.findall(query) if word.casefold() not in STOP_WORDS]
    return " ".join(kept) or query
