"""Times by their distance from today: three days ago, the past weeks, last summer, this year, on Monday."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from stilltrue.retrieval.temporal.intent import Span
from stilltrue.retrieval.temporal.language import Count, Unit, UnitName
from stilltrue.retrieval.temporal.point import Point, Scene, amount, mark_of, taken
from stilltrue.retrieval.temporal.signs import Sign
from stilltrue.retrieval.temporal.spans import Calendar, back, weekday, weekend, whole

PLURAL: Mapping[UnitName, int] = MappingProxyType({"day": 7, "week": 4, "month": 4, "year": 4})
"""How many "the past days", weeks, months or years are, where no number is given."""

_MARGIN = MappingProxyType({name: timedelta(days) for name, days in zip(PLURAL, (1, 4, 16, 183), strict=True)})
_VAGUE = MappingProxyType({name: timedelta(days) for name, days in zip(PLURAL, (2, 10, 46, 548), strict=True)})


def ago(found: re.Match[str], scene: Scene) -> Point | None:
    count, unit = amount(found, scene)
    try:
        middle = back(scene.today, count.number * unit.times, unit.name)
        if count.vague:
            early = late = _VAGUE[unit.name] * unit.times
        else:
            late = _MARGIN[unit.name] * (1 if unit.times < 10 else unit.times)
            early = timedelta(0) if unit.name == "day" else late
        return taken(found, fixed=(middle - early, middle + late), end=middle + timedelta(days=1))
    except (ValueError, OverflowError):
        return None


def rolling(found: re.Match[str], scene: Scene) -> Point | None:
    """The last three days, the past weeks: up to now."""
    count, unit = amount(found, scene)
    if count is None:
        singular = Sign.ROLLING in found.group() or Sign.IN_THE_PAST in found.group()
        if not unit.plural and not singular:
            return None
        count = Count(PLURAL[unit.name] if unit.plural else 1)
    try:
        return taken(found, fixed=(back(scene.today, count.number * unit.times, unit.name), scene.now))
    except (ValueError, OverflowError):
        return None


def last(found: re.Match[str], scene: Scene) -> Point | None:
    """Last week, last Monday, verano pasado: the whole of it, and the latest that is over."""
    mark, today = mark_of(found, "what", scene), scene.today
    span: Span | None = None
    match mark and (mark.sign, mark.value):
        case Sign.UNIT, Unit(name=name, times=times, plural=False) if (name, times) != ("day", 1):
            span = whole(today, name, -1, times)
        case Sign.WEEKDAY, int(number):
            span = weekday(today, number, over=True)
        case Sign.WEEKEND, _:
            span = weekend(today, over=True)
        case Sign.MONTH, int(month):
            # "last march" is a month with any letter, "the last may be wrong" is not.
            if mark and scene.text[mark.start : mark.end] != "may":
                span = Calendar(None, month).latest(today, over=True)
        case Sign.SEASON, int(season):
            span = Calendar(None, 3 * season + 3, months=3).latest(today, over=True)
        case Sign.QUARTER, (int(quarter), None):
            span = Calendar(None, 3 * quarter - 2, months=3).latest(today, over=True)
    return taken(found, fixed=span) if span else None


def this(found: re.Match[str], scene: Scene) -> Point | None:
    """This week, this summer: only where the sentence tells of what was."""
    mark, today = mark_of(found, "what", scene), scene.today
    span: Span | None = None
    match mark and (mark.sign, mark.value):
        case Sign.UNIT, Unit(name=name, times=times, plural=False):
            span = whole(today, name, 0, times)
        case Sign.WEEKDAY, int(number):
            span = weekday(today, number, over=False)
        case Sign.WEEKEND, _:
            span = weekend(today, over=False)
        case Sign.MONTH, int(month):
            span = Calendar(None, month).latest(today)
        case Sign.SEASON, int(season):
            span = Calendar(None, 3 * season + 3, months=3).latest(today)
    return taken(found, fixed=span, needs="past") if span else None


def relative(found: re.Match[str], scene: Scene) -> Point | None:
    value: Any = scene.signs[found.start()].value
    unit, offset = value
    span = whole(scene.today, unit.name, offset, unit.times)
    return taken(found, fixed=span, needs="past" if offset == 0 else "nothing") if span else None


def day_name(found: re.Match[str], scene: Scene) -> Point:
    mark = scene.signs[found.start()]
    if mark.sign is Sign.WEEKEND:
        return taken(found, fixed=weekend(scene.today, over=False), needs="past")
    return taken(found, fixed=weekday(scene.today, int(str(mark.value)), over=False), needs="past")
