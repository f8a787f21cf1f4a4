"""A log written as text, and what the fold makes of it as text, so that a test shows its whole case.

    A  remembered "tests run with tox" about api
    B  remembered "tests run with nox" updates A because "tox is gone"  @3
    -  revoked B because "it was the proxy"

One event a line: the note's id (or `-`), a verb, then any of

    "words"                  its text; the id if nothing is quoted
    about api, priya         its subjects; `team` by default
    as allergy               its class; `note` by default
    updates A, B             a link to each; also `corrects` and `refines`, as often as needed
    from 3, until 9          the days between which it holds
    because "words"          the reason
    by tom                   the source; `user` by default
    @3                       recorded on day 3; by default, a day after the line before

The verbs are `remembered`, `revoked A`, `reinstated A`, `erased A`, `helped A` and `misled A`. Notes have to be in
the order of their ids. An event that carries no note gets an id that sorts after all lines before it: `B.03`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from stilltrue.chain import Chain, chains
from stilltrue.event import Erased, Event, Outcome, Rated, Reinstated, Remembered, Revoked
from stilltrue.lifecycle import Member, fold
from stilltrue.note import Link, LinkKind, Note
from stilltrue.text.formatting import Formatter

FORMATTER = Formatter(UTC)
"""Formats dates in UTC."""

LATER = 100
"""The day on which a log is folded by default: long after its last line."""

_LINKS = {
    "updates": LinkKind.UPDATE,
    "corrects": LinkKind.CORRECTION,
    "refines": LinkKind.REFINEMENT,
}
_TOKEN = re.compile(r'"(?P<quoted>[^"]*)"|(?P<word>[^\s,"]+),?')


def day(number: float) -> datetime:
    """Midnight (UTC) of that day; day 0 is the first of January 2025."""
    return datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=number)


def log(text: str) -> list[Event]:
    """The events of a log in text, in its order."""
    events: list[Event] = []
    last_note, on = "0", 0.0
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        words = [(found["quoted"], found["word"]) for found in _TOKEN.finditer(line)]
        fields = _read(words)
        on = float(fields["@"][0]) if "@" in fields else on + 1
        name, verb = str(words[0][1]), str(words[1][1])
        if verb == "remembered":
            if name <= last_note:
                raise ValueError(f"line {number}: {name} does not sort after {last_note}")
            last_note = name
            events.append(_remembered(name, on, fields))
        else:
            events.append(_late(f"{last_note}.{number:02}", on, verb, fields))
    gone = {event.note_id for event in events if isinstance(event, Erased)}
    return [_without_words(event) if event.note_id in gone else event for event in events]


def statuses(members: Mapping[str, Member]) -> str:
    """`A superseded, B current`: every note with its status, in log order."""
    return ", ".join(f"{member.id} {member.status}" for member in members.values())


def folded(text: str, on: float = LATER, known: float | None = None) -> str:
    """The statuses of a log in text on that day; with `known`, from what was recorded up to that day alone."""
    return statuses(fold(log(text), day(on), None if known is None else day(known)))


def leads(text: str, on: float = LATER) -> str:
    """What leads each chain, chain by chain: `B | D E contested`. A lead that is not a head has its status added."""
    return " | ".join(_lead(chain) for chain in chains(log(text), day(on)))


def chain_of(text: str, on: float = LATER, known: float | None = None) -> Chain:
    """The one chain of a log in text."""
    (chain,) = chains(log(text), day(on), None if known is None else day(known))
    return chain


def ids(notes: Iterable[Member | str]) -> str:
    """`C A`: the ids in the order given."""
    return " ".join(note if isinstance(note, str) else note.id for note in notes)


def _lead(chain: Chain) -> str:
    heads = [
        note_id if note_id in chain.heads else f"{note_id} ({chain.members[note_id].status})"
        for note_id in chain.lead
    ]
    flags = ["contested"] * chain.contested + ["cyclic"] * chain.cyclic
    return " ".join([*heads, *flags])


def _read(words: list[tuple[str | None, str | None]]) -> dict[str, list[str]]:
    """Each keyword with what follows it."""
    fields: dict[str, list[str]] = {}
    key = "text"
    for quoted, word in words[1:]:
        if quoted is not None:
            fields.setdefault(key, []).append(quoted)
            key = "text"
        elif word is None:
            continue
        elif word.startswith("@"):
            fields["@"] = [word[1:]]
        elif word in {*_LINKS, "about", "as", "from", "until", "because", "by", "attribute"} or word in _VERBS:
            key = word
        else:
            fields.setdefault(key, []).append(word)
    return fields


_VERBS = {"remembered", "revoked", "reinstated", "erased", "helped", "misled"}


def _remembered(name: str, on: float, fields: dict[str, list[str]]) -> Remembered:
    note = Note(
        id=name,
        text=fields.get("remembered", [name])[0],
        subjects=tuple(fields.get("about", ["team"])),
        klass=fields.get("as", ["note"])[0],
        source=fields.get("by", ["user"])[0],
        recorded_at=day(on),
        valid_from=day(float(fields["from"][0])) if "from" in fields else None,
        valid_until=day(float(fields["until"][0])) if "until" in fields else None,
        attribute=fields.get("attribute", [None])[0],
    )
    links = tuple(Link(to, kind) for verb, kind in _LINKS.items() for to in fields.get(verb, ()))
    return Remembered(note, links, fields.get("because", [None])[0])


def _without_words(event: Event) -> Event:
    """Erasing takes the text out of the log itself."""
    if isinstance(event, Remembered):
        return replace(event, note=replace(event.note, text="", cues=()))
    return event


def _late(event_id: str, on: float, verb: str, fields: dict[str, list[str]]) -> Event:
    at, note_id, reason = day(on), fields[verb][0], fields.get("because", [None])[0]
    match verb:
        case "revoked":
            return Revoked(event_id, at, note_id, reason or "it was wrong")
        case "reinstated":
            return Reinstated(event_id, at, note_id, reason)
        case "erased":
            return Erased(event_id, at, note_id)
        case "helped" | "misled":
            return Rated(event_id, at, note_id, Outcome(verb))
    raise ValueError(f"no such verb: {verb}")
