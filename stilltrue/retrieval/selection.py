"""Which of the entered chains are returned, and whose requirements are in play: the pure half of `recall`.

The store has been searched by then, and the requirements have not been read yet: which of them are wanted depends on
what is returned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stilltrue.chain import Chain, Delivery, deliver
from stilltrue.classes import Classes
from stilltrue.lifecycle import Member
from stilltrue.requirements.binding import Requirement, requirements
from stilltrue.retrieval.ranking import diverse
from stilltrue.retrieval.temporal import Intent, held_in, said_in
from stilltrue.text.budget import Omitted, Packed, Parcel, TokenCounter, pack
from stilltrue.text.formatting import Formatter
from stilltrue.text.render import RenderedChain, render_chain, without_history


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, validated.

    `subjects` are those given, `moment` is an earlier moment to fold at, `maximum` how many chains may be returned.
    """

    query: str
    subjects: tuple[str, ...]
    intent: Intent
    moment: datetime | None
    include_retired: bool
    budget: int
    maximum: int

    @property
    def whole(self) -> bool:
        """Whether what no longer holds is wanted as well."""
        return self.include_retired or self.intent.history


@dataclass(frozen=True)
class Entered:
    """A chain that the search entered, by which notes (the best first), and its score: that of its best entry.

    `today` is the chain as it is now, where `chain` is folded as of an earlier moment. `vector` is that of its lead.
    `retrievals` are how often a lead was delivered: in this session and in total.
    """

    chain: Chain
    today: Chain
    entries: tuple[str, ...]
    score: float
    vector: NDArray[np.float32] | None
    retrievals: tuple[int, int] = (0, 0)

    @cached_property
    def delivery(self) -> Delivery:
        # Only what is newer than the best entry must be returned: nearly every note of a long chain is an entry.
        return deliver(self.chain, self.entries[:1], self.today if self.today is not self.chain else None)


@dataclass(frozen=True, slots=True)
class Returned:
    """A chain that is returned: as it was entered, with its status texts, and packed."""

    entered: Entered
    rendered: RenderedChain
    packed: Packed


@dataclass(frozen=True, slots=True)
class Selection:
    """What `recall` returns besides the requirements.

    `beside` are chains that would have been returned and hold a requirement: they are returned with the requirements,
    outside the budget. `beyond` are the ids of chains beyond the maximum, and `over` chains are expired or erased.
    """

    returned: tuple[Returned, ...]
    beside: tuple[Requirement, ...]
    omitted: tuple[Omitted, ...]
    beyond: tuple[str, ...]
    over: int

    @property
    def reached(self) -> frozenset[str]:
        """The subjects of the leads of the chains that are returned, here or with the requirements."""
        chains = [each.entered.today for each in self.returned] + [each.chain for each in self.beside]
        leads = [chain.members[note_id] for chain in chains for note_id in chain.lead]
        binding = [member for each in self.beside for member in each.binding]
        return frozenset(name for member in (*leads, *binding) for name in member.note.subjects)


def select(
    entered: Sequence[Entered],
    ask: Ask,
    *,
    classes: Classes,
    formatter: Formatter,
    mmr_lambda: float,
    count_tokens: TokenCounter,
) -> Selection:
    """The chains to return, best first, whole, within the budget."""
    live = deliverable(entered, whole=ask.whole)
    ranked = rank(live, ask.intent, mmr_lambda)
    top = ranked[: ask.maximum]
    held = {each.chain.id: found[0] for each in top if (found := requirements([each.today], classes))}
    free = [each for each in top if each.chain.id not in held or _is_past(each, held[each.chain.id], ask)]
    rendered = {each.chain.id: render_entered(each, formatter, whole=ask.whole) for each in free}
    parcels = [Parcel(chain_id, each.lines) for chain_id, each in rendered.items()]
    packed, omitted = pack(parcels, ask.budget, count_tokens)
    by_id = {each.chain.id: each for each in free}
    return Selection(
        returned=tuple(Returned(by_id[each.parcel.key], rendered[each.parcel.key], each) for each in packed),
        beside=tuple(held.values()),
        omitted=tuple(omitted),
        beyond=tuple(each.chain.id for each in ranked[ask.maximum :]),
        over=len(entered) - len(live),
    )


def deliverable(entered: Sequence[Entered], *, whole: bool) -> list[Entered]:
    """The chains that may be returned; unless `whole`, those that hold something or report a retraction."""
    return [each for each in entered if whole or not each.chain.retired or _retracted(each.chain)]


def _retracted(chain: Chain) -> bool:
    return any(chain.members[note_id].revocation for note_id in chain.lead)


def rank(entered: Sequence[Entered], intent: Intent, mmr_lambda: float) -> list[Entered]:
    """Best first, with diversity between the chains; if a time is asked about, what is of that time comes first."""
    order = diverse([each.score for each in entered], [each.vector for each in entered], mmr_lambda)
    ranked = [entered[position] for position in order]
    if (span := intent.span) is None:
        return ranked
    return sorted(ranked, key=lambda each: _tier(each.today, span))


def _tier(chain: Chain, span: tuple[datetime, datetime]) -> int:
    """0 for a chain with a note that was said in the span or states validity in it, 1 if one held then, else 2.

    What was said comes before what merely held: most notes hold in most spans.
    """
    members = chain.members
    held = [member for member in members.values() if held_in(member, members, span)]
    if any(map(_is_bounded, held)) or any(said_in(member, span) for member in members.values()):
        return 0
    return 1 if held else 2


def _is_bounded(member: Member) -> bool:
    return member.note.valid_from is not None or member.note.valid_until is not None


def _is_past(entered: Entered, requirement: Requirement, ask: Ask) -> bool:
    """Whether the chain has a history that is asked about, which the section of requirements would not show."""
    if not ask.whole and ask.moment is None:
        return False
    shown = entered.today.closure(member.id for member in requirement.binding)
    return not shown >= entered.chain.members.keys()


def render_entered(entered: Entered, formatter: Formatter, *, whole: bool) -> RenderedChain:
    """The lines of a chain; unless `whole`, of one in which nothing holds only its retractions."""
    rendered = render_chain(entered.delivery, formatter)
    # As of an earlier moment, what has become of a withdrawn note since is returned with it.
    if entered.chain.retired and not whole and entered.chain is entered.today:
        return without_history(rendered, entered.entries, formatter)
    return rendered


@dataclass(frozen=True, slots=True)
class InPlay:
    """The requirements that are in play, and those that are not listed.

    `withheld` are subjects reached only through a returned chain that have too many to list, and `others` are the
    subjects that have requirements, where none is in play; each with the number of its requirements.
    """

    requirements: tuple[Requirement, ...]
    subjects: tuple[str, ...]
    withheld: Mapping[str, int]
    others: Mapping[str, int]


def in_play(
    held: Iterable[Requirement], direct: Collection[str], reached: Collection[str], beside: Iterable[Requirement],
    maximum: int,
) -> InPlay:  # fmt: skip
    """Of the requirements that were read, those that the answer must show.

    `direct` subjects are the default one, those given and those that the query names: all of theirs are in play.
    A subject that is only `reached`, through a returned chain, is in play unless it has more than `maximum`.
    """
    every = list(held)
    counts = counted(every)
    withheld = {name: counts[name] for name in reached if name not in direct and counts.get(name, 0) > maximum}
    subjects = set(direct) | (set(reached) - withheld.keys())
    own = {each.chain.id for each in beside}
    shown = [each if each.chain.id in own else _about(each, subjects) for each in every]
    shown = [each for each in shown if each.binding]
    return InPlay(tuple(shown), tuple(sorted(subjects)), withheld, {} if shown else counts)


def counted(held: Iterable[Requirement]) -> dict[str, int]:
    """How many requirements each subject has."""
    counts: dict[str, int] = {}
    for each in held:
        for name in {name for member in each.binding for name in member.note.subjects}:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _about(requirement: Requirement, subjects: set[str]) -> Requirement:
    """The requirement without the notes that bind others."""
    binding = (member for member in requirement.binding if not subjects.isdisjoint(member.note.subjects))
    return Requirement(requirement.chain, tuple(binding))
