"""The invariants of a memory, for random stores that were filled by the tools, and random questions.

A random history: notes, replacements, forks, merges, refinements, revocations, reinstatements, erasures, validity, a
clock that jumps back. Then a random question. What must hold is derived from the log alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from contexts import Agent, Clock, split
from fakes import FakeEmbedder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import START, Move, moments, moves

from stilltrue.chain import partition
from stilltrue.errors import Refused
from stilltrue.event import Erased, Event, Remembered
from stilltrue.lifecycle import Status, fold
from stilltrue.note import LinkKind, Note
from stilltrue.text.budget import estimate_tokens
from store.memory import EphemeralStore
from store.port import Embedded
from tools.support.lookup import entry, find
from tools.support.results import Recalled

examples = partial(settings, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MODEL = FakeEmbedder()
TEXTS = ("tests run with tox", "Priya is allergic to nuts", "the team sits in Porto")
SUBJECTS = ("priya", "team", "tom")


@dataclass(frozen=True)
class Question:
    """One call of `recall`."""

    query: str
    subjects: tuple[str, ...] | None
    budget_tokens: int
    as_of: datetime | None
    include_retired: bool
    max_chains: int

    def ask(self, world: World) -> Recalled:
        """The data of the answer, checked against its text."""
        data = (
            world.agent.but(max_chains=self.max_chains)
            .recall(
                self.query,
                subjects=self.subjects,
                budget_tokens=self.budget_tokens,
                as_of=self.as_of.isoformat() if self.as_of else None,
                include_retired=self.include_retired,
            )
            .data
        )
        assert isinstance(data, Recalled)
        return data


class World:
    """A store with a random history, and what its log says, read without the code under test."""

    def __init__(self, life: Sequence[Move], distractors: int) -> None:
        self.agent = Agent(EphemeralStore(), clock=Clock(START))
        self.ids: list[str] = []
        for number, move in enumerate(life):
            self.agent.clock.on(hours=move.pause_hours)
            with suppress(Refused):
                self._live(move, f"{TEXTS[number % len(TEXTS)]} {number}")
        for number in range(distractors):
            self._distract(f"tests and nuts in Porto, number {number}")
        store = self.agent.store
        assert isinstance(store, EphemeralStore)
        self.events: list[Event] = [each.event for each in store._entries]
        self.members = fold(self.events, self.agent.clock())
        self.chain_of = {event.id: index for index, part in enumerate(partition(self.events)) for event in part}
        self.newer: dict[str, set[str]] = {note_id: set() for note_id in self.members}
        for event in self.events:
            if isinstance(event, Remembered):
                for link in event.links:
                    self.newer[link.to].add(event.id)

    def _live(self, move: Move, text: str) -> None:
        agent = self.agent
        targets = list(dict.fromkeys(self.ids[-1 - at % len(self.ids)] for at in move.targets)) if self.ids else []
        opens, ends = (None if days is None else (START + timedelta(days=days)).isoformat() for days in move.validity)
        said = {"subjects": list(move.subjects), "klass": move.klass, "valid_from": opens, "valid_until": ends}
        if move.kind == "remembered" or not targets:
            if not targets:
                made = agent.remember(text, **said)
            elif move.links[0] is LinkKind.REFINEMENT:
                made = agent.remember(text, refines=targets[0], **said)
            else:
                more = {"allow_fork": True, "lifts_requirement": True, "reason": f"because of {text}"}
                made = agent.supersede(targets, text, relation=move.links[0].value, **said, **more)
            self.ids.append(made.data.id)  # type: ignore[union-attr]
        elif move.kind == "revoked":
            agent.revoke(targets[0], f"because of {text}")
        elif move.kind == "reinstated":
            agent.reinstate(targets[0])
        elif move.kind == "rated":
            agent.feedback(targets, "helped")
        else:
            with agent.store.writing():
                found = find(agent.context, targets[:1])
                stamp = agent.context.stamp(found.latest)
                agent.store.append([entry(Erased(stamp.id, stamp.at, targets[0]), found)])

    def _distract(self, text: str) -> None:
        context = self.agent.context
        stamp = context.stamp(None)
        event = Remembered(Note(stamp.id, text, ("team",), "note", "user", stamp.at))
        with context.store.writing():
            context.store.append([entry(event, None, Embedded(MODEL.embed([text])[0]))])

    def closure(self, ids: set[str]) -> set[str]:
        """Everything reachable over links to newer notes, computed by hand."""
        reached, frontier = set(ids), list(ids)
        while frontier:
            for note_id in self.newer[frontier.pop()] - reached:
                reached.add(note_id)
                frontier.append(note_id)
        return reached

    def subjects(self, note_id: str) -> set[str]:
        """The subjects of all notes in the chain of a note."""
        same = [other for other in self.members if self.chain_of[other] == self.chain_of[note_id]]
        return {subject for other in same for subject in self.members[other].note.subjects}


def worlds(*distractors: int) -> st.SearchStrategy[World]:
    """A store after up to fourteen steps."""
    return st.builds(World, st.lists(moves(), min_size=1, max_size=14), st.sampled_from(distractors or (0,)))


def questions(past: bool = True) -> st.SearchStrategy[Question]:
    """Any question; without `past`, only about the current moment."""
    return st.builds(
        Question,
        query=st.sampled_from(["tests run with tox", "nuts for Priya", "because of Porto", "originally", "zebra"]),
        subjects=st.none() | st.lists(st.sampled_from(SUBJECTS), min_size=1, unique=True).map(tuple),
        budget_tokens=st.sampled_from([0, 1, 60, 120, 400, 100_000]),
        as_of=st.none() | moments() if past else st.none(),
        include_retired=st.booleans(),
        max_chains=st.sampled_from([1, 2, 50]),
    )


@examples()
@given(worlds(), questions())
def test_no_note_is_returned_without_everything_newer(world: World, question: Question) -> None:
    """Closure: with any filter and any budget, and with the reason of every revocation."""
    answer = question.ask(world)
    told = [(*chain.lead, *chain.history, *chain.since) for chain in answer.chains]
    told += [(*each.rules, *each.newer) for each in answer.requirements]
    for views in told:
        ids = {view.id for view in views}
        assert world.closure(ids) <= ids
        for view in views:
            revocation = world.members[view.id].revocation
            if revocation and world.members[view.id].status is Status.REVOKED:
                assert revocation.reason in view.mark


@examples()
@given(worlds(0, 3, 60), questions())
def test_every_requirement_of_the_subjects_in_play_is_returned(world: World, question: Question) -> None:
    """Completeness: for any query, any budget, and any number of chains and distractors."""
    answer = question.ask(world)
    in_play = set(answer.subjects)
    assert in_play >= {"user", *(question.subjects or ())}
    assert "Priya" not in question.query or in_play >= {"priya"} & set().union(*map(world.subjects, world.members))
    if question.as_of is None:
        assert in_play >= {name for chain in answer.chains for view in chain.lead for name in view.subjects}
    binding = {
        member.id
        for member in world.members.values()
        if member.status in {Status.CURRENT, Status.UNSETTLED} and member.note.klass == "allergy"
        if in_play & set(member.note.subjects)
    }
    assert {view.id for each in answer.requirements for view in each.rules} == binding


@examples()
@given(worlds(), questions())
def test_every_chain_has_a_lead_and_no_history_comes_before_it(world: World, question: Question) -> None:
    """Lead first: a note that was superseded at the moment asked about never leads, and the rest is newest first."""
    for chain in question.ask(world).chains:
        assert chain.lead
        assert "superseded" not in {view.status for view in chain.lead}
        order = [view.id for view in chain.history]
        assert order == sorted(order, reverse=True)
        assert not {view.id for view in chain.lead} & {*order, *(view.id for view in chain.since)}
        heads = [view for view in (*chain.lead, *chain.history) if view.status == "current"]
        assert not heads or {view.id for view in heads} == {view.id for view in chain.lead}


@examples()
@given(worlds(0, 3), questions(past=False))
def test_the_budget_holds_and_nothing_is_dropped_silently(world: World, question: Question) -> None:
    """Budget: each chain that was found is delivered, listed as left out, a requirement, or counted as expired."""
    answer = question.ask(world)
    assert answer.tokens <= question.budget_tokens
    assert sum(each.tokens for each in answer.omitted) == 0 or all(
        each.tokens > question.budget_tokens - answer.tokens for each in answer.omitted
    )
    scope = {
        world.chain_of[note_id]
        for note_id in world.members
        if question.subjects is None or world.subjects(note_id) & set(question.subjects)
    }
    if question.max_chains == 50:
        shown = {world.chain_of[each.id] for each in (*answer.chains, *answer.omitted)}
        shown |= {world.chain_of[view.id] for each in answer.requirements for view in each.rules}
        over = [notice for notice in answer.notices if "matching memories are expired or erased" in notice]
        assert len(scope - shown) == (int(over[0].split()[0]) if over else 0)


@examples()
@given(worlds(), questions())
def test_the_text_of_the_chains_fits_the_budget(world: World, question: Question) -> None:
    """Counted over the lines that are sent."""
    if question.as_of is None:
        answer = world.agent.recall(
            question.query, subjects=question.subjects, budget_tokens=question.budget_tokens,
            include_retired=question.include_retired,
        )  # fmt: skip
        lines = [line for line in split(answer)[0].splitlines() if line.startswith(("*", "  "))]
        assert estimate_tokens("\n".join(lines)) <= question.budget_tokens or not lines


@examples()
@given(worlds(), questions())
def test_with_subjects_no_chain_or_requirement_of_others_is_returned(world: World, question: Question) -> None:
    """Isolation: a chain is about the subjects of all its notes, a requirement about its own."""
    answer = question.ask(world)
    if question.subjects:
        given_subjects = set(question.subjects)
        assert all(world.subjects(each.id) & given_subjects for each in (*answer.chains, *answer.omitted))
        assert all(given_subjects & set(view.subjects) for each in answer.requirements for view in each.rules)


@examples()
@given(worlds(), st.data())
def test_as_of_is_the_same_whatever_happened_since(world: World, data: st.DataObject) -> None:
    """Replay: the leads and statuses of a moment do not depend on later events."""
    moment = data.draw(moments())
    question = Question("tests nuts Porto", None, 100_000, moment, include_retired=True, max_chains=50)
    if moment >= world.agent.clock():
        return
    last = (
        moment + timedelta(microseconds=999_999) if moment.microsecond == 0 else moment
    )  # a whole second includes all of it
    known = fold(world.events, last, recorded_until=last)
    told = {view.id: view.status for chain in question.ask(world).chains for view in (*chain.lead, *chain.history)}
    assert told == {note_id: known[note_id].status for note_id in told}
    ruled = {note_id for note_id, member in world.members.items() if member.note.klass == "allergy"}
    aside = {world.chain_of[note_id] for note_id in ruled}
    assert {note_id for note_id in known if world.chain_of[note_id] not in aside} <= told.keys()


@examples()
@given(worlds(), st.data())
def test_revoke_then_reinstate_is_the_identity(world: World, data: st.DataObject) -> None:
    """Inverse: every status in the store is as before, for any note."""
    note_id = data.draw(st.sampled_from(sorted(world.members)))
    agent = world.agent
    before = {each: agent.status(each) for each in world.members}
    with suppress(Refused):
        agent.revoke(note_id)
        agent.reinstate(note_id)
        assert {each: agent.status(each) for each in world.members} == before
