"""The sets of `retrieval`: stores filled_store with notes, and questions with the notes that answer them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from random import Random
from typing import Any, TypeAlias, cast

from bench.stage import NOW, PastNote, Stage, rows
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
    """A question, its store and subjects, and the ids of the notes that answer it. `half` is dev or test.

    `ageing` is a context over the same store in which plain notes decay, if that is measured too.
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
    """A store in which nothing counts as read, so that no question affects later ones."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def usage(self) -> Usage:
        """Empty counts."""
        return EphemeralUsage()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def texts_of(data: Path) -> list[str]:
    """Every text of the sets in a data folder."""
    texts = [_turn(row) for row in rows("locomo_turns", data)]
    texts += [row["question"] for row in rows("locomo_questions", data)]
    return texts + [row[name] for row in rows("prefeval", data) for name in ("preference", "question")]


def probe(*, fillers: bool) -> Build:
    """Questions that share no content word with their answers, among answers, distractors and maybe fillers."""

    def build(folder: Path, embedder: Embedder, seed: int) -> Sets:
        cases = rows("probe")
        texts = [row["note"] for row in cases] + [text for row in cases for text in row["distractors"]]
        texts += [row["text"] for row in rows("fillers")] if fillers else []
        context, ids = filled_store(folder / "probe", [PastNote(text) for text in texts], embedder, seed)
        found = [Question(context, row["query"], (), frozenset({ids[number]})) for number, row in enumerate(cases)]
        return {"probe_and_fillers" if fillers else "probe": found}

    return build


def cues(folder: Path, embedder: Embedder, seed: int) -> Sets:
    """Implicit needs, each in its own random pool of 100 and among all notes; with the notes' cues and without."""
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
        notes = [
            PastNote(
                text, subjects=tuple(sorted(pool)), cues=tuple(cases[at]["cues"]) if cued and at < len(cases) else ()
            )
            for at, (text, pool) in enumerate(zip(others, pools, strict=True))
        ]
        context, ids = filled_store(folder / f"cues{suffix}", notes, embedder, seed)
        for name, subject in (("100", ""), ("all", "all")):
            sets[f"cues_{name}{suffix}"] = [
                Question(context, row["query"], (subject or row["id"],), frozenset({ids[number]}))
                for number, row in enumerate(cases)
            ]
    return sets


def locomo(data: Path, *, apart: bool) -> Build:
    """Turns of ten conversations, as subjects of one store or in a store each; questions with their evidence.

    Questions are of categories 1 to 4, if their evidence exists. Every second conversation by name is dev, starting
    with the first.
    """

    def build(folder: Path, embedder: Embedder, seed: int) -> Sets:
        turns = rows("locomo_turns", data)
        names = sorted({row["conversation"] for row in turns})
        halves = {name: TEST if number % 2 else DEV for number, name in enumerate(names)}
        ids: dict[tuple[str, str], str] = {}
        contexts: dict[str, ToolContext] = {}
        for group in [[name] for name in names] if apart else [names]:
            there = [row for row in turns if row["conversation"] in group]
            notes = [PastNote(_turn(row), _age_days(row["date"]), (row["conversation"],)) for row in there]
            context, made = filled_store(folder / group[0], notes, embedder, seed)
            contexts |= dict.fromkeys(group, context)
            ids |= {(row["conversation"], row["id"]): at for row, at in zip(there, made, strict=True)}
        found = []
        for row in rows("locomo_questions", data):
            about = row["conversation"]
            named = {(about, turn) for evidence in row["evidence"] for turn in re.findall(r"D\d+:\d+", evidence)}
            wanted = frozenset(ids[each] for each in named if each in ids)
            if row["category"] != 5 and wanted:
                found.append(Question(contexts[about], row["question"], (about,), wanted, halves[about]))
        return {"locomo_apart" if apart else "locomo": found}

    return build


def prefeval(data: Path) -> Build:
    """An old preference among newer ones, of the same topic as far as possible, and the question about it."""

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
        # Each is stored twice: old in its own pools, newer in those of others.
        old = [
            PastNote(row["preference"], _OLD_DAYS, tuple(f"{row['id']}/{size}" for size in _POOLS)) for row in cases
        ]
        new = [
            PastNote(row["preference"], random.uniform(0, _NEW_DAYS), tuple(named))
            for row, named in zip(cases, subjects, strict=True)
        ]
        context, ids = filled_store(folder / "prefeval", [*old, *new], embedder, seed)
        ageing = replace(context, classes=Classes([MemoryClass(DEFAULT_CLASS, half_life_days=_HALF_LIFE_DAYS)]))
        return {
            f"prefeval_{size}": [
                Question(context, row["question"], (f"{row['id']}/{size}",), frozenset({ids[number]}), ageing=ageing)
                for number, row in enumerate(cases)
            ]
            for size in _POOLS
        }

    return build


def filled_store(
    folder: Path, notes: Sequence[PastNote], embedder: Embedder, seed: int
) -> tuple[ToolContext, list[str]]:
    """A context over a LanceDB store with these notes, compacted and indexed, and their ids in order."""
    stage = Stage(folder, seed, embedder=embedder)
    order = sorted(range(len(notes)), key=lambda at: -notes[at].age_days)
    ids: dict[int, str] = {}
    step = ceil(len(notes) / _APPENDS)
    # Maintenance compacts and indexes once appends have accumulated. Before that, BM25 would be computed over the
    # filtered rows only.
    for start in range(0, len(notes), step):
        part = order[start : start + step]
        ids.update(zip(part, stage.fill([notes[at] for at in part]), strict=True))
    for _ in range(_TURNS):  # a compaction that takes too long is abandoned, and gets twice as long the next time
        stage.store.maintain()
    return replace(stage.context, store=cast(Store, Unread(stage.store))), [ids[at] for at in range(len(notes))]


def _turn(row: dict[str, Any]) -> str:
    return f"{row['speaker']}: {row['text']}"


def _age_days(date: str) -> float:
    return (NOW - datetime.strptime(date, _DATE).replace(tzinfo=UTC)) / _DAY
