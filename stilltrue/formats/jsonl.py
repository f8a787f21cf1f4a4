"""A whole log as JSON lines, for `export` and `import`. docs/export-format.md describes the format.

The first line is a header; every further line is an event as a row, see `to_row`, in log order. Reading checks more
than writing needs: a file may have been edited, cut off, or made by another program.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from stilltrue.errors import Refused
from stilltrue.event import KINDS, Erased, Event, Reinstated, Remembered, Revoked, from_row, to_row
from stilltrue.ids import is_id

FORMAT = "stilltrue-log"
VERSION = 1
"""The version of the format that this program writes, and the only one that it reads."""

_ALL = MappingProxyType({"id": str, "kind": str, "at": str, "note": str})
_FIELDS: Mapping[str, Mapping[str, type]] = MappingProxyType(
    {
        "remembered": MappingProxyType(
            {
                "text": str,
                "subjects": list,
                "klass": str,
                "source": str,
                "importance": float,
                "valid_from": str,
                "valid_until": str,
                "attribute": str,
                "cues": list,
                "links": list,
                "reason": str,
                "request": str,
            }
        ),
        "revoked": MappingProxyType({"reason": str}),
        "reinstated": MappingProxyType({"reason": str}),
        "erased": MappingProxyType({}),
        "rated": MappingProxyType({"outcome": str}),
    }
)
"""The fields that a row of each kind may have besides those that all have, and their types."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """An event and the number of its line."""

    line: int
    event: Event


def lines(events: Sequence[Event], at: datetime) -> Iterator[str]:
    """The lines of an export made at that moment, without line ends."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": at.astimezone(UTC).isoformat(timespec="seconds"),
        "events": len(events),
    }
    yield _json(header)
    for event in sorted(events, key=lambda event: event.id):
        yield _json(to_row(event))


def read(content: Iterable[bytes]) -> list[Numbered]:
    """The events of an export, given as its lines, in log order.

    Raises Refused, naming the line, if a line is malformed, an id occurs twice, an erased note still has its text, or
    the number of events is not that of the header. `linked` checks the links.
    """
    numbered = ((number, line) for number, line in enumerate(content, start=1) if line.strip())
    first = next(numbered, None)
    if first is None:
        raise Refused("bad_file", "the file is empty.", "Give a file that `stilltrue export` wrote.")
    expected = _header(*first)
    found = [Numbered(number, _event(number, line)) for number, line in numbered]
    if expected is not None and expected != len(found):
        raise Refused(
            "bad_file",
            f"the header says {expected} events, but the file has {len(found)}.",
            "The file was cut off or edited. Export again, or correct `events` in its first line.",
        )
    _refuse_repeated(found)
    _refuse_half_erased(found)
    return sorted(found, key=lambda each: each.event.id)


def linked(found: Sequence[Numbered], known: Sequence[Event]) -> None:
    """Raises Refused, naming the line, if an event cannot be added to the log `known`.

    That is so if its id is in the log, if it refers to a note that is in neither the file nor the log, if links make
    a cycle or lead to a newer note, if it erases a note whose text is in the store, or if no server could have
    written it after what came before.
    """
    there = {event.id for event in known}
    notes = {event.id: event for event in known if isinstance(event, Remembered)}
    own = {each.event.id: each for each in found if isinstance(each.event, Remembered)}
    for each in found:
        if each.event.id in there:
            raise _refused(each.line, "duplicate_id", f"the id {each.event.id} is in the store already")
    for each in found:
        event = each.event
        targets = [link.to for link in event.links] if isinstance(event, Remembered) else [event.note_id]
        what = "links to" if isinstance(event, Remembered) else "refers to"
        for target in targets:
            if target not in own and target not in notes:
                raise _refused(
                    each.line, "unknown_note", f"it {what} note {target}, which is in neither the file nor the store"
                )
            if target >= event.id:
                raise _refused(each.line, "cycle", _backwards(event.id, target, what, own))
        if isinstance(event, Erased) and event.note_id in notes and notes[event.note_id].note.text:
            raise _refused(
                each.line, "half_erased", f"it erases note {event.note_id}, whose text is in the store",
                f"Run `stilltrue erase {event.note_id}` first.",
            )  # fmt: skip
    _refuse_impossible(found, known)


def _refuse_impossible(found: Iterable[Numbered], known: Iterable[Event]) -> None:
    """Raises Refused if file and log together make a log that no server writes.

    No server revokes a note that is revoked, reinstates one that is not, or does either to one that is erased. It may
    rate an erased note: `feedback` accepts that. The line to blame is that of the event itself. If that event is in
    the store, it is the last line before it that refers to the same note.
    """
    decisive = (Revoked, Reinstated, Erased)
    lines = {each.event.id: each.line for each in found if isinstance(each.event, decisive)}
    events = [each.event for each in found if each.event.id in lines]
    notes = {event.note_id for event in events}
    events += [event for event in known if isinstance(event, decisive) and event.note_id in notes]
    revoked: set[str] = set()
    erased: set[str] = set()
    last: dict[str, int] = {}
    for event in sorted(events, key=lambda event: event.id):
        note_id = event.note_id
        last |= {note_id: lines[event.id]} if event.id in lines else {}
        problem = _impossible(event, note_id in revoked, note_id in erased)
        if problem and note_id in last:
            what = "it" if event.id in lines else f"with it, event {event.id} of the store"
            raise _refused(last[note_id], "illegal_step", f"{what} {problem}")
        match event:
            case Revoked():
                revoked.add(note_id)
            case Reinstated():
                revoked.discard(note_id)
            case Erased():
                erased.add(note_id)


def _impossible(event: Event, revoked: bool, erased: bool) -> str:
    """Why no server writes this event on a note that is revoked, erased, both or neither; empty where it could."""
    match event:
        case Revoked() if revoked or erased:
            return f"revokes note {event.note_id}, which is {'erased' if erased else 'revoked already'}"
        case Reinstated() if erased or not revoked:
            return f"reinstates note {event.note_id}, which is {'erased' if erased else 'not revoked'}"
    return ""


def _backwards(event_id: str, target: str, what: str, own: Mapping[str, Numbered]) -> str:
    """Why an event may not refer to `target`: it closes a cycle, or it is simply the older of the two."""
    path, frontier = {target: [target]}, [target]
    while frontier:
        note_id = frontier.pop()
        event = own[note_id].event if note_id in own else None
        for link in event.links if isinstance(event, Remembered) else ():
            if link.to not in path:
                path[link.to] = [*path[note_id], link.to]
                frontier.append(link.to)
    if event_id in path:
        return f"its links make a cycle: {' -> '.join(dict.fromkeys([event_id, *path[event_id]]))} -> {event_id}"
    return f"it {what} note {target}, which is newer; events refer to older notes only, and ids sort by age"


def _header(number: int, line: bytes) -> int | None:
    header = _object(number, line)
    if header.get("format") != FORMAT:
        raise _refused(number, "bad_file", f'the first line has to contain "format": "{FORMAT}"')
    version = header.get("version")
    if version != VERSION:
        raise _refused(
            number,
            "bad_file",
            f"the format has version {version!r}, and this program reads version {VERSION}",
            "Import it with the version of stilltrue that wrote it, or a newer one.",
        )
    events = header.get("events")
    if events is not None and (type(events) is not int or events < 0):
        raise _refused(number, "bad_file", f"`events` is {events!r}; it has to be the number of events")
    return events


def _event(number: int, line: bytes) -> Event:
    row = _object(number, line)
    kind = row.get("kind")
    if kind not in KINDS:
        raise _refused(number, "bad_line", f"{kind!r} is not a kind of event; the kinds are {', '.join(KINDS)}")
    allowed = {**_ALL, **_FIELDS[kind]}
    for name, value in row.items():
        if name not in allowed:
            raise _refused(number, "bad_line", f"a {kind} event has no field {name!r}")
        wanted = (int, float) if allowed[name] is float else allowed[name]
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise _refused(number, "bad_line", f"{name} is {_shown(value)}; it has to be a {allowed[name].__name__}")
    for name in ("subjects", "cues"):
        if not all(isinstance(each, str) for each in row.get(name, ())):
            raise _refused(number, "bad_line", f"{name} has to be a list of strings")
    try:
        event = from_row(row)
    except KeyError as missing:
        raise _refused(number, "bad_line", f"the field {missing.args[0]!r} is missing") from missing
    except (ValueError, OverflowError) as error:
        raise _refused(number, "bad_line", str(error)) from error
    if isinstance(event, Remembered) and row.get("note", event.id) != event.id:
        raise _refused(
            number, "bad_line", f"`note` is {_shown(row['note'])}; it has to be the note's own id {event.id}"
        )
    return _checked(number, event)


def _checked(number: int, event: Event) -> Event:
    for each in (event.id, event.note_id):
        if not is_id(each):
            raise _refused(number, "bad_line", f"{_shown(each)} is not an id: 16 lower-case letters and digits")
    if isinstance(event, Remembered):
        note = event.note
        if not 0.0 <= note.importance <= 1.0:
            raise _refused(number, "bad_line", f"importance is {note.importance}; it has to be from 0 to 1")
        if not note.subjects:
            raise _refused(number, "bad_line", "subjects is empty; a note needs at least one")
        if note.valid_from and note.valid_until and note.valid_until <= note.valid_from:
            raise _refused(number, "bad_line", "valid_until is not after valid_from")
    try:
        _json(to_row(event)).encode()
    except UnicodeEncodeError as error:
        raise _refused(
            number, "bad_line", "it contains half of a surrogate pair, which is not a character"
        ) from error
    return event


def _object(number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _refused(number, "bad_line", f"it is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _refused(number, "bad_line", f"it has to be a JSON object, not {_shown(value)}")
    return value


def _refuse_repeated(found: Iterable[Numbered]) -> None:
    at: dict[str, int] = {}
    for each in found:
        if each.event.id in at:
            raise _refused(
                each.line, "duplicate_id", f"the id {each.event.id} is on line {at[each.event.id]} already"
            )
        at[each.event.id] = each.line


def _refuse_half_erased(found: Iterable[Numbered]) -> None:
    """An erased note has no text, and a note without text has been erased."""
    gone = {each.event.note_id for each in found if isinstance(each.event, Erased)}
    for each in found:
        if isinstance(each.event, Remembered):
            note = each.event.note
            if note.id in gone and (note.text or note.cues):
                raise _refused(each.line, "half_erased", f"note {note.id} is erased, but still has its text or cues")
            if note.id not in gone and not note.text:
                raise _refused(each.line, "bad_line", "its text is empty, but no event in the file erases it")


def _refused(line: int, code: str, what: str, hint: str = "") -> Refused:
    return Refused(code, f"line {line}: {what}.", hint or "Nothing was imported. Correct that line and import again.")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _json(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
