"""Everything that can happen to a memory: a closed union of frozen events, and their form as plain rows.

A row is a flat dict of JSON values. The store keeps rows, `export` writes them, and nothing is lost in them:
`from_row(to_row(event)) == event`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeAlias

from stilltrue.note import Link, LinkKind, Note

Row: TypeAlias = dict[str, Any]


class Outcome(StrEnum):
    """How a note that was delivered turned out."""

    HELPED = "helped"
    MISLED = "misled"


@dataclass(frozen=True, slots=True)
class Remembered:
    """A note was stored, with its links to older notes. `reason` says why it supersedes them, if it does.

    `request_id` is the caller's own name for the request, by which a retry is recognised.
    """

    note: Note
    links: tuple[Link, ...] = ()
    reason: str | None = None
    request_id: str | None = None

    @property
    def id(self) -> str:
        return self.note.id

    @property
    def at(self) -> datetime:
        return self.note.recorded_at

    @property
    def note_id(self) -> str:
        return self.note.id


@dataclass(frozen=True, slots=True)
class Revoked:
    """A note was withdrawn, for a reason."""

    id: str
    at: datetime
    note_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reinstated:
    """A revocation was taken back."""

    id: str
    at: datetime
    note_id: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Erased:
    """A note's text was removed for good. A tombstone without content remains."""

    id: str
    at: datetime
    note_id: str


@dataclass(frozen=True, slots=True)
class Rated:
    """An answer used a note, and the note helped or misled it. A rating moves the note's rank, never its status."""

    id: str
    at: datetime
    note_id: str
    outcome: Outcome


Event: TypeAlias = Remembered | Revoked | Reinstated | Erased | Rated

KINDS = ("remembered", "revoked", "reinstated", "erased", "rated")
"""The kinds of row, as `to_row` names them."""


def to_row(event: Event) -> Row:
    """The event as a flat dict of JSON values. Times are ISO 8601 in UTC; absent values are left out."""
    row: Row = {"id": event.id, "kind": kind_of(event), "at": _iso(event.at), "note": event.note_id}
    match event:
        case Remembered(note=note):
            row |= {
                "text": note.text,
                "subjects": list(note.subjects),
                "klass": note.klass,
                "source": note.source,
                "importance": note.importance,
                "valid_from": _iso(note.valid_from),
                "valid_until": _iso(note.valid_until),
                "attribute": note.attribute,
                "cues": list(note.cues),
                "links": [[link.to, link.kind.value] for link in event.links],
                "reason": event.reason,
                "request": event.request_id,
            }
        case Revoked() | Reinstated():
            row["reason"] = event.reason
        case Rated():
            row["outcome"] = event.outcome.value
        case Erased():
            pass
    return {key: value for key, value in row.items() if value is not None and value != []}


def from_row(row: Row) -> Event:
    """The event of a row. Raises ValueError or KeyError if the row is not one of ours."""
    try:
        return _event(row)
    except TypeError as error:
        raise ValueError(f"a row has a value of the wrong type: {error}") from error


def _event(row: Row) -> Event:
    at = _moment(row["at"])
    match row["kind"]:
        case "remembered":
            note = Note(
                id=row["id"],
                text=row["text"],
                subjects=_strings(row["subjects"]),
                klass=row["klass"],
                source=row["source"],
                recorded_at=at,
                valid_from=_moment(row["valid_from"]) if row.get("valid_from") else None,
                valid_until=_moment(row["valid_until"]) if row.get("valid_until") else None,
                importance=float(row["importance"]),
                attribute=row.get("attribute"),
                cues=_strings(row.get("cues", ())),
            )
            links = tuple(Link(to, LinkKind(kind)) for to, kind in row.get("links", ()))
            return Remembered(note, links, row.get("reason"), row.get("request"))
        case "revoked":
            return Revoked(row["id"], at, row["note"], row["reason"])
        case "reinstated":
            return Reinstated(row["id"], at, row["note"], row.get("reason"))
        case "erased":
            return Erased(row["id"], at, row["note"])
        case "rated":
            return Rated(row["id"], at, row["note"], Outcome(row["outcome"]))
        case other:
            raise ValueError(f"{other!r} is not a kind of event; the kinds are {', '.join(KINDS)}")


def kind_of(event: Event) -> str:
    """The kind as rows name it: `remembered`, `revoked`, ..."""
    return type(event).__name__.lower()


def meant_by(event: Event) -> tuple[str, tuple[str, ...]]:
    """The text of an event that search indexes, empty if it has none, and the cues that are indexed beside it."""
    match event:
        case Remembered(note=note):
            return note.text, note.cues
        case Revoked(reason=reason):
            return reason, ()
        case _:
            return "", ()


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    # A time without an offset cannot be compared with the others: one such row would break every later read.
    if moment.tzinfo is None:
        raise ValueError(f"a time needs an offset from UTC, and {text!r} has none")
    return moment


def _strings(values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError(f"expected a list of strings, not {values!r}")
    return tuple(values)
