"""A query as signs of time, by the tables of one language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stilltrue.retrieval.temporal import numerals
from stilltrue.retrieval.temporal.language import Language, PastTense, lexicon
from stilltrue.retrieval.temporal.signs import Sign
from stilltrue.retrieval.temporal.tokens import Token

_PUNCTUATION = frozenset('.;:!?()[]{}"“”„«»¿¡…。、？！；：「」『』《》（）§')
_DASHES = frozenset("–—~〜～")


class Marked(NamedTuple):
    """A sign with its value and its place in the text."""

    sign: Sign
    value: object
    start: int
    end: int


def scan(words: Sequence[Token], language: Language) -> list[Marked]:
    """The signs of the words, the longest phrase first; a word that means nothing is OTHER."""
    table, found, at = lexicon(language), [], 0
    texts = [text for text, *_ in words]
    while at < len(words):
        text, start, end = words[at]
        for entry in table.get(text, ()):
            if len(entry.words) == 1 or tuple(texts[at : at + len(entry.words)]) == entry.words:
                found.append(Marked(entry.sign, entry.value, start, words[at + entry.width - 1][2]))
                at += entry.width
                break
        else:
            if text[0].isdigit() or any(character.isdigit() for character in text):
                found += [Marked(sign, value, start, end) for sign, value in numerals.read(text, language)]
            else:
                found.append(Marked(_plain(text), text, start, end))
            at += 1
    return found


def _plain(text: str) -> Sign:
    if text in {",", "，"}:
        return Sign.COMMA
    if text in _DASHES:
        return Sign.TO
    return Sign.BREAK if text in _PUNCTUATION else Sign.OTHER


def tells_of_the_past(words: Sequence[Token], text: str, tense: PastTense) -> bool:
    """Whether the sentence tells of the past, by the forms of its verbs."""
    folded = {word for word, *_ in words}
    if not folded.isdisjoint(tense.words):
        return True
    if tense.endings and text.rstrip("?？。！!. ").endswith(tense.endings):
        return True
    if not folded.isdisjoint(tense.present) or (tense.auxiliaries and folded.isdisjoint(tense.auxiliaries)):
        return False
    if not folded.isdisjoint(tense.participles):
        return True
    written = ((word, text[start:end].lower()) for word, start, end in words)
    return any(
        len(form) > len(first) + len(last) + 1 and form.startswith(first) and form.endswith(last)
        for word, form in written
        if word not in tense.not_shapes
        for first, last in tense.shapes
    )
