"""Which of the chains that a search found are delivered, in which order, and how much of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from stilltrue.chain import Chain
from stilltrue.classes import Classes
from stilltrue.requirement import Requirement, requirements
from stilltrue.retrieval.budget import Line, Omitted, Packed, Parcel, TokenCounter, pack
from stilltrue.retrieval.ranking import diverse
from stilltrue.retrieval.temporal import Intent


@dataclass(frozen=True, slots=True)
class Entered:
    """A chain that the search found, by which of its notes (best first), and its score: that of the best of them.

    `today` is the chain as it is now, if `chain` is folded as of an earlier moment. `vector` is a unit row.
    """

    chain: Chain
    today: Chain
    entries: tuple[str, ...]
    score: float
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class Ask:
    """What a call of `recall` asks for, validated.

    `subjects` are those that were given, `moment` the earlier one that is asked about. At most `limit` chains are
    delivered, in `budget` tokens; the `reach` best ones bring the requirements of their subjects. `whole` means that
    retired chains and full histories are wanted. `notices` are what the agent should know of how it was read.
    """

    query: str
    subjects: tuple[str, ...]
    session: str
    now: datetime
    moment: datetime | None
    intent: Intent
    whole: bool
    budget: int
    limit: int
    reach: int
    notices: tuple[str, ...] = ()

    @property
    def past(self) -> bool:
        """Whether what held before is asked about."""
        return self.whole or self.moment is not None


class Rendered(Protocol):
    """A chain as lines, with whatever else the caller needs to show it."""

    @property
    def lines(self) -> tuple[Line, ...]: ...


R = TypeVar("R", bound=Rendered)


@dataclass(frozen=True, slots=True)
class Selected(Generic[R]):
    """A chain that is delivered, as it was rendered and as it was packed."""

    entered: Entered
    rendered: R
    packed: Packed


@dataclass(frozen=True, slots=True)
class Selection(Generic[R]):
    """What is delivered, best first, and what is not.

    `omitted` did not fit the budget, `further` chains are beyond the limit, `retired` ones are over or erased.
    `subjects` are those of the delivered chains and of those that hold a requirement.
    """

    chains: tuple[Selected[R], ...]
    omitted: tuple[Omitted, ...]
    further: int
    retired: int
    subjects: frozenset[str]


def select(
    found: Sequence[Entered],
    ask: Ask,
    *,
    classes: Classes,
    mmr_lambda: float,
    count_tokens: TokenCounter,
    render: Callable[[Entered], R],
) -> Selection[R]:
    """The chains to deliver. A chain is rendered at most once, and only if it is within the limit.

    A chain whose requirements bind is left to the requirements section, which no budget cuts, and not shown twice.
    """
    wanted = deliverable(found, ask.whole)
    ranking = ranked(wanted, mmr_lambda, ask.intent.span)
    binding = _binding(ranking, classes, ask.subjects)
    plain = [each for each in ranking if not _covered(each, binding, ask.past)]
    chains, omitted = packed(plain[: ask.limit], ask.budget, count_tokens, render)
    reached = [each for each in ranking[: ask.reach] if each.today.id in binding]
    return Selection(
        chains=tuple(chains),
        omitted=tuple(omitted),
        further=max(0, len(plain) - ask.limit),
        retired=len(found) - len(wanted),
        subjects=frozenset().union(*(each.today.subjects for each in [*(each.entered for each in chains), *reached])),
    )


def deliverable(found: Sequence[Entered], whole: bool) -> list[Entered]:
    """Without `whole`, not the chains that are over: expired or erased, with no retraction to report.

    A retraction is delivered, because what was withdrawn would be learned again if nothing contradicted it.
    """
    return [
        each
        for each in found
        if whole
        or not each.chain.retired
        or any(each.chain.members[note_id].revocation for note_id in each.chain.lead)
    ]


def ranked(
    entered: Sequence[Entered], mmr_lambda: float, span: tuple[datetime, datetime] | None = None
) -> list[Entered]:
    """Best first, with diversity between the chains. What touches the span of time that is asked about leads."""
    order = diverse([each.score for each in entered], [each.vector for each in entered], mmr_lambda)
    ranking = [entered[position] for position in order]
    if span is None:
        return ranking
    return sorted(ranking, key=lambda each: not any(_touches(each, note_id, *span) for note_id in each.chain.members))


def packed(
    entered: Sequence[Entered], budget: int, count_tokens: TokenCounter, render: Callable[[Entered], R]
) -> tuple[list[Selected[R]], list[Omitted]]:
    """The chains, given best first, that fit into `budget` tokens, and those that do not."""
    rendered = {each.chain.id: (each, render(each)) for each in entered}
    parcels = [Parcel(key, made.lines) for key, (_, made) in rendered.items()]
    fitting, omitted = pack(parcels, budget, count_tokens)
    return [Selected(*rendered[each.parcel.key], each) for each in fitting], omitted


def _touches(entered: Entered, note_id: str, start: datetime, end: datetime) -> bool:
    """Whether the note was recorded in the span, or has stated times of validity that overlap it."""
    note = entered.chain.members[note_id].note
    if start <= note.recorded_at < end:
        return True
    if note.valid_from is None and note.valid_until is None:
        return False
    return (note.valid_from is None or note.valid_from < end) and (
        note.valid_until is None or note.valid_until > start
    )


def _binding(ranking: Sequence[Entered], classes: Classes, subjects: Collection[str]) -> dict[str, Requirement]:
    """The requirements among the chains, as they are now, by the id of the chain."""
    today = {each.today.id: each.today for each in ranking}
    return {each.chain.id: each for each in requirements(today.values(), classes, subjects or None)}


def _covered(entered: Entered, binding: Mapping[str, Requirement], past: bool) -> bool:
    """Whether the requirements section shows all that is asked of the chain once its subjects are in play.

    That section shows what binds and what is newer. If the past is asked about, what came before is wanted too.
    """
    held = binding.get(entered.today.id)
    if held is None or not past:
        return held is not None
    return entered.today.closure(member.id for member in held.binding) >= entered.chain.members.keys()
