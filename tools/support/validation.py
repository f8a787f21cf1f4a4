"""Arguments as an agent sends them, made into what the core takes; or refused, saying what to do."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from typing import Literal

from stilltrue.classes import Classes
from stilltrue.errors import Refused
from stilltrue.note import USER, Note, canonical_subject
from stilltrue.text.formatting import Formatter
from tools.support.context import Limits

AGENT = "agent"
"""The source of a note whose source nobody named."""


def text(raw: str, limits: Limits) -> str:
    """The words of a note: not blank, storable, within the limit. They are kept byte for byte."""
    _storable("text", raw)
    if not raw.strip():
        raise Refused("bad_text", "text is empty.", "Send the statement to remember, one fact in plain words.")
    size = len(raw.encode())
    if size > limits.text_bytes:
        raise Refused(
            "bad_text",
            f"text has {size} bytes; the limit is {limits.text_bytes}.",
            "Remember it as several notes, one fact each, or keep the document elsewhere and remember where.",
        )
    return raw


def phrase(name: str, raw: str | None, limit: int, *, required: bool = False) -> str | None:
    """A short text such as a reason; blank is None unless it is required."""
    if raw is None or not raw.strip():
        if required:
            raise Refused(f"bad_{name}", f"{name} is empty.", f"Say the {name} in a sentence.")
        return None
    _storable(name, raw)
    if len(raw) > limit:
        raise Refused(
            f"bad_{name}", f"{name} has {len(raw)} characters; the limit is {limit}.", f"Shorten the {name}."
        )
    return raw.strip()


def phrases(name: str, raw: Sequence[str] | None, count: int, limit: int) -> tuple[str, ...]:
    """Several short texts, blanks and repetitions left out, in the order given."""
    said = [kept for each in raw or () if (kept := phrase(name, each, limit))]
    if len(said) > count:
        raise Refused(f"bad_{name}", f"{len(said)} {name} were given; the limit is {count}.", "Send fewer.")
    return tuple(dict.fromkeys(said))


def subjects(raw: Sequence[str] | None, limits: Limits) -> tuple[str, ...]:
    """Subjects in their one spelling, each once, in the order given; none where none are named."""
    if raw is not None and len(raw) > limits.subjects:
        raise Refused(
            "bad_subjects",
            f"{len(raw)} subjects were given; the limit is {limits.subjects}.",
            "Name only who or what the statement is about.",
        )
    named = (canonical_subject(each) for each in phrases("subjects", raw, limits.subjects, limits.subject))
    return tuple(dict.fromkeys(name for name in named if name))


def klass(raw: str | None, classes: Classes, default: str) -> str:
    """The name of a known class."""
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
        f"no class is called {_shown(raw)}.",
        f"Use one of: {', '.join(classes)}. {f'The nearest is {known[near[0]]}. ' if near else ''}"
        "A new class is added in the configuration, under [classes.NAME].",
    )


def _spelling(name: str) -> str:
    """A class name without regard to case, spaces, hyphens and underscores."""
    return "_".join(re.split(r"[\s_-]+", name.casefold()))


def importance(raw: float | None) -> float:
    """A number from 0 to 1; 0.5 where none is given."""
    if raw is None:
        return 0.5
    if math.isnan(raw) or not 0.0 <= raw <= 1.0:
        raise Refused(
            "bad_importance",
            f"importance is {raw}; it is a number from 0 to 1.",
            "0.5 is usual, 0.9 is vital.",
        )
    return float(raw)


def note_ids(raw: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """Ids, each once; at least one. Whether such notes exist is for the log to say."""
    said = [each.strip().strip("[]").strip() for each in raw]
    if not said or not all(said):
        what = "a note id is blank." if any(said) else "no note id was given."
        raise Refused("bad_note_ids", what, "Take the 16-character id from recall, as [id].")
    return phrases("note_ids", said, limits.ids, 200)


def request_id(raw: str | None, limits: Limits) -> str | None:
    return phrase("request_id", raw, limits.request)


def source(raw: str | None, limits: Limits) -> str:
    """Who or what said it: `user`, or the words given; `agent` where nothing is said."""
    named = " ".join((phrase("source", raw, limits.source) or AGENT).split())  # in one line, where it is told
    return USER if named.casefold().strip("\"'`.").removeprefix("the ") == USER else named


def session(raw: str | None, limits: Limits) -> str:
    """The name of a conversation; empty where none is given."""
    return phrase("session", raw, limits.session) or ""


def query(raw: str, limits: Limits) -> str:
    _storable("query", raw)
    if not raw.strip():
        raise Refused(
            "bad_query",
            "query is empty.",
            "Ask in plain words, or call constraints to read only the requirements.",
        )
    if len(raw) > limits.query:
        raise Refused(
            "bad_query",
            f"query has {len(raw)} characters; the limit is {limits.query}.",
            "Ask about the matter in a sentence or two.",
        )
    return raw


def budget(raw: int | None, default: int, limits: Limits) -> int:
    if raw is None:
        return default
    if not 0 <= raw <= limits.budget_tokens:
        raise Refused(
            "bad_budget",
            f"budget_tokens is {raw}; it is a number from 0 to {limits.budget_tokens}.",
            f"Leave it out for {default}.",
        )
    return raw


def count(raw: int | None, most: int) -> int:
    """How many chains are wanted, never more than `most`."""
    if raw is not None and raw < 1:
        raise Refused(
            "bad_limit", f"limit is {raw}; at least one memory is expected.", f"Leave it out for up to {most}."
        )
    return most if raw is None else min(raw, most)


def moment(
    name: str, raw: str | None, formatter: Formatter, date_means: Literal["start", "end"] = "start"
) -> datetime | None:
    """A date or a date and time as a moment in UTC; without an offset it is taken in the configured zone.

    A date alone means the start of that day or, with `date_means="end"`, the end of it.
    """
    said = (raw or "").strip()
    if not said:
        return None
    try:
        value = datetime.fromisoformat(said)
        if value.tzinfo is None:
            value = value.replace(tzinfo=formatter.zone)
        # At the ends of the calendar a moment has no date in some zones, and could be stored but never be told.
        if not 1 < value.year < 9998:
            raise Refused(
                f"bad_{name}",
                f"{name} is {_shown(raw)}; a date of the years 2 to 9997 is expected.",
                f"Leave {name} out where there is no bound.",
            )
        if date_means == "end" and _is_date_alone(said):
            value += timedelta(days=1)
        return value.astimezone(UTC)
    except ValueError:
        raise Refused(
            f"bad_{name}",
            f"{name} is {_shown(raw)}, which is no date.",
            "Write it as 2026-03-04 or 2026-03-04T15:30:00+01:00; without an offset it is taken in "
            f"{formatter.zone}.",
        ) from None


def _is_date_alone(said: str) -> bool:
    try:
        date.fromisoformat(said)
    except ValueError:
        return False
    return True


def validity(
    valid_from: str | None, valid_until: str | None, formatter: Formatter
) -> tuple[datetime | None, datetime | None]:
    """The interval in which a statement holds; a date as its end means the end of that day."""
    start = moment("valid_from", valid_from, formatter)
    end = moment("valid_until", valid_until, formatter, "end")
    if start and end and end <= start:
        raise Refused(
            "bad_validity",
            f"valid_until ({formatter.time(end)}) is not after valid_from ({formatter.time(start)}).",
            "Swap them, or leave out the one that does not apply.",
        )
    return start, end


def overlapping(named: Sequence[str], older: Sequence[Note]) -> None:
    """Refused where a linked note shares no subject with an older one: a chain is about somebody."""
    for note in older:
        if set(named).isdisjoint(note.subjects):
            raise Refused(
                "disjoint_subjects",
                f"note [{note.id}] is about {', '.join(note.subjects)}, the new one about {', '.join(named)}.",
                "Name at least one subject of the older note, or remember the new one without a link.",
            )


def _storable(name: str, raw: str) -> None:
    if "\x00" in raw:
        raise Refused(f"bad_{name}", f"{name} holds a NUL character.", "Send it as plain text without NUL.")
    try:
        raw.encode()
    except UnicodeEncodeError:
        raise Refused(
            f"bad_{name}",
            f"{name} holds half of a surrogate pair, which is no character.",
            "Send it as valid Unicode.",
        ) from None


def _shown(raw: object) -> str:
    said = repr(raw)
    return said if len(said) <= 60 else f"{said[:57]}..."
