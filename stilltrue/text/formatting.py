"""How times and stored text are put into lines, so that no text of a note can pass for the server's own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo


@dataclass(frozen=True, slots=True)
class Formatter:
    """Formats times in `zone`."""

    zone: tzinfo

    def day(self, moment: datetime) -> str:
        """The date, as 2026-03-04."""
        return moment.astimezone(self.zone).date().isoformat()

    def time(self, moment: datetime) -> str:
        """Date, time and offset, to the second."""
        return moment.astimezone(self.zone).isoformat(timespec="seconds")


def indented(text: str) -> str:
    """The text of a note or a reason, with every line after the first indented, so that none can pass for ours."""
    return "\n      ".join(text.splitlines())


def inline(text: str) -> str:
    """A name or other stored text on one line, so that it cannot start a line either."""
    return " ".join(text.split())
