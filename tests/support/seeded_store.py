"""Fills a store with a past before a server opens it: through the verbs, on a clock that the test sets."""

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
    """The real model, as a context is given it."""

    problem = None

    def get(self, wait_s: float = 0.0) -> Embedder:
        return model()


class Past:
    """A store before its server: `context` for the verbs, `go` for the moment at which they are called."""

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
        """The context, so many days ago. Time only goes forward: call it with ever smaller numbers."""
        self._moment = self.now - timedelta(days=days_ago)
        return self.context

    def fill(self, texts: Sequence[str], subjects: Sequence[str], days: float) -> None:
        """One note for each text, spread evenly over the last `days` days, in one append. Subjects take turns."""
        notes = []
        for number, text in enumerate(texts):
            stamp = self.go(days * (1 - number / len(texts))).stamp(None)
            notes.append(Note(stamp.id, text, (subjects[number % len(subjects)],), "note", "agent", stamp.at))
        append_notes(self.context, notes, model())


@contextmanager
def past(folder: Path) -> Iterator[Past]:
    """A past for the store in this folder, written and closed at the end."""
    seeded = Past(folder)
    try:
        yield seeded
    finally:
        seeded.store.close()


@cache
def model() -> Embedder:
    return load_embedder(threads=os.cpu_count() or 1)


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of one of the benchmarks' files."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def distractors(number: int) -> list[str]:
    """So many different statements about eating out, work and travel: first as they were written, then dated."""
    plain = [each["text"] for row in rows("requirements") for each in row["distractors"] if not row["control"]]
    plain += [each["text"] for each in rows("fillers")]
    rounds: Iterator[Callable[[str], str]] = (
        (lambda text: text) if turn == 0 else (lambda text, turn=turn: f"In week {turn} of the year: {text}")
        for turn in count()
    )
    return list(islice((made for dated in rounds for made in dict.fromkeys(map(dated, plain))), number))


def texts_in(folder: Path) -> list[str]:
    """The texts of all notes in a store, oldest first, read past any server."""
    store = open_store(str(folder))
    events = store.binding(list(Classes()), None)
    store.close()
    return [event.note.text for event in events if isinstance(event, Remembered)]
