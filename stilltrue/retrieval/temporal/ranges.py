"""What the words around a time make of it: in, since, before, between two of them, as of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from stilltrue.retrieval.temporal.intent import Span
from stilltrue.retrieval.temporal.point import Point, Scene
from stilltrue.retrieval.temporal.points import points
from stilltrue.retrieval.temporal.scan import Marked
from stilltrue.retrieval.temporal.signs import Sign

_SURE, _IN, _TOLD = "7", "8", "9"
_NEEDS = (("nothing", _SURE), ("preposition", _IN), ("past", _TOLD))
_TITLE = re.compile(r"(\S+ )?[A-Z][\w']{1,30} [A-Z][\w']{1,30} $")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The parts of a query: its times, and the signs between them. `row` has one character for each part.

    `past` and `future`: whether it tells of what was, or of what will be.
    """

    scene: Scene
    parts: Sequence[Marked | Point]
    row: str
    past: bool
    future: bool

    @classmethod
    def of(cls, scene: Scene, *, past: bool) -> Sentence:
        """The sentence that the signs of the scene make."""
        parts: list[Marked | Point] = []
        at = 0
        for point in points(scene):
            parts += [*scene.signs[at : point.first], point]
            at = point.last + 1
        parts += scene.signs[at:]
        needs = dict(_NEEDS)
        row = "".join(needs[part.needs] if isinstance(part, Point) else part.sign for part in parts)
        return cls(scene, parts, row, past, any(mark.sign is Sign.FUTURE for mark in scene.signs))

    def words(self, first: int, last: int) -> str:
        """The text of some parts."""
        start, end = self.parts[first], self.parts[last]
        left = self.scene.signs[start.first].start if isinstance(start, Point) else start.start
        right = self.scene.signs[end.last].end if isinstance(end, Point) else end.end
        return self.scene.text[left:right].rstrip(" .,;:!?。？！")


@dataclass(frozen=True, slots=True)
class Named:
    """A stretch of time that a query names. `over` is its end without the margin of a search."""

    start: datetime
    end: datetime
    over: datetime
    words: str
    as_of: bool = False


def times(sentence: Sentence) -> Iterator[Named]:
    """The times that count and have begun: as of, then ranges, then what stands alone, each from left to right."""
    now = sentence.scene.now
    for kind, pattern in _PATTERNS:
        for found in pattern.finditer(sentence.row):
            named = _named(kind, found, sentence)
            if named and named.start <= now and named.start < min(named.end, now):
                yield named


_P, _FILL = "[789]", "[~oI,]{0,2}"
_PATTERNS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("as of", f"O{_FILL}(?P<part>e?){_FILL}(?P<one>{_P})"),
        ("as of", f"(?P<one>{_P}){_FILL}@"),
        ("range", f"(?P<open>[bfo5FI]){_FILL}(?P<one>{_P})[~o,]{{0,2}}[&t26>]{_FILL}(?P<two>{_P})"),
        ("range", f"(?P<one>{_P})[t26>~]{{1,2}}{_FILL}(?P<two>{_P})"),
        ("until", f"[u6]{_FILL}(?P<one>{_P})"),
        ("until", f"(?P<one>{_P})<"),
        ("before", f"[Bv]{_FILL}(?P<one>{_P})"),
        ("before", f"(?P<one>{_P})o?z"),
        ("after", f"G{_FILL}(?P<one>{_P})"),
        ("after", f"(?P<one>{_P})o?h"),
        ("since", f"[F5]{_FILL}(?P<one>{_P})"),
        ("since", f"(?P<one>{_P})>"),
        ("part", f"(?P<part>e){_FILL}(?P<one>{_P})"),
        ("in", f"(?P<in>[I2f5o]){_FILL}(?P<one>{_P})"),
        ("alone", f"(?P<one>{_P})"),
    )
)


def _named(kind: str, found: re.Match[str], sentence: Sentence) -> Named | None:
    one = sentence.parts[found.start("one")]
    if not isinstance(one, Point):
        return None
    if kind == "range":
        return _between(one, found, sentence)
    if not _counts(kind, one, found, sentence):
        return None
    span = _span(one, sentence)
    if span is None:
        return None
    start, end = _narrowed(span, found, sentence) if "part" in found.groupdict() else span
    over = one.end or end
    words = sentence.words(found.start(), found.end() - 1)
    first = _first_of_all(start)
    match kind:
        case "as of":
            return Named(first, max(over, end), over, words, as_of=True)
        case "until":
            return Named(first, over, over, words)
        case "before":
            return Named(first, start, start, words)
        case "since":
            return Named(start, sentence.scene.now, sentence.scene.now, words)
        case "after":
            return Named(end, sentence.scene.now, sentence.scene.now, words)
        case "part":
            return Named(start, end, end, words)
    return Named(start, end, over, sentence.words(found.start("one"), found.start("one")))


def _first_of_all(moment: datetime) -> datetime:
    """The start of a span that has none. In the year 1 a moment has no date in some zones."""
    return moment.replace(year=2, month=1, day=1)


def _counts(kind: str, one: Point, found: re.Match[str], sentence: Sentence) -> bool:
    """Whether the time has beside it what it needs."""
    if one.needs == "nothing":
        # A day without a year may be the next one: "on 20 March", asked in the same month.
        return not (sentence.future and one.calendar is not None and one.calendar.year is None)
    yearless = one.calendar is None or one.calendar.year is None
    if sentence.future and yearless:
        return False
    if kind == "as of":
        return True
    if kind in ("until", "before"):
        return sentence.past or not yearless
    if one.needs == "past":
        return sentence.past or (kind == "since" and one.fixed is not None)
    if kind == "alone":
        # "Wo wohnte sie 2015?", and 去年 or 夏 beside a verb in the past
        bare = sentence.scene.language.bare_years and sentence.past
        return bare and one.calendar is not None
    if kind == "in":
        return _in(one, found, sentence)
    return True


def _in(one: Point, found: re.Match[str], sentence: Sentence) -> bool:
    """Whether a preposition makes a month, a season or a year of the word: not in "by June" or a title."""
    preposition = sentence.parts[found.start("in")]
    if not isinstance(preposition, Marked) or one.calendar is None:
        return False
    name = sentence.words(found.start("one"), found.start("one")).lower()
    loose = preposition.sign in (Sign.OF, Sign.FROM) or preposition.value == "by"
    if loose and name in sentence.scene.language.names:
        return False
    if one.calendar.year is None and preposition.sign is Sign.FROM and not sentence.past:
        return False  # "does it run from January to March"
    if one.calendar.month is None and preposition.value in sentence.scene.language.not_before_years:
        return False
    before = sentence.scene.text[: preposition.start]
    if sentence.scene.language.titles and (title := _TITLE.search(before[-80:])):
        return title[1] is None and sentence.past and len(before) < 60
    return True


def _span(one: Point, sentence: Sentence) -> Span | None:
    """When it is; the latest that has begun where no year is said."""
    if one.fixed or one.calendar is None:
        return one.fixed
    today, date = sentence.scene.today, one.calendar
    coming = date.year is None and date.day is not None and not sentence.past and date.month == today.month
    return date.span(today, today.year) if coming else date.latest(today)


def _narrowed(span: Span, found: re.Match[str], sentence: Sentence) -> Span:
    """The beginning, middle or end of a span, a third of it each."""
    mark = sentence.parts[found.start("part")] if found["part"] else None
    third = (span[1] - span[0]) / 3
    match mark.value if isinstance(mark, Marked) else None:
        case "start":
            return span[0], span[0] + third
        case "middle":
            return span[0] + third, span[1] - third
        case "end":
            return span[1] - third, span[1]
    return span


def _between(one: Point, found: re.Match[str], sentence: Sentence) -> Named | None:
    """From one time through another, both included. A year that one of them has is that of both."""
    two = sentence.parts[found.start("two")]
    if not isinstance(two, Point):
        return None
    opened = "open" in found.groupdict()
    if found.group().count("&") and opened and found["open"] != Sign.BETWEEN:
        return None  # "in March and May" is no range
    left, right = _same_year(one, two)
    weak = [each for each in (left, right) if each.calendar is None or each.calendar.year is None]
    if len(weak) == 2 and (sentence.future or not sentence.past):
        return None
    bare = all(each.needs == "preposition" for each in (one, two))
    if not opened and bare and not sentence.past and not (one.calendar and one.calendar.month):
        return None  # "call 2015-2016"
    start, end = _span(left, sentence), _span(right, sentence)
    if start is None or end is None:
        return None
    if end[1] <= start[0] and left.calendar is not None and left.calendar.year is None:
        start = replace(left.calendar, year=end[0].year - 1).span(sentence.scene.today) or start
    return Named(start[0], end[1], end[1], sentence.words(found.start(), found.end() - 1))


def _same_year(one: Point, two: Point) -> tuple[Point, Point]:
    left, right = one.calendar, two.calendar
    if left is None or right is None:
        return one, two
    turns = (right.month or 1) < (left.month or 1)
    if left.year is None and right.year is not None:
        return replace(one, calendar=replace(left, year=right.year - turns)), two
    if right.year is None and left.year is not None:
        return one, replace(two, calendar=replace(right, year=left.year + turns))
    return one, two
