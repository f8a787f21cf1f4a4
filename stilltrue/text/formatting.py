"""How times and stored text are put into lines, so that no text of a note can pass for the server's own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo


@dataclass(frozen=True, slots=True)
class Formatter:
    """Formats times in `zone`."""

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


_AMBIGUOUS = re.compile(
    r"[\[\]\u201c\u201d]|\s-\s|^[!*=(|\s-]|\s$"
    r"|^(?:[A-Z]{2,}.*|no longer true|also holds|since then|not a requirement):",
    re.DOTALL,
)
"""Text that, shown bare, could be read as one of our marks, ids, remarks or headings."""

_PLAIN_NAME = re.compile(r"\w[\w:/.@#+&'-]*(?: [\w:/.@#+&'-]+){0,5}")
_NAME_LENGTH = 80
_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""The Unicode categories of what is not shown: controls, directions, zero widths, tags, line separators."""
_JOINERS = "\u200c\u200d"


def stated(text: str) -> str:
    """The text of a note: bare where it cannot be read as anything of ours, else in curly quotes.

    Inside the quotes there is no curly quote, and each further line begins with a bar, six spaces in. So no stored
    text can begin a line, close its quote, or be taken for an id, a mark or a remark.
    """
    lines = [visible(line) for line in text.splitlines()]
    if not lines or (len(lines) == 1 and not _AMBIGUOUS.search(lines[0])):
        return "".join(lines)
    inner = "\n      | ".join(lines).replace("\u201c", '"').replace("\u201d", '"')
    return f"\u201c{inner}\u201d"


def because(reason: str) -> str:
    """A reason, on one line and in quotes that it cannot close."""
    return '"' + inline(reason).replace('"', "'") + '"'


def name(text: str) -> str:
    """A subject, a source or a class: bare where it is a plain name, else quoted as a text is, and on one line."""
    shown = inline(text)
    plain = len(shown) <= _NAME_LENGTH and _PLAIN_NAME.fullmatch(shown) and ". " not in shown and ": " not in shown
    return shown if plain else "\u201c" + shown.replace("\u201c", '"').replace("\u201d", '"') + "\u201d"


def names(texts: Iterable[str]) -> str:
    """Names with commas between them."""
    return ", ".join(map(name, texts))


def indented(text: str) -> str:
    """A notice of ours, with every line after the first indented."""
    return "\n      ".join(visible(line) for line in text.splitlines())


def inline(text: str) -> str:
    """Stored text on one line, so that it cannot start a line either."""
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    """The text with every character that is not shown written out, as <U+202E>.

    A joiner between two characters of other scripts than ASCII is left: emoji and Persian words are made with it.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"<U+{ord(each):04X}>" if unicodedata.category(each) in _HIDDEN and not _joins(text, at) else each
        for at, each in enumerate(text)
    )


def _joins(text: str, at: int) -> bool:
    around = text[at - 1 : at] + text[at + 1 : at + 2]
    return text[at] in _JOINERS and len(around) == 2 and all(ord(each) > 127 for each in around)
