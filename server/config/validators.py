"""Checks for the values of settings, each with its description for messages and docs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from stilltrue.note import canonical_subject


@dataclass(frozen=True, slots=True)
class Check:
    """A check: the type, a description of valid values, the test, and a function that normalizes a value."""

    kind: type
    wanted: str
    holds: Callable[[Any], bool]
    tidy: Callable[[Any], Any] = lambda value: value


def number(low: float, high: float) -> Check:
    """A number between two bounds, both included. NaN is refused."""
    return Check(float, f"a number from {low:.7g} to {high:.7g}", lambda value: low <= value <= high)


def whole(low: int, high: int) -> Check:
    """A whole number between two bounds, both included."""
    return Check(int, f"a whole number from {low} to {high}", lambda value: low <= value <= high)


def one_of(*words: str) -> Check:
    """One of these words, in upper or lower case."""
    return Check(str, f"one of {', '.join(words)}", lambda value: value in words, str.lower)


def zone_of(name: str) -> tzinfo | None:
    """The zone of an IANA name, or None. UTC works without the time zone database, which some machines lack."""
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, an absolute path, or a folder of zones
        return None


def is_folder(text: str) -> bool:
    """Whether this could be the path of a folder. It need not exist."""
    try:
        return "://" not in text and "\0" not in text and bool(Path(text).expanduser())
    except RuntimeError:  # "~name" of an unknown user
        return False


def is_remote(text: str) -> bool:
    """Whether a location is a URI instead of a folder."""
    return "://" in text


def is_location(text: str) -> bool:
    """Whether this is a valid location of a store."""
    return is_folder(text) or re.fullmatch(r"s3://[a-z0-9][\w.-]*(/[^\s?#]+)*|db://[\w-]+", text) is not None


def tidy_location(text: str) -> str:
    """A remote location without a trailing slash; a folder unchanged."""
    return text.rstrip("/") if is_remote(text) else text


def listed(text: str) -> tuple[str, ...]:
    """The parts of a comma-separated list."""
    return tuple(part for each in text.split(",") if (part := each.strip()))


SWITCH = Check(bool, "true or false", lambda value: True)
NAME = Check(str, "text of 1 to 200 characters", lambda value: 0 < len(value) <= 200 and value.isprintable())
SUBJECT = Check(NAME.kind, NAME.wanted, NAME.holds, canonical_subject)
FOLDER = Check(str, "a folder on this machine", is_folder)
LOCATION = Check(str, "a folder on this machine, s3://BUCKET/PREFIX or db://NAME", is_location, tidy_location)
URL = Check(
    str,
    "a URL such as https://storage.example.com, or empty",
    lambda value: not value or re.fullmatch(r"https?://[\w.\[\]:-]+(/\S*)?", value) is not None,
)
REGION = Check(str, "a region name, or empty", lambda value: re.fullmatch(r"[\w-]{0,64}", value) is not None)
ZONE = Check(str, "an IANA time zone such as UTC or Europe/Berlin", lambda value: zone_of(value) is not None)
DAYS = Check(float, "a number of days above 0, or inf", lambda value: value > 0)
HOSTS = Check(
    str,
    "host names separated by commas, such as mem.example.com",
    lambda value: all(re.fullmatch(r"[\w.-]+(:\d+)?|\[[\da-fA-F:]+\](:\d+)?", each) for each in listed(value)),
)
ORIGINS = Check(
    str,
    "origins separated by commas, such as https://app.example.com",
    lambda value: all(re.fullmatch(r"https?://[\w.\[\]:-]+", each) for each in listed(value)),
)
TENANT = Check(
    str,
    "1 to 40 lower-case letters, digits, - and _, beginning with a letter or digit",
    lambda value: re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", value) is not None,
)
CLASS_NAME = Check(
    str,
    "1 to 40 lower-case letters, digits and underscores",
    lambda value: re.fullmatch(r"[a-z0-9_]{1,40}", value) is not None,
)
