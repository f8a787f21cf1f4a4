"""What time a question is about: now, its history, a span, or as of a date.

Only explicit words count, by a table for each language; nothing is guessed. "May" is a month only where a
year, a day or a preposition of time says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Literal

from stilltrue.retrieval.ranking import Recency


@dataclass(frozen=True, slots=True)
class Intent:
    """What a query says of time.

    `recency` is how the recency term counts. `history` means that history and retired chains are wanted.
    `span` is the time that is asked about, start included and end excluded; chains with a note recorded or
    valid in it come first. `as_of` is a moment to fold at. `words` are those that said so, for the reply.
    """

    recency: Recency = "decay"
    history: bool = False
    span: tuple[datetime, datetime] | None = None
    as_of: datetime | None = None
    words: str | None = None


NOW = Intent()
"""A question about the present, the usual one."""


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language. Patterns are regular expressions, matched on word boundaries, any case.

    `earliest` asks for how it began, `past` for how it was. `months` and `weekdays` map names to numbers (1 is
    January, 0 is Monday), `units` a word to a unit, `numbers` a word to a number. `ago` has the groups `n` and
    `unit`, `last` the group `name`, `month_before` what makes a month's name a month.
    """

    earliest: tuple[str, ...]
    past: tuple[str, ...]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    units: Mapping[str, Literal["day", "week", "month", "year"]]
    numbers: Mapping[str, int]
    ago: str
    last: str
    yesterday: str
    month_before: str
    as_of: str


ENGLISH = Language(
    earliest=("originally", "initially", "at first(?! glance| sight)", "in the beginning", "to begin with"),
    past=(
        r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bbeing )(?<!\bget )used to",  # "used to sign" is a purpose
        "previously",
        "formerly",
        "in the past",
        "back then",
        "at the time",
        "history of",
        "no longer",
        "before the",
        "before we",
        "before that",
        "the old",
        "prior to",
        "over time",
        "earlier (?:this|last|in)",
    ),
    months={
        name: number
        for number, names in enumerate(
            (
                ("january", "jan"),
                ("february", "feb"),
                ("march", "mar"),
                ("april", "apr"),
                ("may",),
                ("june", "jun"),
                ("july", "jul"),
                ("august", "aug"),
                ("september", "sept", "sep"),
                ("october", "oct"),
                ("november", "nov"),
                ("december", "dec"),
            ),
            start=1,
        )
        for name in names
    },
    weekdays={
        name: number
        for number, name in enumerate(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
    },
    units={
        "day": "day",
        "days": "day",
        "week": "week",
        "weeks": "week",
        "month": "month",
        "months": "month",
        "year": "year",
        "years": "year",
    },
    numbers={"a": 1, "an": 1, "a couple of": 2}
    | {
        word: number
        for number, word in enumerate(
            ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
            start=1,
        )
    },
    ago=r"(?P<n>\d{1,3}|{numbers}) (?P<unit>{units}) ago",
    last=r"last (?P<name>{months}|{weekdays}|{units})",
    yesterday="yesterday",
    month_before="in|since|until|during|as of|by|of",
    as_of="as of",
)

_MARGIN = MappingProxyType({"day": timedelta(days=1), "week": timedelta(days=4), "month": timedelta(days=16)})
_MONTH_NEEDS_CAPITAL = frozenset({"may", "march"})
_MONTH_IS_A_NAME = frozenset({"jan", "april", "may", "june", "august"})


def read(query: str, now: datetime, languages: Sequence[Language] = (ENGLISH,)) -> Intent:
    """What `query` says of time, seen from `now` (aware, in the user's zone)."""
    for language in languages:
        span, words = _span(query, now, language)
        earliest = _first(language.earliest, query)
        past = _first(language.past, query)
        if span and re.search(rf"\b(?:{language.as_of})\s+(?:the\s+)?{re.escape(words)}", query, re.IGNORECASE):
            return Intent(
                "none", history=True, as_of=_end(span[1], words, now, language), words=f"{language.as_of} {words}"
            )
        if earliest:
            return Intent("inverted", history=True, span=span, words=earliest)
        if span or past:
            return Intent("none", history=True, span=span, words=words or past)
    return NOW


def _first(patterns: Sequence[str], query: str) -> str | None:
    found = re.search(rf"\b(?:{'|'.join(patterns)})\b", query, re.IGNORECASE)
    return found.group() if found else None


def _span(query: str, now: datetime, language: Language) -> tuple[tuple[datetime, datetime] | None, str]:
    """The span that the query names, and the words that name it; only time that has begun by now counts."""
    today = _midnight(now)
    for finder in (_iso_date, _written_date, _ago, _last, _yesterday):
        span, words = finder(query, today, language)
        if span and span[0] <= now:
            return (span[0], min(span[1], now)), words
    return None, ""


def _end(end: datetime, words: str, now: datetime, language: Language) -> datetime:
    """When the time that is named is over. "As of a year ago" means that day, without the margin of a search."""
    ago = _search(language.ago, words, language)
    day = ago and _back_by(ago, _midnight(now), language)
    return min(day + timedelta(days=1), now) if day else end


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


_Found = tuple[tuple[datetime, datetime] | None, str]


def _iso_date(query: str, today: datetime, language: Language) -> _Found:
    found = re.search(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b", query)
    if not found:
        return None, ""
    return _calendar(today, int(found[1]), int(found[2]), int(found[3]) if found[3] else None), found.group()


def _written_date(query: str, today: datetime, language: Language) -> _Found:
    """4 March 2025, March 4th 2025, March 2025, March 4, in March."""
    months = _any(language.months)
    pattern = (
        rf"(?:\b(?P<before>{language.month_before}) )?"
        rf"(?:\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?\b(?P<month>{months})\b\.?"
        rf"(?:(?: (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:))?,?(?: (?P<year>\d{{4}})\b)?)"
    )
    for found in re.finditer(pattern, query, re.IGNORECASE):
        name, day = found["month"], found["day"] or found["day2"]
        if not (day or found["year"] or found["before"]):
            continue
        # "in May" is a month, "it may 4 times" and "in may" are not: these names are words as well.
        if name.lower() in _MONTH_NEEDS_CAPITAL and not name[0].isupper():
            continue
        # "reviewed by June", "a friend of May": here it takes a day or a year.
        before = (found["before"] or "").lower()
        if name.lower() in _MONTH_IS_A_NAME and before in {"by", "of"} and not (day or found["year"]):
            continue
        if query[found.end() : found.end() + 2].lower() in {"'s", "’s"}:
            continue
        month = language.months[name.lower()]
        year = int(found["year"]) if found["year"] else today.year - (month > today.month)
        span = _calendar(today, year, month, int(day) if day else None)
        if span:
            words = found.group().strip()
            return span, words[len(found["before"]) :].strip() if found["before"] else words
    return None, ""


def _ago(query: str, today: datetime, language: Language) -> _Found:
    found = _search(language.ago, query, language)
    middle = found and _back_by(found, today, language)
    if not found or not middle:
        return None, ""
    unit = language.units[found["unit"].lower()]
    margin = _MARGIN.get(unit, timedelta(days=183))
    half = timedelta(0) if unit == "day" else margin
    return (middle - half, middle + margin), found.group()


def _back_by(found: re.Match[str], today: datetime, language: Language) -> datetime | None:
    number = language.numbers.get(found["n"].lower())
    try:
        return _back(today, int(found["n"]) if number is None else number, language.units[found["unit"].lower()])
    except (ValueError, OverflowError):
        return None


def _last(query: str, today: datetime, language: Language) -> _Found:
    """Last March, last Monday, last week: the whole of it, and the latest that is over."""
    found = _search(language.last, query, language)
    if not found or found["name"] == "may":  # "the last may be wrong"
        return None, ""
    name = found["name"].lower()
    if name in language.months:
        month = language.months[name]
        return _calendar(today, today.year - (month >= today.month), month, None), found.group()
    if name in language.weekdays:
        days = (today.weekday() - language.weekdays[name]) % 7 or 7
        start = today - timedelta(days=days)
        return (start, start + timedelta(days=1)), found.group()
    unit = language.units[name]
    if unit == "week":
        start = today - timedelta(days=today.weekday() + 7)
        return (start, start + timedelta(days=7)), found.group()
    if unit == "month":
        end = today.replace(day=1)
        return (_back(end, 1, "month"), end), found.group()
    if unit == "year":
        return _calendar(today, today.year - 1, None, None), found.group()
    return (today - timedelta(days=1), today), found.group()


def _yesterday(query: str, today: datetime, language: Language) -> _Found:
    found = re.search(rf"\b{language.yesterday}\b", query, re.IGNORECASE)
    return ((today - timedelta(days=1), today), found.group()) if found else (None, "")


def _search(template: str, query: str, language: Language) -> re.Match[str] | None:
    pattern = template
    for field in ("months", "weekdays", "units", "numbers"):
        pattern = pattern.replace(f"{{{field}}}", _any(getattr(language, field)))
    return re.search(rf"\b{pattern}\b", query, re.IGNORECASE)


def _any(words: Mapping[str, object]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _calendar(today: datetime, year: int, month: int | None, day: int | None) -> tuple[datetime, datetime] | None:
    """The year, month or day as a span; None where the calendar has no such thing."""
    try:
        start = today.replace(year=year, month=1 if month is None else month, day=1 if day is None else day)
        if day is not None:
            return start, start + timedelta(days=1)
        return start, _back(start, -12 if month is None else -1, "month")
    except (ValueError, OverflowError):
        return None


def _back(moment: datetime, count: int, unit: str) -> datetime:
    if unit in {"day", "week"}:
        return moment - timedelta(days=count * (7 if unit == "week" else 1))
    months = moment.year * 12 + moment.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    first = moment.replace(day=1, year=year, month=month + 1)
    return first + timedelta(days=min(moment.day, _days_in(first)) - 1)


def _days_in(first: datetime) -> int:
    following = first.replace(day=28) + timedelta(days=4)
    return (following - timedelta(days=following.day)).day
