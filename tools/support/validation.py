"""Turn the arguments that an agent sends into what the core takes, or refuse them and say what to do."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Literal

from stilltrue.classes import Classes
from stilltrue.errors import Refused
from stilltrue.note import USER, Note, canonical_subject
from stilltrue.retrieval.temporal import given as given_time
from stilltrue.text.formatting import Formatter
from tools.support.context import Limits

AGENT = "agent"
"""The source of a note if none is given."""


def text(raw: str, limits: Limits) -> str:
    """The text of a note, unchanged. Refused if it is blank, cannot be stored, or is above the limit."""
    _storable("text", raw)
    if not raw.strip():
        raise Refused("bad_text", "text is empty.", "Send the statement to remember, one fact in plain words.")
    size = len(raw.encode())
    if size > limits.text_bytes:
        raise Refused(
            "bad_text",
            f"text has {size} bytes; the limit is {limits.text_bytes}.",
            "Split it into several notes, one fact each, or keep the document elsewhere and remember where it is.",
        )
    return raw


def phrase(name: str, raw: str | None, limit: int, *, required: bool = False) -> str | None:
    """A short text such as a reason, stripped; None if it is blank and not `required`."""
    if raw is None or not raw.strip():
        if required:
            raise Refused(f"bad_{name}", f"{name} is empty.", f"Give the {name} in a sentence.")
        return None
    _storable(name, raw)
    if len(raw) > limit:
        raise Refused(
            f"bad_{name}", f"{name} has {len(raw)} characters; the limit is {limit}.", f"Shorten the {name}."
        )
    return raw.strip()


def phrases(name: str, raw: Sequence[str] | None, count: int, limit: int) -> tuple[str, ...]:
    """Several short texts in the order given, without blanks and repetitions."""
    given = [text for each in raw or () if (text := phrase(name, each, limit))]
    if len(given) > count:
        raise Refused(f"bad_{name}", f"{len(given)} {name} were given; the limit is {count}.", "Send fewer.")
    return tuple(dict.fromkeys(given))


def subjects(raw: Sequence[str] | None, limits: Limits) -> tuple[str, ...]:
    """The subjects in their canonical spelling, each once, in the order given."""
    if raw is not None and len(raw) > limits.subjects:
        raise Refused(
            "bad_subjects",
            f"{len(raw)} subjects were given; the limit is {limits.subjects}.",
            "Name only who or what the statement is about.",
        )
    named = (canonical_subject(each) for each in phrases("subjects", raw, limits.subjects, limits.subject))
    return tuple(dict.fromkeys(name for name in named if name))


def klass(raw: str | None, classes: Classes, default: str) -> str:
    """The name of a known class; `default` if none is given. Spelling and plural do not matter."""
    said = (raw or "").strip().casefold()
    if not said or said in classes:
        return said or default
    known = {_spelling(name): name for name in classes}
    name = _spelling(said)
    for guess in (name, name.removesuffix("s"), f"{name.removesuffix('ies')}y"):
        if guess in known:
            return known[guess]
    near = get_close_matches(name, known, 1, 0.6)
    raise Refused(
        "unknown_class",
        f"no class is called {_excerpt(raw)}.",
        f"Use one of: {', '.join(classes)}. {f'The closest is {known[near[0]]}. ' if near else ''}"
        "New classes are added in the configuration, under [classes.NAME].",
    )


def _spelling(name: str) -> str:
    """A class name without regard to case, spaces, hyphens and underscores."""
    return "_".join(re.split(r"[\s_-]+", name.casefold()))


def importance(raw: float | None) -> float:
    """A number from 0 to 1; 0.5 if none is given."""
    if raw is None:
        return 0.5
    if math.isnan(raw) or not 0.0 <= raw <= 1.0:
        raise Refused(
            "bad_importance",
            f"importance is {raw}; a number from 0 to 1 is expected.",
            "0.5 is usual, 0.9 is vital.",
        )
    return float(raw)


def note_ids(raw: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """At least one id, each once. Whether such notes exist is not checked here."""
    given = [each.strip().strip("[]").strip() for each in raw]
    if not given or not all(given):
        what = "a note id is blank." if any(given) else "no note id was given."
        raise Refused("bad_note_ids", what, "Copy the 16-character id from an answer of recall, where it is [id].")
    return phrases("note_ids", given, limits.ids, 200)


def request_id(raw: str | None, limits: Limits) -> str | None:
    """The caller's own key of a call; None if it is blank."""
    return phrase("request_id", raw, limits.request)


def source(raw: str | None, limits: Limits) -> str:
    """Who or what said it, on one line; `user` in its one spelling, `agent` if nothing is given."""
    named = " ".join((phrase("source", raw, limits.source) or AGENT).split())
    return USER if named.casefold().strip("\"'`.").removeprefix("the ") == USER else named


def session(raw: str | None, limits: Limits) -> str:
    """The name of a conversation; empty if none is given."""
    return phrase("session", raw, limits.session) or ""


def query(raw: str, limits: Limits) -> str:
    """The words of a query, unchanged. Refused if it is blank or above the limit."""
    _storable("query", raw)
    if not raw.strip():
        raise Refused(
            "bad_query",
            "query is empty.",
            "Ask in plain words. To read only the requirements, call constraints.",
        )
    if len(raw) > limits.query:
        raise Refused(
            "bad_query",
            f"query has {len(raw)} characters; the limit is {limits.query}.",
            "Ask in a sentence or two.",
        )
    return raw


def budget(raw: int | None, default: int, limits: Limits) -> int:
    """A number of tokens; `default` if none is given."""
    if raw is None:
        return default
    if not 0 <= raw <= limits.budget_tokens:
        raise Refused(
            "bad_budget",
            f"budget_tokens is {raw}; a number from 0 to {limits.budget_tokens} is expected.",
            f"Leave it out for the default, {default}.",
        )
    return raw


def count(raw: int | None, most: int) -> int:
    """The maximum number of chains, never above `most`."""
    if raw is not None and raw < 1:
        raise Refused(
            "bad_limit", f"limit is {raw}; at least 1 is expected.", f"Leave it out for the default, {most}."
        )
    return most if raw is None else min(raw, most)


def moment(
    name: str,
    raw: str | None,
    formatter: Formatter,
    now: datetime,
    date_means: Literal["start", "end", "last"] = "start",
) -> datetime | None:
    """A date, a time, or a word such as "yesterday", as a moment in UTC; without an offset, in the configured zone.

    A day, month or year means its start or, by `date_means`, the moment at which it is over ("end") or the last one
    in it ("last").
    """
    written = (raw or "").strip()
    if not written:
        return None
    try:
        # At the ends of the calendar a moment has no date in some zones, and could be stored but never shown.
        start, end = given_time.read(written, now.astimezone(formatter.zone))
        if not (1 < start.year < 9998 and 1 < end.year < 9999):
            raise Refused(
                f"bad_{name}",
                f"{name} is {_excerpt(raw)}; a date in the years 2 to 9997 is expected.",
                f"Leave {name} out if there is no bound.",
            )
        if date_means == "last" and end > start:
            end -= timedelta(microseconds=1)
        return (start if date_means == "start" else end).astimezone(UTC)
    except given_time.Ambiguous as two:
        raise Refused(
            f"bad_{name}",
            f"{name} is {_excerpt(raw)}, which is {two.day_first} or {two.month_first}.",
            "Write the year first, as one of those two.",
        ) from None
    except ValueError:
        raise Refused(
            f"bad_{name}",
            f"{name} is {_excerpt(raw)}, which is not a date.",
            "Write it as 2026-03-04 or 2026-03-04T15:30:00+01:00, as a month (2026-03), a year (2026), yesterday, "
            f"today or tomorrow; without an offset it is taken in {formatter.zone}.",
        ) from None


def validity(
    valid_from: str | None, valid_until: str | None, formatter: Formatter, now: datetime
) -> tuple[datetime | None, datetime | None]:
    """The interval in which a statement holds. A day, month or year as its end is included."""
    if (valid_until or "").strip().casefold() == "now":
        raise Refused(
            "bad_valid_until",
            f"valid_until is {_excerpt(valid_until)}: the note would be over at once.",
            "Give the last day on which it holds, or leave valid_until out.",
        )
    start = moment("valid_from", valid_from, formatter, now)
    end = moment("valid_until", valid_until, formatter, now, "end")
    if start and end and end <= start:
        raise Refused(
            "bad_validity",
            f"valid_until ({formatter.time(end)}) is not after valid_from ({formatter.time(start)}).",
            "Swap them, or leave one out.",
        )
    return start, end


def overlapping(named: Sequence[str], older: Sequence[Note]) -> None:
    """Refused if a linked note shares no subject with an older one: the two would not belong in one chain."""
    for note in older:
        if set(named).isdisjoint(note.subjects):
            raise Refused(
                "disjoint_subjects",
                f"note [{note.id}] is about {', '.join(note.subjects)}, the new one is about {', '.join(named)}.",
                "Name at least one subject of the older note, or remember the new one without a link.",
            )


def _storable(name: str, raw: str) -> None:
    if "\x00" in raw:
        raise Refused(f"bad_{name}", f"{name} contains a NUL character.", "Send plain text without NUL.")
    try:
        raw.encode()
    except UnicodeEncodeError:
        raise Refused(
            f"bad_{name}",
            f"{name} contains half of a surrogate pair, which is not a character.",
            "Send valid Unicode.",
        ) from None


def _excerpt(raw: object) -> str:
    written = repr(raw)
    return written if len(written) <= 60 else f"{written[:57]}..."
