"""A time given as an argument: a date in one of its forms, a month, a year, or a word such as "yesterday"."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from stilltrue.retrieval.temporal.intent import Span
from stilltrue.retrieval.temporal.language import Language
from stilltrue.retrieval.temporal.languages import candidates
from stilltrue.retrieval.temporal.point import Point, Scene
from stilltrue.retrieval.temporal.points import points
from stilltrue.retrieval.temporal.scan import scan
from stilltrue.retrieval.temporal.signs import Sign
from stilltrue.retrieval.temporal.spans import Calendar, back, midnight
from stilltrue.retrieval.temporal.tokens import Token, normalised, tokens

_NOW = frozenset(["now", "jetzt", "maintenant", "ahora", "adesso", "agora", "nu", "现在", "今"])
_TOMORROW = frozenset(["tomorrow", "morgen", "demain", "mañana", "domani", "amanhã", "明天", "明日"])
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})")
_TIMED = re.compile(r"\d{4}-\d{2}-\d{2}t")
_ONLY_A_NAME = frozenset({Sign.WEEKDAY, Sign.WEEKEND})


class Ambiguous(ValueError):
    """A date that is one of two: 03/04/2026. `day_first` and `month_first` are both, as ISO dates."""

    def __init__(self, day_first: str, month_first: str) -> None:
        super().__init__(f"{day_first} or {month_first}")
        self.day_first = day_first
        self.month_first = month_first


def read(said: str, now: datetime) -> Span:
    """The span that the words name, seen from `now` (aware, in the user's zone); a moment is an empty span.

    A time to come is as good as one that was. Raises Ambiguous for 03/04/2026, and ValueError for what is no date or
    leaves out the year.
    """
    word = said.strip().casefold()
    today = midnight(now)
    if word in _NOW:
        return now, now
    if word in _TOMORROW:
        return back(today, -1, "day"), back(today, -2, "day")
    if span := _iso(said, now):
        return span
    if _TIMED.match(word):
        raise ValueError(f"{said!r} has no such time of day")
    if (found := _SLASHED.fullmatch(word)) and found[1] != found[2]:
        one, two, year = int(found[1]), int(found[2]), int(found[3])
        if one <= 12 and two <= 12:
            raise Ambiguous(date(year, two, one).isoformat(), date(year, one, two).isoformat())
    text = normalised(said)
    words = tokens(text)
    for language in candidates(words):
        if span := _whole(text, words, now, language):
            return span
    raise ValueError(f"{said!r} is no date")


def _iso(said: str, now: datetime) -> Span | None:
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=now.tzinfo)
    try:
        date.fromisoformat(said)
    except ValueError:
        return moment, moment
    try:
        return moment, moment + timedelta(days=1)
    except OverflowError:
        return moment, moment  # the last day that there is; its caller refuses that year


def _whole(text: str, words: list[Token], now: datetime, language: Language) -> Span | None:
    """The time that all the words together name, where they name one and leave nothing open."""
    signs = scan(words, language)
    found = list(points(Scene(signs, text, language, midnight(now), now)))
    if len(found) != 1 or (found[0].first, found[0].last) != (0, len(signs) - 1):
        return None
    [point] = found
    if point.first == point.last and signs[0].sign in _ONLY_A_NAME:
        return None
    return _closed(point, midnight(now))


def _closed(point: Point, today: datetime) -> Span | None:
    if isinstance(point.calendar, Calendar):
        return point.calendar.span(today) if point.calendar.year is not None else None
    if point.fixed and point.end:
        return point.end - timedelta(days=1), point.end  # the day itself, without the margin of a search
    return point.fixed
