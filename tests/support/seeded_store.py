"""Fills a store with past notes before a server opens it, through the tools and on a clock that the test sets."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count, islice
from pathlib import Path
from typing import Any

from server.wiring import Stamper
from stilltrue.classes import Classes
from stilltrue.event import Remembered
from stilltrue.note import Note
from stilltrue.text.formatting import Formatter
from store.embed.load import load_embedder
from store.open import open_store
from store.port import Embedder
from tools.admin.bulk_load import append_notes
from tools.support.context import ToolContext

DATA = Path(__file__).resolve().parents[2] / "bench" / "data"


class Loaded:
    """The real model in the form that ToolContext takes."""

    problem = None

    def get(self, wait_s: float = 0.0) -> Embedder:
        return model()


class Past:
    """A store before its server starts: `context` is for the tools, `go` sets the time at which they are called."""

    def __init__(self, folder: Path) -> None:
        self.now = datetime.now(UTC)
        self._moment = self.now
        self.store = open_store(str(folder))
        self.context = ToolContext(
            store=self.store,
            embedding=Loaded(),
            clock=lambda: self._moment,
            stamp=Stamper(lambda: self._moment),
            formatter=Formatter(UTC),
        )

    def go(self, days_ago: float) -> ToolContext:
        """The context as of some days ago. Time only moves forward, so each call needs a smaller number."""
        self._moment = self.now - timedelta(days=days_ago)
        return self.context

    def fill(self, texts: Sequence[str], subjects: Sequence[str], days: float) -> None:
        """Append a note for each text, spread evenly over the last `days` days, with the subjects in rotation."""
        notes = []
        for number, text in enumerate(texts):
            stamp = self.go(days * (1 - number / len(texts))).stamp(None)
            notes.append(Note(stamp.id, text, (subjects[number % len(subjects)],), "note", "agent", stamp.at))
        append_notes(self.context, notes, model())


@contextmanager
def past(folder: Path) -> Iterator[Past]:
    """The past of the store in this folder; the store is closed at the end."""
    seeded = Past(folder)
    try:
        yield seeded
    finally:
        seeded.store.close()


@cache
def model() -> Embedder:
    return load_embedder(threads=os.cpu_count() or 1)


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a benchmark's data file."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def distractors(number: int) -> list[str]:
    """This many distinct statements about eating out, work and travel; after the first round they carry a date."""
    plain = [each["text"] for row in rows("requirements") for each in row["distractors"] if not row["control"]]
    plain += [each["text"] for each in rows("fillers")]
    rounds: Iterator[Callable[[str], str]] = (
        (lambda text: text) if turn == 0 else (lambda text, turn=turn: f"In week {turn} of the year: {text}")
        for turn in count()
    )
    return list(islice((made for dated in rounds for made in dict.fromkeys(map(dated, plain))), number))


def texts_in(folder: Path) -> list[str]:
    """The texts of all notes in a store, oldest first, read directly from its folder."""
    store = open_store(str(folder))
    events = store.binding(list(Classes()), None)
    store.close()
    return [event.note.text for event in events if isinstance(event, Remembered)]
