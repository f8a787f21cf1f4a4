"""The times that a row of signs names, each on its own: a day, a month, the last three weeks, 2015.

The patterns are regular expressions over one character for each word (see `signs`). Every repetition in them is
bounded, so that reading takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import MappingProxyType

from stilltrue.retrieval.temporal import named_dates as named
from stilltrue.retrieval.temporal import relative_dates as relative
from stilltrue.retrieval.temporal.point import Point, Scene
from stilltrue.retrieval.temporal.signs import Sign

MAX_POINTS = 100
"""A text that names more times than this is read no further."""


def points(scene: Scene) -> Iterator[Point]:
    """The times that the signs name, from left to right; none overlaps another."""
    row = "".join(mark.sign for mark in scene.signs)
    at = count = 0
    while at < len(row) and count < MAX_POINTS:
        point = _point_at(row, at, scene)
        if point is None:
            at += 1
            continue
        if not _cancelled(row, point):
            count += 1
            yield point
        at = point.last + 1


def _point_at(row: str, at: int, scene: Scene) -> Point | None:
    for pattern, meaning in _BY_START.get(row[at], ()):
        if (found := pattern.match(row, at)) and (point := meaning(found, scene)):
            return point
    return None


def _cancelled(row: str, point: Point) -> bool:
    """Whether "next" or "every" turns it away from the past, or its neighbours make its number a count or a name."""
    before, after = row[max(0, point.first - 4) : point.first], row[point.last + 1 : point.last + 2]
    bare_year = point.calendar is not None and point.needs == "preposition" and point.calendar.month is None
    if bare_year:
        return after == Sign.COUNTED or before.endswith(Sign.LABEL)
    if point.calendar is not None and point.calendar.year is not None:
        return False
    return after == Sign.NEXT or re.search(r"n[~oUI2KWn]{0,3}$", before) is not None


# The signs that a pattern can start with, the pattern, and what it means; the first that fits is taken.
_Meaning = Callable[[re.Match[str], Scene], Point | None]
_PATTERNS: tuple[tuple[str, re.Pattern[str], _Meaning], ...] = tuple(
    (starts, re.compile(pattern), meaning)
    for starts, pattern, meaning in (
        ("D", "D", named.date),
        ("YiN", "(?:(?P<year>Y)U|(?P<year2>i)[~o]?)?(?P<month>N)m(?:(?P<day>N)(?P<unit>U))?", named.numbered_month),
        ("N", r"(?P<day>N)[~o.]{0,2}(?P<month>M)\.?(?:[~o,]{0,2}(?P<year>Y))?", named.day_of_month),
        ("M", r"(?P<month>M)\.?~?(?P<day>N)(?![UA])(?:[~o,]{0,2}(?P<year>Y))?", named.day_of_month),
        ("MSQkN", r"(?P<part>M|S|Q|[kN]U)\.?[~o,]{0,3}(?P<year>Y)", named.part_of_year),
        ("Y", "(?P<year>Y)U?[~o]{0,2}(?P<part>M|S|Q)", named.part_of_year),
        ("MSQkN", "(?P<part>M|S|Q|[kN]U)[~o,]{0,3}(?P<rel>L~?U|UL|i)", named.part_of_relative_year),
        ("LUi", "(?P<rel>L~?U|UL|i)[~o]{0,2}(?P<part>M|S|Q|kU)", named.part_of_relative_year),
        ("NP", "(?:NU|P)[Az]", relative.ago),
        ("av", "[av]~?(?:NU|P)", relative.ago),
        ("LRrTN", "[LRr]~?(?:NU|P)|T?N[LR]U|TNU", relative.rolling),
        ("TLURr", "T?LU(?!~?o)|UL|[Rr]U(?!~?o)", relative.rolling),
        (
            "LRWMSKU",
            "[LR](?P<what>[WMSKQ])(?!~?o)|(?P<what2>[WMSK])L|L(?P<what3>U)(?!~?o)|(?P<what4>U)L",
            relative.last,
        ),
        ("T", "T(?P<what>[UWKMS])", relative.this),
        ("i", "i", relative.relative),
        ("~gNYC", "~C|g[NC]|[NY]g|CU", named.decade),
        ("U", "(?P<unit>U)N", named.plural_decade),
        ("C", "C", named.two_digits_alone),
        ("UY", "U(?P<year>Y)|(?P<year2>Y)U?", named.year),
        ("MSQk", "(?P<part>M|S|Q|kU)", named.part_alone),
        ("WK", "[WK]", relative.day_name),
    )
)
_BY_START = MappingProxyType(
    {
        start: tuple((pattern, meaning) for starts, pattern, meaning in _PATTERNS if start in starts)
        for start in "".join(starts for starts, *_ in _PATTERNS)
    }
)
