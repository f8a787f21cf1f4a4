"""What the tools answer: a text for the model, and the same facts as data.

Some clients forward only one of the two, so both are complete, and both are small: `data` leaves out what is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

from stilltrue.chain import Chain, Delivery
from stilltrue.lifecycle import Member
from stilltrue.note import Note
from stilltrue.requirement import Requirement
from stilltrue.text.formatting import Formatter
from stilltrue.text.status_text import StatusText, status_text_of


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note as it is delivered. `mark` is its status text."""

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
    """A chain as it is delivered: its `lead`, then the rest as `history`, newest first.

    `hidden` is the number of oldest notes that the budget cut. `since` are notes newer than the moment that was asked
    about. `retrieved_session` and `retrieved_total` count earlier deliveries of the lead.
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
    """A chain with notes that bind (`rules`), and the notes of the chain that are newer than they are (`newer`)."""

    id: str
    rules: tuple[NoteView, ...]
    newer: tuple[NoteView, ...] = ()
    contested: bool = False


@dataclass(frozen=True, slots=True)
class OmittedView:
    """A chain that did not fit into the budget, and the tokens that it needs."""

    id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class NearView:
    """A note near to the new one in meaning, and the call that would replace it."""

    note: NoteView
    similarity: float
    call: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """Answer of `remember`. `stored` is false if the note was stored before."""

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
    """Answer of `revoke` and `reinstate`: the chain as of now."""

    id: str
    status: str
    chain: ChainView
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """Answer of `recall`. `further` is the number of weaker matches beyond those delivered and omitted.

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
"""The answer of each tool."""

Data = Remembered | Superseded | Changed | Recalled | Constrained | Rated


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool returns: the lines that a model reads, and the same facts as data."""

    text: str
    data: Data


def as_data(value: Any) -> Any:
    """A view as plain JSON values, without the fields that have their default."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = [(field.name, getattr(value, field.name), field.default) for field in fields(value)]
        return {name: as_data(inner) for name, inner, default in pairs if inner != default}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [as_data(each) for each in value]
    return value


def note_view(member: Member, chain: Chain, formatter: Formatter, mark: StatusText | None = None) -> NoteView:
    """The note with its status in `chain`. `mark` is its status text, if that is known already."""
    note = member.note
    return NoteView(
        id=note.id,
        text=note.text,
        status=member.status,
        subjects=note.subjects,
        klass=note.klass,
        source=note.source,
        recorded_at=formatter.time(note.recorded_at),
        mark=str(status_text_of(member, chain, formatter) if mark is None else mark),
        valid_from=formatter.time(note.valid_from) if note.valid_from else "",
        valid_until=formatter.time(note.valid_until) if note.valid_until else "",
        attribute=note.attribute or "",
    )


def note_lines(verb: str, note: NoteView, notices: Sequence[str]) -> list[str]:
    """The first lines of an answer about a note: what was done to it, then the notices."""
    mark = f" - {note.mark}" if note.mark else "."
    head = f"{verb} [{note.id}] about {', '.join(note.subjects)}, as {note.klass}, from {note.source}{mark}"
    return [head, *(f"({notice})" for notice in notices)]


def validity_notice(note: Note, formatter: Formatter) -> list[str]:
    """When a note is valid, to the second and with the offset from UTC; nothing if it is unbounded."""
    start = [f"from {formatter.time(note.valid_from)}"] if note.valid_from else []
    end = [f"until {formatter.time(note.valid_until)}"] if note.valid_until else []
    return [f"valid {' '.join([*start, *end])}."] if start or end else []


def chain_view(
    delivery: Delivery,
    shown: Iterable[str],
    formatter: Formatter,
    texts: Mapping[str, StatusText],
    *,
    hidden: int = 0,
    counts: tuple[int, int] = (0, 0),
) -> ChainView:
    """The chain with those of its members that are shown. `texts` are the status texts of the delivery."""
    ids, chain = set(shown), delivery.chain

    def view(member: Member) -> NoteView:
        return note_view(member, chain, formatter, texts[member.id])

    return ChainView(
        id=chain.id,
        lead=tuple(view(member) for member in delivery.lead),
        history=tuple(view(member) for member in delivery.rest if member.id in ids),
        since=tuple(view(member) for member in delivery.since),
        hidden=hidden,
        contested=chain.contested,
        damaged=chain.cyclic,
        retrieved_session=counts[0],
        retrieved_total=counts[1],
    )


def requirement_view(requirement: Requirement, formatter: Formatter) -> RequirementView:
    """The notes of a chain that bind, and those that are newer."""
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
