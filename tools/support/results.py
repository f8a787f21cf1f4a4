"""What the verbs answer: a text for the model and the same facts as data.

Clients forward one or the other, so both are complete and both are small: `data` leaves out what is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import Any

from stilltrue.chain import Chain, Delivery
from stilltrue.lifecycle import Member
from stilltrue.requirements.binding import Requirement
from stilltrue.text.formatting import Formatter
from stilltrue.text.status_text import status_text_of, status_texts


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note as it is delivered. `mark` says what the log knows of it besides its words."""

    id: str
    text: str
    status: str
    subjects: tuple[str, ...]
    klass: str
    source: str
    recorded_at: str
    mark: str = ""
    valid_from: str = ""
    valid_until: str = ""
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class ChainView:
    """A chain as it is delivered: `lead` is what holds, `history` what does not, newest first.

    `hidden` counts the oldest of the history that the budget cut. `since` are notes newer than the moment
    that was asked about. `retrieved_session` and `retrieved_total` count deliveries of its lead.
    """

    id: str
    lead: tuple[NoteView, ...]
    history: tuple[NoteView, ...] = ()
    since: tuple[NoteView, ...] = ()
    hidden: int = 0
    contested: bool = False
    damaged: bool = False
    retrieved_session: int = 0
    retrieved_total: int = 0


@dataclass(frozen=True, slots=True)
class RequirementView:
    """A chain with notes that bind (`rules`), and what is newer than they are in it (`newer`)."""

    id: str
    rules: tuple[NoteView, ...]
    newer: tuple[NoteView, ...] = ()
    contested: bool = False


@dataclass(frozen=True, slots=True)
class OmittedView:
    """A chain that did not fit into the budget, and the tokens it needs."""

    id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class NearView:
    """A note that says something near to the new one, and the call that would replace it."""

    note: NoteView
    similarity: float
    call: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """Answer of `remember`. `stored` is false where the note was there before."""

    id: str
    stored: bool
    note: NoteView
    near_current: tuple[NearView, ...] = ()
    near_retired: tuple[NearView, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Superseded:
    """Answer of `supersede`: the new head, what it replaced, and notes that still say nearly the same."""

    id: str
    stored: bool
    note: NoteView
    replaced: tuple[NoteView, ...] = ()
    still_standing: tuple[NearView, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """Answer of `revoke` and `reinstate`: the chain as it stands now."""

    id: str
    status: str
    chain: ChainView
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """Answer of `recall`. `further` chains matched less well than those told and omitted.

    `tokens` is the size of the chains, `requirement_tokens` that of the requirements.
    """

    chains: tuple[ChainView, ...]
    requirements: tuple[RequirementView, ...]
    omitted: tuple[OmittedView, ...]
    subjects: tuple[str, ...]
    tokens: int
    requirement_tokens: int
    degraded: bool = False
    as_of: str = ""
    further: int = 0
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constrained:
    """Answer of `constraints`."""

    requirements: tuple[RequirementView, ...]
    subjects: tuple[str, ...]
    requirement_tokens: int
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rated:
    """Answer of `feedback`."""

    ids: tuple[str, ...]
    outcome: str


ANSWERS: Mapping[str, type] = MappingProxyType(
    {
        "remember": Remembered,
        "supersede": Superseded,
        "revoke": Changed,
        "reinstate": Changed,
        "recall": Recalled,
        "constraints": Constrained,
        "feedback": Rated,
    }
)
"""What each verb answers."""

Data = Remembered | Superseded | Changed | Recalled | Constrained | Rated


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verb returns: the lines that a model reads, and the same facts as data."""

    text: str
    data: Data


def as_data(value: Any) -> Any:
    """A view as plain JSON values, without the fields that are empty and have a default."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = [(field.name, getattr(value, field.name), field.default) for field in fields(value)]
        return {name: as_data(inner) for name, inner, default in pairs if inner != default}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [as_data(each) for each in value]
    return value


def note_view(member: Member, chain: Chain, formatter: Formatter) -> NoteView:
    """The note with its status and mark as the fold of `chain` says."""
    note = member.note
    return NoteView(
        id=note.id,
        text=note.text,
        status=member.status,
        subjects=note.subjects,
        klass=note.klass,
        source=note.source,
        recorded_at=formatter.time(note.recorded_at),
        mark=str(status_text_of(member, chain, formatter)),
        valid_from=formatter.time(note.valid_from) if note.valid_from else "",
        valid_until=formatter.time(note.valid_until) if note.valid_until else "",
        attribute=note.attribute or "",
    )


def chain_view(
    delivery: Delivery, shown: Iterable[str], formatter: Formatter, hidden: int = 0, counts: tuple[int, int] = (0, 0)
) -> ChainView:
    """The chain with those of its members that are shown."""
    kept = set(shown)
    chain, status_text = delivery.chain, status_texts(delivery, formatter)

    def view(member: Member) -> NoteView:
        return replace(note_view(member, chain, formatter), mark=str(status_text[member.id]))

    return ChainView(
        id=chain.id,
        lead=tuple(view(member) for member in delivery.lead),
        history=tuple(view(member) for member in delivery.rest if member.id in kept),
        since=tuple(note_view(member, delivery.today or chain, formatter) for member in delivery.since),
        hidden=hidden,
        contested=chain.contested,
        damaged=chain.cyclic,
        retrieved_session=counts[0],
        retrieved_total=counts[1],
    )


def requirement_view(requirement: Requirement, formatter: Formatter) -> RequirementView:
    """The notes that bind, and what is newer."""
    chain = requirement.chain
    bound = [member.id for member in requirement.binding]
    closed = chain.closure(bound)
    return RequirementView(
        id=chain.id,
        rules=tuple(note_view(member, chain, formatter) for member in requirement.binding),
        newer=tuple(
            note_view(member, chain, formatter)
            for member in chain.members.values()
            if member.id in closed and member.id not in bound
        ),
        contested=chain.contested,
    )
