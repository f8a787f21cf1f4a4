"""What time a question is about: the times that it names, and words of the past.

Only explicit words count; nothing is guessed. A time that is still to come is no question about the past.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from stilltrue.retrieval.temporal.intent import NOW, Intent
from stilltrue.retrieval.temporal.language import Language, lexicon
from stilltrue.retrieval.temporal.languages import candidates
from stilltrue.retrieval.temporal.point import Scene
from stilltrue.retrieval.temporal.ranges import Sentence, times
from stilltrue.retrieval.temporal.scan import scan, tells_of_the_past
from stilltrue.retrieval.temporal.signs import Sign
from stilltrue.retrieval.temporal.spans import midnight
from stilltrue.retrieval.temporal.tokens import Token, normalised, tokens


def read(query: str, now: datetime, languages: Sequence[Language] | None = None) -> Intent:
    """What `query` says about time, seen from `now` (aware, in the user's zone).

    `languages` are tried in order, and the first that finds something wins; by default, those that the query may be
    in. Never raises, whatever the query.
    """
    text = normalised(query)
    words = tokens(text)
    seen = {word for word, *_ in words}
    digits = any(map(str.isdigit, text))
    for language in candidates(words) if languages is None else languages:
        if not digits and seen.isdisjoint(lexicon(language)):
            continue
        intent = _read(text, words, now, language)
        if intent is not NOW:
            return intent
    return NOW


def _read(text: str, words: Sequence[Token], now: datetime, language: Language) -> Intent:
    signs = scan(words, language)
    if all(mark.sign is Sign.OTHER for mark in signs):
        return NOW
    past = tells_of_the_past(words, text, language.past)
    named = next(times(Sentence.of(Scene(signs, text, language, midnight(now), now), past=past)), None)
    if named and named.as_of:
        moment = now if named.over > now else named.over - timedelta(microseconds=1)
        return Intent("none", history=True, as_of=moment, words=named.words)
    span = (named.start, min(named.end, now)) if named else None
    earliest = next((mark for mark in signs if mark.sign is Sign.EARLIEST), None)
    if earliest:
        return Intent("inverted", history=True, span=span, words=text[earliest.start : earliest.end])
    if named:
        return Intent("none", history=True, span=span, words=named.words)
    held = {Sign.PAST, Sign.IN_THE_PAST, *([Sign.PAST_IF_TOLD] if past else [])}
    before = next((mark for mark in signs if mark.sign in held), None)
    return Intent("none", history=True, words=text[before.start : before.end]) if before else NOW
