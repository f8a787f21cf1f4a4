"""Arithmetic of the calendar: named times as spans, and steps back from a day. All in the zone of `today`."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from stilltrue.retrieval.temporal.intent import Span
from stilltrue.retrieval.temporal.language import UnitName


@dataclass(frozen=True, slots=True)
class Calendar:
    """A place in the calendar: a year, a month or a day, or `months` of them; the year may be left open."""

    year: int | None
    month: int | None = None
    day: int | None = None
    months: int | None = None

    def exists(self) -> bool:
        """Whether the calendar has it. 29 February without a year has a year to be in."""
        year = 2000 if self.year is None else self.year
        try:
            date(year, 1 if self.month is None else self.month, 1 if self.day is None else self.day)
        except ValueError:
            return False
        return True

    def span(self, today: datetime, year: int | None = None) -> Span | None:
        """When it is; `year`, or this one, stands in where it is open. None where the calendar has no such thing."""
        try:
            own = today.year if year is None else year
            start = today.replace(year=self.year or own, month=self.month or 1, day=self.day or 1)
            if self.day is not None:
                return start, start + timedelta(days=1)
            return start, back(start, -(self.months or (12 if self.month is None else 1)), "month")
        except (ValueError, OverflowError):
            return None

    def latest(self, today: datetime, *, over: bool = False) -> Span | None:
        """The latest that has begun, or that is over, by the start of `today`; its own year where it has one."""
        if self.year is not None:
            return self.span(today)
        for year in range(today.year, max(today.year - 9, 1), -1):  # nine years back hold a 29 February
            found = self.span(today, year)
            if found and (found[1] <= today if over else found[0] <= today):
                return found
        return None


def midnight(now: datetime) -> datetime:
    """The start of the day."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def whole(today: datetime, unit: UnitName, offset: int, times: int = 1) -> Span | None:
    """The day, week, month, quarter, year or decade that is `offset` of them from today's. Weeks start on Monday."""
    try:
        if unit in ("day", "week"):
            first = today - timedelta(days=today.weekday()) if unit == "week" else today
            days = 7 * times if unit == "week" else times
            return first + timedelta(days=offset * days), first + timedelta(days=(offset + 1) * days)
        if unit == "month":
            first = today.replace(month=(today.month - 1) // times * times + 1, day=1)
        else:
            first = today.replace(year=max(today.year // times * times, 1), month=1, day=1)
        return back(first, -offset * times, unit), back(first, -(offset + 1) * times, unit)
    except (ValueError, OverflowError):
        return None


def weekday(today: datetime, number: int, *, over: bool) -> Span:
    """The latest such day, today included unless it has to be over."""
    days = (today.weekday() - number) % 7 or (7 if over else 0)
    start = today - timedelta(days=days)
    return start, start + timedelta(days=1)


def weekend(today: datetime, *, over: bool) -> Span:
    """The latest Saturday and Sunday that have begun, or that are over."""
    start, _ = weekday(today, 5, over=False)
    if over and start + timedelta(days=2) > today:
        start -= timedelta(days=7)
    return start, start + timedelta(days=2)


def back(moment: datetime, count: int, unit: UnitName) -> datetime:
    """The moment so many units before. The last day of a month stands in for one that the month does not have."""
    if unit in ("day", "week"):
        return moment - timedelta(days=count * (7 if unit == "week" else 1))
    year, month = divmod(moment.year * 12 + moment.month - 1 - count * (12 if unit == "year" else 1), 12)
    if not 1 <= year <= 9999:
        raise ValueError(f"year {year} is out of range")
    return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))
