"""An agent for the tests of the tools: a store, a clock that the test sets, and ids that are the same in every run.

An `Agent` calls the real tools, with shortcuts for what these tests do most. It checks one promise of every answer:
that the text and the data carry the same facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from fakes import FakeEmbedder

from stilltrue.chain import Chain, chains
from stilltrue.ids import Stamp, stamp
from stilltrue.text.formatting import Formatter, inline, stated
from store.memory import EphemeralStore
from store.port import Embedder, Store
from tools.constraints import constraints
from tools.feedback import feedback
from tools.recall import recall
from tools.reinstate import reinstate
from tools.remember import remember
from tools.revoke import revoke
from tools.supersede import supersede
from tools.support.context import ToolContext
from tools.support.results import Answer, NoteView, RequirementView

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
"""The moment at which these tests begin by default, a Monday."""

REQUIREMENTS = "\nREQUIREMENTS"
_ID = re.compile(r"\[([0-9a-hjkmnp-tv-z]{16})\]")


class Clock:
    """A clock that stands still until the test moves it."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def on(self, **length: float) -> None:
        """Move it by so many days, hours, ...; negative ones move it back."""
        self.now += timedelta(**length)


class Ready:
    """An embedder that is loaded or, without one, has failed to load."""

    def __init__(self, embedder: Embedder | None, problem: str | None = None) -> None:
        self._embedder = embedder
        self.problem = problem

    def get(self, wait_s: float = 0.0) -> Embedder | None:
        return self._embedder


def stamps(clock: Callable[[], datetime]) -> Callable[[datetime | None], Stamp]:
    """Stamps of this clock, numbered instead of random; they only go forward, as those of a process do."""
    count, last = 0, None

    def next_stamp(after: datetime | None = None) -> Stamp:
        nonlocal count, last
        count += 1
        own = stamp(clock(), count, last)
        last = own.at
        return own if after is None or own.at > after else stamp(own.at, count, after)

    return next_stamp


class Agent:
    """A context, and the tools called on it. `clock` is its clock; other arguments are fields of `ToolContext`."""

    def __init__(self, store: Store | None = None, embedder: Embedder | None = None, **settings: Any) -> None:
        self.clock = settings.pop("clock", None) or Clock()
        settings.setdefault("embedding", Ready(embedder or FakeEmbedder()))
        settings.setdefault("formatter", Formatter(UTC))
        settings.setdefault("stamp", stamps(self.clock))
        self.context = ToolContext(store=store or EphemeralStore(), clock=self.clock, embed_wait_s=0.0, **settings)

    @property
    def store(self) -> Store:
        return self.context.store

    def but(self, **settings: Any) -> Agent:
        """The same agent with other settings."""
        other = copy(self)
        other.context = replace(self.context, **settings)
        return other

    def remember(self, text: str, **more: Any) -> Answer:
        return checked(remember(self.context, text, **more))

    def supersede(self, note_ids: str | Sequence[str], text: str, **more: Any) -> Answer:
        ids = [note_ids] if isinstance(note_ids, str) else note_ids
        return checked(supersede(self.context, ids, text, **more))

    def revoke(self, note_id: str, reason: str = "it was a mistake") -> Answer:
        return checked(revoke(self.context, note_id, reason))

    def reinstate(self, note_id: str, reason: str | None = None) -> Answer:
        return checked(reinstate(self.context, note_id, reason))

    def recall(self, query: str, **more: Any) -> Answer:
        return checked(recall(self.context, query, **more))

    def constraints(self, subjects: Sequence[str] | None = None) -> Answer:
        return checked(constraints(self.context, subjects))

    def feedback(self, note_ids: Sequence[str], outcome: str) -> Answer:
        return checked(feedback(self.context, note_ids, outcome))

    def note(self, text: str, **more: Any) -> str:
        """Remember it a minute after what came before, and return its id."""
        self.clock.on(minutes=1)
        note_id: str = self.remember(text, **more).data.id  # type: ignore[union-attr]
        return note_id

    def line(self, *texts: str, **more: Any) -> list[str]:
        """Remember the first text, supersede it by the others, one after the other, and return all ids."""
        ids = [self.note(texts[0], **more)]
        for text in texts[1:]:
            self.clock.on(minutes=1)
            ids.append(self.supersede(ids[-1], text).data.id)  # type: ignore[union-attr]
        return ids

    def chain_of(self, note_id: str) -> Chain:
        """The chain of this note as of now."""
        (record,) = self.store.chains_of([note_id])
        (chain,) = chains(record.events, self.clock())
        return chain

    def status(self, *note_ids: str) -> str:
        """The statuses of these notes, as `superseded, current`."""
        return ", ".join(self.chain_of(note_id).members[note_id].status for note_id in note_ids)

    def written(self) -> int:
        """The number of rows in the store: the same before and after means that nothing was written."""
        return self.store.health().rows


def told(answer: Answer) -> list[str]:
    """The texts of the leads of the delivered chains, best first; those of one chain are joined by " | "."""
    return [" | ".join(each.text for each in chain.lead) for chain in answer.data.chains]  # type: ignore[union-attr]


def rules(answer: Answer) -> list[str]:
    """The texts of the requirements at the end of an answer."""
    held = answer.data.requirements  # type: ignore[union-attr]
    return [rule.text for requirement in held for rule in requirement.rules]


def split(answer: Answer) -> tuple[str, str]:
    """The text before the heading of the requirements, and the rest."""
    before, found, after = f"\n{answer.text}".rpartition(REQUIREMENTS)
    assert found, answer.text
    return before, REQUIREMENTS + after


def views(value: Any) -> Iterator[NoteView]:
    """Every note in the data of an answer."""
    if isinstance(value, NoteView):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from views(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from views(each)


def checked(answer: Answer) -> Answer:
    """The answer, if its text and its data agree: every note with its mark, every notice, no other id."""
    flat = _flat(answer.text)
    own = getattr(answer.data, "note", None)
    for view in views(answer.data):
        assert f"[{view.id}]" in answer.text
        shown = (stated(view.text), stated(inline(view.text)))  # whole, or on one line where it is only named
        assert view is own or any(_flat(each) in flat for each in shown), view
        for part in view.mark.split(", ", 1):  # the state comes before the text, the rest after it
            assert _flat(part) in flat, f"{part!r} is not in the text:\n{answer.text}"
    for notice in getattr(answer.data, "notices", ()):
        assert _flat(notice) in flat
    data = repr(answer.data)
    assert [found for found in _ID.findall(answer.text) if found not in data] == []
    for omitted in getattr(answer.data, "omitted", ()):
        assert f"{omitted.id} ({omitted.tokens} tokens)" in answer.text
    held: tuple[RequirementView, ...] = getattr(answer.data, "requirements", ())
    if held:
        assert answer.text.count(f"REQUIREMENTS ({len(held)}):") == 1
    return answer


def _flat(text: str) -> str:
    return " ".join(text.split())
