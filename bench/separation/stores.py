"""The stores of `separation`: notes, what ended them, and other notes around them.

Each is built twice: `plain`, where what ended a note is just another note, and `linked`, where the tools were called
with the note that it ends. Both hold the same texts with the same dates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

from bench.stage import NOW, PastNote, Stage, rows
from stilltrue.chain import Chain, chains
from stilltrue.note import USER
from stilltrue.text.budget import estimate_tokens
from store.port import Embedder
from tools.revoke import revoke
from tools.supersede import supersede
from tools.support.results import Superseded

Ending = Literal["replaced", "retracted"]
_DAYS = 365.0
_YOUNGEST = 30.0
_MAINTAIN_EVERY = 40


@dataclass(frozen=True, slots=True)
class Change:
    """A note, the text that ended it, and a later request on the topic that repeats neither."""

    user: str
    subject: str
    note: str
    end: str
    query: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The content of one store: two notes for each change, and fillers."""

    changes: tuple[Change, ...]
    fillers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """What a note of the plain store is in the linked one.

    `change` is the number of its change, None for a filler; `ends`: it is the text that ended the note; `chain` and
    `entry` are its chain and note in the linked store.
    """

    change: int | None
    ends: bool
    chain: Chain
    entry: str


@dataclass(frozen=True, slots=True)
class StorePair:
    """The two stores of one plan.

    `origins` maps the notes of the plain store to the linked one. `olds` and `ends` map note ids of the linked store
    to their change; a retraction is not a note there, so `ends` is empty if `revoked`.
    """

    plan: Plan
    plain: Stage
    linked: Stage
    origins: Mapping[str, Origin]
    olds: Mapping[str, int]
    ends: Mapping[str, int]
    revoked: bool


def changes(ending: Ending, folder: Path | None) -> list[Change]:
    """The bundled changes, or those of CarMem if a folder with carmem.jsonl is given."""
    end = "replacement" if ending == "replaced" else "retraction"
    if folder is None:
        return [Change(row["user"], row["user"], row["note"], row[end], row["query"]) for row in rows("separation")]
    # Its users are numbered and talk about themselves, so each note is about "user".
    found = rows("carmem", folder)
    return [Change(row["user"], "user", row["note"], row[end], row["later_request"]) for row in found]


def plans(found: Sequence[Change], size: int, random: Random) -> Iterator[Plan]:
    """Plans of `size` notes: as many whole users as fit, and random fillers for the rest."""
    by_user: dict[str, list[Change]] = {}
    for each in found:
        by_user.setdefault(each.user, []).append(each)
    together: list[Change] = []
    for every in by_user.values():
        if together and 2 * (len(together) + len(every)) > size:
            yield Plan(tuple(together), _fillers(size - 2 * len(together), random))
            together = []
        together += every
    yield Plan(tuple(together), _fillers(size - 2 * len(together), random))


def build(plan: Plan, ending: Ending, folder: Path, embedder: Embedder, seed: int) -> StorePair:
    """Build both stores of the plan, on LanceDB in two folders of `folder`."""
    random = Random(seed)
    born = [random.uniform(_YOUNGEST, _DAYS) for _ in plan.changes]
    ended = [random.uniform(0.0, age) for age in born]
    olds = [PastNote(each.note, age, (each.subject,)) for each, age in zip(plan.changes, born, strict=True)]
    ends = [PastNote(each.end, age, (each.subject,)) for each, age in zip(plan.changes, ended, strict=True)]
    fill = [PastNote(text, random.uniform(0.0, _DAYS)) for text in plan.fillers]
    # The lines of a chain are counted for many variants; caching the counter changes no count.
    counted = cache(estimate_tokens)
    plain, linked = (
        Stage(folder / name, seed, embedder=embedder, count_tokens=counted) for name in ("plain", "linked")
    )
    plain_ids = plain.fill([*olds, *ends, *fill])
    linked_ids = linked.fill([*olds, *fill])
    end_ids = dict(_end(linked, ending, linked_ids, ends))
    plain.store.maintain()
    linked.store.maintain()

    known = {
        note_id: chain
        for record in linked.store.chains(linked_ids)
        for chain in chains(record.events, NOW)
        for note_id in chain.members
    }
    count = len(plan.changes)
    entries = [*linked_ids[:count], *(end_ids[number] for number in range(count)), *linked_ids[count:]]
    origins = {}
    for number, (note_id, entry) in enumerate(zip(plain_ids, entries, strict=True)):
        of = number % count if number < 2 * count else None
        origins[note_id] = Origin(of, count <= number < 2 * count, known[entry], entry)
    revoked = ending == "retracted"
    numbers = {} if revoked else {note_id: number for number, note_id in end_ids.items()}
    olds_of = {note_id: number for number, note_id in enumerate(linked_ids[:count])}
    return StorePair(plan, plain, linked, origins, olds_of, numbers, revoked)


def _end(stage: Stage, ending: Ending, ids: Sequence[str], ends: Sequence[PastNote]) -> Iterator[tuple[int, str]]:
    """End the notes through the tools, each on its day. Yields each number and the note that leads to its end."""
    for turn, number in enumerate(sorted(range(len(ends)), key=lambda each: -ends[each].age_days)):
        stage.now = NOW - timedelta(days=ends[number].age_days)
        if ending == "replaced":
            data = supersede(stage.context, [ids[number]], ends[number].text, source=USER).data
            assert isinstance(data, Superseded)
            yield number, data.id
        else:
            revoke(stage.context, ids[number], ends[number].text)
            yield number, ids[number]
        if turn % _MAINTAIN_EVERY == _MAINTAIN_EVERY - 1:
            stage.store.maintain()
    stage.now = NOW


def _fillers(count: int, random: Random) -> tuple[str, ...]:
    """This many different fillers; if there are too few, pairs of them are combined."""
    single = [str(row["text"]) for row in rows("fillers")]
    if count <= len(single):
        return tuple(random.sample(single, max(count, 0)))
    made = dict.fromkeys(single)
    while len(made) < count:
        made[" ".join(random.sample(single, 2))] = None
    return tuple(made)
