"""How words and times of others are set into our lines, so that no word of a note can pass for ours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo


@dataclass(frozen=True, slots=True)
class Formatter:
    """How times are told: dates in `zone`."""

    zone: tzinfo

    def day(self, moment: datetime) -> str:
        """The date, as 2026-03-04."""
        return moment.astimezone(self.zone).date().isoformat()

    def last_day(self, end: datetime) -> str:
        """The last day before `end`, as 2026-03-04: what ends at midnight holds through the day before."""
        return self.day(end - timedelta(microseconds=1))

    def time(self, moment: datetime) -> str:
        """Date, time and offset, to the second."""
        return moment.astimezone(self.zone).isoformat(timespec="seconds")


def indented(text: str) -> str:
    """The words of a note or a reason, with every further line pushed in, so that none can pass for ours."""
    return "\n      ".join(text.splitlines())


def inline(text: str) -> str:
    """A name or a word from outside on one line, so that it cannot start one either."""
    return " ".join(text.split())
