"""What a chunk with digits in it means: a number, a year, a date, a quarter, a decade, or nothing of time."""

from __future__ import annotations

import re
from functools import lru_cache

from stilltrue.retrieval.temporal.language import Count, Language, lexicon
from stilltrue.retrieval.temporal.signs import Sign
from stilltrue.retrieval.temporal.spans import Calendar

Read = tuple[tuple[Sign, object], ...]
"""The signs that a chunk stands for, with their values."""

_NOTHING: Read = ((Sign.OTHER, None),)
_PREFIXES = frozenset({Sign.PART, Sign.BEFORE, Sign.AFTER})
_FIRST_YEAR, _LAST_YEAR = 1000, 2999
_ISO = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2})(?:t\S{1,30})?)?")
_YEAR_FIRST = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})|(\d{4})\.(\d{2})\.(\d{2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")
_MONTH_YEAR = re.compile(r"(\d{1,2})/(\d{4})")
_YEARS = re.compile(r"(\d{4})[-–/](\d{4})")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|e|o|a)")
_DECADE = re.compile(r"(\d{2}|\d{3}0)'?(?:s|er|ern|ers)")
_QUARTER = re.compile(r"([a-z])([1-4])(?:[-/ ]?(\d{4}))?|(\d{4})[-/ ]?([a-z])([1-4])")
_POSSESSIVE = re.compile(r"(\d{4})'s")
_AFTER_PREFIX = re.compile(r"([a-z]{2,12})-(\d{4})")


@lru_cache(maxsize=1024)
def read(chunk: str, language: Language) -> Read:
    """The signs of a folded chunk with digits."""
    if chunk.isascii() and chunk.isdigit():
        return _number(chunk)
    for pattern, meaning in (
        (_ISO, lambda found: _date(found[1], found[2], found[3])),
        (_YEAR_FIRST, lambda found: _date(found[1] or found[4], found[2] or found[5], found[3] or found[6])),
        (_MONTH_YEAR, lambda found: _date(found[2], found[1], None)),
        (_ORDINAL, lambda found: ((Sign.NUMBER, Count(int(found[1]), digits=True)),)),
        (_DECADE, lambda found: ((Sign.DECADE, found[1]),)),
        (_POSSESSIVE, lambda found: _number(found[1])),
    ):
        if (found := pattern.fullmatch(chunk)) and (signs := meaning(found)):
            return signs
    if found := _YEARS.fullmatch(chunk):
        return *_number(found[1]), (Sign.TO, None), *_number(found[2])
    if found := _YEAR_LAST.fullmatch(chunk):
        return _day_month_year(int(found[1]), int(found[3]), int(found[4]), dotted=found[2] == ".", language=language)
    if (found := _QUARTER.fullmatch(chunk)) and (found[1] or found[5]) in language.quarter_letters:
        year = found[3] or found[4]
        return ((Sign.QUARTER, (int(found[2] or found[6]), int(year) if year else None)),)
    if (found := _AFTER_PREFIX.fullmatch(chunk)) and (sign := _prefix(found[1], language)):
        return (sign, *_number(found[2]))
    return _NOTHING


def _number(digits: str) -> Read:
    value = int(digits) if len(digits) <= 4 else 0
    if len(digits) == 4 and _FIRST_YEAR <= value <= _LAST_YEAR:
        return ((Sign.YEAR, value),)
    return ((Sign.NUMBER, Count(value, digits=True)),) if len(digits) <= 3 else _NOTHING


def _date(year: str, month: str, day: str | None) -> Read | None:
    date = Calendar(int(year), int(month), int(day) if day else None)
    return ((Sign.DATE, date),) if date.exists() else None


def _day_month_year(first: int, second: int, year: int, *, dotted: bool, language: Language) -> Read:
    """12.11.2026 is always the 12th of November; 03/04/2026 is so only where the language puts the day first."""
    if first != second and not dotted and not language.day_first and first <= 12 and second <= 12:
        return _NOTHING
    day, month = (second, first) if second > 12 and not dotted else (first, second)
    date = Calendar(year, month, day)
    return ((Sign.DATE, date),) if date.exists() else _NOTHING


def _prefix(word: str, language: Language) -> tuple[Sign, object] | None:
    """mid-2024, pre-2020: the word before the hyphen, where it is one of the language's."""
    for entry in lexicon(language).get(word, ()):
        if entry.words == (word,) and entry.sign in _PREFIXES:
            return entry.sign, entry.value
    return None
