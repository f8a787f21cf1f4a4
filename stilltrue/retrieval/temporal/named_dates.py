"""Times by their place in the calendar: dates, months, seasons, quarters, years, decades."""

from __future__ import annotations

import re

from stilltrue.retrieval.temporal.language import Count, Unit
from stilltrue.retrieval.temporal.point import Point, Scene, taken, value_of
from stilltrue.retrieval.temporal.signs import Sign
from stilltrue.retrieval.temporal.spans import Calendar


def date(found: re.Match[str], scene: Scene) -> Point:
    return taken(found, calendar=scene.signs[found.start()].value)


def day_of_month(found: re.Match[str], scene: Scene) -> Point | None:
    month, day = capital_month(found, scene), value_of(found, "day", scene)
    year = value_of(found, "year", scene)
    if month is None or not day.digits:
        return None
    date = Calendar(year, month, day.number)
    return taken(found, calendar=date if date.exists() else None)  # 31 February is no February either


def numbered_month(found: re.Match[str], scene: Scene) -> Point | None:
    """2024年3月4日, 去年三月, 3月."""
    year = value_of(found, "year", scene)
    if isinstance(year, tuple):
        unit, offset = year
        if unit != Unit("year"):
            return None
        year = scene.today.year + offset
    day = None
    if found["day"]:
        unit = value_of(found, "unit", scene)
        day = value_of(found, "day", scene).number if isinstance(unit, Unit) and unit.name == "day" else None
    date = Calendar(year, value_of(found, "month", scene).number, day)
    return taken(found, calendar=date, needs="past" if year is None else "nothing") if date.exists() else None


def capital_month(found: re.Match[str], scene: Scene) -> int | None:
    """The number of the month in the group `month`; None where it is another word, as "may" without a capital."""
    mark = scene.signs[found.start("month")]
    name = scene.text[mark.start : mark.end]
    if name.lower() in scene.language.capital_months and not name[0].isupper():
        return None
    return int(mark.value) if isinstance(mark.value, int) else None


def part_of_year(found: re.Match[str], scene: Scene) -> Point | None:
    """March 2025, summer of 2024, Q3 2025."""
    part = part_at(found, scene, value_of(found, "year", scene))
    return taken(found, calendar=part) if part and part.year else None


def part_of_relative_year(found: re.Match[str], scene: Scene) -> Point | None:
    """March of last year, 去年の夏."""
    marks = scene.signs[found.start("rel") : found.end("rel")]
    offset = None
    for mark in marks:
        if mark.sign is Sign.UNIT and mark.value == Unit("year"):
            offset = -1
        elif mark.sign is Sign.RELATIVE and isinstance(mark.value, tuple) and mark.value[0] == Unit("year"):
            offset = mark.value[1]
    part = part_at(found, scene, None) if offset is not None else None
    if part is None or offset is None:
        return None
    return taken(found, calendar=Calendar(scene.today.year + offset, part.month, months=part.months))


def part_alone(found: re.Match[str], scene: Scene) -> Point | None:
    """In March, over the summer, in Q4."""
    part = part_at(found, scene, None)
    mark = scene.signs[found.end() - 1]
    if part is None or scene.text[mark.end : mark.end + 2] == "'s":
        return None
    return taken(found, calendar=part, needs="nothing" if part.year else "preposition")


def part_at(found: re.Match[str], scene: Scene, year: int | None) -> Calendar | None:
    """The month, season or quarter in the group `part`."""
    mark = scene.signs[found.start("part")]
    match mark.sign, mark.value:
        case Sign.MONTH, int(month):
            name = scene.text[mark.start : mark.end]
            lower = name.lower() in scene.language.capital_months and not name[0].isupper()
            return None if lower else Calendar(year, month)
        case Sign.SEASON, int(season):
            return Calendar(year, 3 * season + 3, months=3)
        case Sign.QUARTER, (int(quarter), own):
            return Calendar(own if isinstance(own, int) else year, 3 * quarter - 2, months=3)
        case (Sign.ORDINAL, int(quarter)) | (Sign.NUMBER, Count(number=quarter, digits=True)):
            following = scene.signs[found.start("part") + 1].value
            right = following == Unit("month", 3) and 1 <= quarter <= 4
            return Calendar(year, 3 * quarter - 2, months=3) if right else None
    return None


def decade(found: re.Match[str], scene: Scene) -> Point | None:
    """The 1990s, the 90s, années 90, 90年代."""
    raw = next(
        mark.value
        for mark in scene.signs[found.start() : found.end()]
        if mark.sign in (Sign.DECADE, Sign.NUMBER, Sign.YEAR)
    )
    decade = raw.number if isinstance(raw, Count) else int(str(raw))
    if decade < 100:
        decade += 1900 if decade >= 30 else 2000
    return taken(found, calendar=Calendar(decade, months=120)) if decade % 10 == 0 and decade >= 1000 else None


def plural_decade(found: re.Match[str], scene: Scene) -> Point | None:
    """Années 90, anni '80, jaren 70: the plural of the year before a round number in digits."""
    unit, count = value_of(found, "unit", scene), scene.signs[found.end() - 1].value
    years = isinstance(unit, Unit) and unit == Unit("year", plural=True)
    tens = isinstance(count, Count) and count.digits and count.number in range(10, 100, 10)
    return decade(found, scene) if years and tens else None


def two_digits_alone(found: re.Match[str], scene: Scene) -> Point | None:
    """ "90s" without an article is a count or an age; "1990s" is not."""
    return decade(found, scene) if len(str(scene.signs[found.start()].value)) == 4 else None


def year(found: re.Match[str], scene: Scene) -> Point | None:
    """The year 2015, 2015年; and 2015 alone, beside a preposition."""
    sure = False
    if len(found.group()) > 1:
        unit = next(mark.value for mark in scene.signs[found.start() : found.end()] if mark.sign is Sign.UNIT)
        if not isinstance(unit, Unit) or unit[:2] != ("year", 1):
            return None
        sure = True
    return taken(found, calendar=Calendar(value_of(found, "year", scene)), needs="nothing" if sure else "preposition")
