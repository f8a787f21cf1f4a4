"""Ids: sixteen letters and digits that sort by the time of recording.

Ten characters of Crockford's base 32 hold the milliseconds since 1970; six more hold 30 random bits. Time and
randomness are passed in as arguments. Within a chain the order of ids is the order of the log, even if a clock jumps
back: `stamp` never goes behind the event that it follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 16
ENTROPY_BITS = 30
_TICK = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stamp:
    """When an event was recorded (UTC, whole milliseconds) and the id that says so."""

    id: str
    at: datetime


def stamp(now: datetime, entropy: int, after: datetime | None = None) -> Stamp:
    """A stamp at `now`, or one millisecond later than `after` if the clock has not passed that yet.

    `entropy` is any non-negative integer; its lowest 30 bits are used.
    """
    at = _whole_milliseconds(now)
    if after is not None and at <= after:
        at = _whole_milliseconds(after) + _TICK
    milliseconds = (at - _EPOCH) // _TICK
    number = (milliseconds << ENTROPY_BITS) | (entropy & ((1 << ENTROPY_BITS) - 1))
    return Stamp("".join(ALPHABET[(number >> shift) & 31] for shift in range(5 * (LENGTH - 1), -1, -5)), at)


def time_of(event_id: str) -> datetime:
    """The moment that an id holds (UTC, whole milliseconds). Raises ValueError where it is no id."""
    if not is_id(event_id):
        raise ValueError(f"{event_id!r} is not an id: {LENGTH} characters of {ALPHABET} are expected")
    number = 0
    for character in event_id:
        number = number << 5 | ALPHABET.index(character)
    return _EPOCH + (number >> ENTROPY_BITS) * _TICK


def is_id(text: str) -> bool:
    """Whether `text` has the form of an id, whether or not there is such a note."""
    return len(text) == LENGTH and all(character in ALPHABET for character in text)


def _whole_milliseconds(moment: datetime) -> datetime:
    moment = moment.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
