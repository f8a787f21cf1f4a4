"""The sets of `retrieval`: stores filled with notes, and questions with the notes that answer them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from random import Random
from typing import Any, TypeAlias, cast

from bench.stage import NOW, Said, Stage, rows
from stilltrue.classes import DEFAULT_CLASS, Classes, MemoryClass
from store.memory import EphemeralUsage
from store.port import Embedder, Store, Usage
from tools.support.context import ToolContext

DATA_FILES = ("locomo_turns", "locomo_questions", "prefeval")
DEV, TEST = "dev", "test"
_DAY = timedelta(days=1)
_APPENDS = 20
_TURNS = 6
_NEW_DAYS = 90.0
_OLD_DAYS = 418.0
_POOLS = (40, 100)
_HALF_LIFE_DAYS = 180.0
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of which store, about whom, and the ids of the notes that answer it. `half` is dev or test.

    `ageing` is the context of the same store under which plain notes age, where that is to be measured too.
    """

    context: ToolContext
    text: str
    subjects: tuple[str, ...]
    wanted: frozenset[str]
    half: str = ""
    ageing: ToolContext | None = None


Sets: TypeAlias = dict[str, list[Question]]
Build: TypeAlias = Callable[[Path, Embedder, int], Sets]


class Unread:
    """A store in which nothing counts as read, so that no question bears on the ones after it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def usage(self) -> Usage:
        """Counts that are zero."""
        return EphemeralUsage()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def texts_of(data: Path) -> list[str]:
    """Every text of the sets in a folder."""
    said = [_turn(row) for row in rows("locomo_turns", data)]
    said += [row["question"] for row in rows("locomo_questions", data)]
    return said + [row[name] for row in rows("prefeval", data) for name in ("preference", "question")]


def probe(*, fillers: bool) -> Build:
    """Questions that share no content word with their answer, over all answers and distractors; and with fillers."""

    def build(folder: Path, embedder: Embedder, seed: int) -> Sets:
        cases = rows("probe")
        said = [row["note"] for row in cases] + [text for row in cases for text in row["distractors"]]
        said += [row["text"] for row in rows("fillers")] if fillers else []
        context, ids = filled(folder / "probe", [Said(text) for text in said], embedder, seed)
        found = [Question(context, row["query"], (), frozenset({ids[number]})) for number, row in enumerate(cases)]
        return {"probe_and_fillers" if fillers else "probe": found}

    return build


def cues(folder: Path, embedder: Embedder, seed: int) -> Sets:
    """Implicit needs: each in a pool of 100 drawn for it, and among all; with the cues of the notes, and without."""
    cases = rows("cues")
    random = Random(seed)
    others = [row["note"] for row in cases] + [row["text"] for row in rows("fillers")]
    pools: list[set[str]] = [{"all"} for _ in others]
    for number, row in enumerate(cases):
        apart = [position for position in range(len(others)) if position != number]
        for position in (number, *random.sample(apart, 99)):
            pools[position].add(row["id"])
    sets: Sets = {}
    for suffix, cued in (("", True), ("_without", False)):
        said = [
            Said(
                text, subjects=tuple(sorted(pool)), cues=tuple(cases[at]["cues"]) if cued and at < len(cases) else ()
            )
            for at, (text, pool) in enumerate(zip(others, pools, strict=True))
        ]
        context, ids = filled(folder / f"cues{suffix}", said, embedder, seed)
        for name, subject in (("100", ""), ("all", "all")):
            sets[f"cues_{name}{suffix}"] = [
                Question(context, row["query"], (subject or row["id"],), frozenset({ids[number]}))
                for number, row in enumerate(cases)
            ]
    return sets


def locomo(data: Path, *, apart: bool) -> Build:
    """Turns of ten conversations, as subjects of one store or in a store each; questions with their evidence.

    Categories 1 to 4, of which the evidence can be found. Every second conversation by name is dev, from the first.
    """

    def build(folder: Path, embedder: Embedder, seed: int) -> Sets:
        turns = rows("locomo_turns", data)
        names = sorted({row["conversation"] for row in turns})
        halves = {name: TEST if number % 2 else DEV for number, name in enumerate(names)}
        ids: dict[tuple[str, str], str] = {}
        contexts: dict[str, ToolContext] = {}
        for group in [[name] for name in names] if apart else [names]:
            there = [row for row in turns if row["conversation"] in group]
            said = [Said(_turn(row), _age_days(row["date"]), (row["conversation"],)) for row in there]
            context, made = filled(folder / group[0], said, embedder, seed)
            contexts |= dict.fromkeys(group, context)
            ids |= {(row["conversation"], row["id"]): at for row, at in zip(there, made, strict=True)}
        found = []
        for row in rows("locomo_questions", data):
            about = row["conversation"]
            named = {(about, turn) for said in row["evidence"] for turn in re.findall(r"D\d+:\d+", said)}
            wanted = frozenset(ids[each] for each in named if each in ids)
            if row["category"] != 5 and wanted:
                found.append(Question(contexts[about], row["question"], (about,), wanted, halves[about]))
        return {"locomo_apart" if apart else "locomo": found}

    return build


def prefeval(data: Path) -> Build:
    """A preference of long ago among newer ones, of its own topic as far as there are so many, and what is asked."""

    def build(folder: Path, embedder: Embedder, seed: int) -> Sets:
        random = Random(seed)
        cases = rows("prefeval", data)
        subjects: list[list[str]] = [[] for _ in cases]
        for number, row in enumerate(cases):
            others = random.sample([at for at in range(len(cases)) if at != number], len(cases) - 1)
            same = [cases[at]["topic"] == row["topic"] for at in range(len(cases))]
            others.sort(key=same.__getitem__, reverse=True)
            for size in _POOLS:
                for at in others[:size]:
                    subjects[at].append(f"{row['id']}/{size}")
        # Twice each: in its own pools it is old, in those of others it is one of the newer ones.
        old = [Said(row["preference"], _OLD_DAYS, tuple(f"{row['id']}/{size}" for size in _POOLS)) for row in cases]
        new = [
            Said(row["preference"], random.uniform(0, _NEW_DAYS), tuple(named))
            for row, named in zip(cases, subjects, strict=True)
        ]
        context, ids = filled(folder / "prefeval", [*old, *new], embedder, seed)
        ageing = replace(context, classes=Classes([MemoryClass(DEFAULT_CLASS, half_life_days=_HALF_LIFE_DAYS)]))
        return {
            f"prefeval_{size}": [
                Question(context, row["question"], (f"{row['id']}/{size}",), frozenset({ids[number]}), ageing=ageing)
                for number, row in enumerate(cases)
            ]
            for size in _POOLS
        }

    return build


def filled(folder: Path, said: Sequence[Said], embedder: Embedder, seed: int) -> tuple[ToolContext, list[str]]:
    """A context over a LanceDB store with these notes, indexed as upkeep leaves it, and their ids in order."""
    stage = Stage(folder, seed, embedder=embedder)
    order = sorted(range(len(said)), key=lambda at: -said[at].age_days)
    ids: dict[int, str] = {}
    step = ceil(len(said) / _APPENDS)
    # It compacts and indexes once appends have piled up. Before, each row would be scored by what is filtered.
    for start in range(0, len(said), step):
        part = order[start : start + step]
        ids.update(zip(part, stage.fill([said[at] for at in part]), strict=True))
    for _ in range(_TURNS):  # a compaction that takes too long is given up, and given twice as long the next time
        stage.store.maintain()
    return replace(stage.context, store=cast(Store, Unread(stage.store))), [ids[at] for at in range(len(said))]


def _turn(row: dict[str, Any]) -> str:
    return f"{row['speaker']}: {row['text']}"


def _age_days(date: str) -> float:
    return (NOW - datetime.strptime(date, _DATE).replace(tzinfo=UTC)) / _DAY
