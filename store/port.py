"""The protocols that the verbs see: the log, the search, the usage counts, the embedder.

An adapter keeps them all or none; tests/storage/test_store_contract.py is what "keeps" means.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event
from stilltrue.retrieval.late_interaction import Sketch

Vector: TypeAlias = NDArray[np.float32]
"""One text as a unit row of `dimension` numbers."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Which vector space a vector lies in. Vectors of two fingerprints are never compared.

    `sha256` is that of the weights, so that the same model through two engines is one space.
    """

    model: str
    sha256: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.model}@{self.sha256[:12]}/{self.dimension}"


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text in a vector space: as one point and, for late interaction, token by token."""

    vector: Vector
    sketch: Sketch | None = None


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    def pieces(self, text: str) -> list[str]:
        """The text cut so that each piece fits the model's window. A short text is one piece, itself."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text: (len(texts), dimension)."""
        ...

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The same vectors, each with the sketch of its tokens where the model has one; for no more work."""
        ...


class Reranker(Protocol):
    """Reads the query and a text together, and says how well the text answers it."""

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One number for each text, (len(texts),); higher is better, the scale is the model's own."""
        ...


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One more way to a note: a piece of a long text, or a cue. A way is found, never delivered."""

    kind: Literal["piece", "cue"]
    text: str
    vector: Vector | None
    sketch: Sketch | None = None


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text as the store keeps it to be found: its first piece, further ways to it, and why it has no vector."""

    vector: Vector | None = None
    sketch: Sketch | None = None
    index_entries: tuple[IndexEntry, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as it is appended, with all by which it is found.

    `chain` is the id of the chain (that of its oldest note) and `joins` those of further chains which this
    event connects to it. `subjects` and `klasses` are those of the event's own note and of every note of its
    chain so far: the causal past. So whatever is newer than a note of a class and a subject is found under
    that class and that subject too, and the requirements of a subject are one query, closed towards newer.
    `vector` is that of the note's first piece, or of the reason of a revocation; None where no model was ready.
    """

    event: Event
    chain: str
    joins: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    klasses: tuple[str, ...] = ()
    digest: str | None = None
    vector: Vector | None = None
    sketch: Sketch | None = None
    index_entries: tuple[IndexEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class ChainRecord:
    """The events of one whole chain in log order, and the vectors of its notes that have one.

    `ids` are the chain ids under which its rows stand; a merge makes them several.
    """

    ids: frozenset[str]
    events: tuple[Event, ...]
    vectors: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """One row that a search found: the note and the chain it leads to, and how well it fits.

    `score` is the cosine in [-1, 1] for vectors, BM25 (0 and up) for full text. `vector` and `sketch` are those of
    the row.
    """

    note_id: str
    chain: str
    score: float
    vector: Vector | None = None
    sketch: Sketch | None = None


class LostRace(StoreTrouble):
    """Another process appended since `writing` was entered. Nothing was written, and all may be tried again."""


class Log(Protocol):
    """The append-only log, the only truth."""

    def writing(self) -> AbstractContextManager[None]:
        """Held around read, check and append, which then are one step: no other append, of any process, is between.

        In a folder others wait meanwhile. On object storage they do not, and `append` raises LostRace instead; who
        is to try again enters `writing` again, see `tools.attempts`. Raises StoreTrouble where the lock cannot be
        had in time. Readers never wait for it.
        """
        ...

    def append(self, entries: Sequence[Entry]) -> None:
        """All of the entries or none, durable on return. To be called inside `writing`, once.

        Raises StoreTrouble where the store cannot be written; then nothing has been, unless the error says otherwise.
        """
        ...

    def chains(self, ids: Collection[str]) -> list[ChainRecord]:
        """The whole chains with these chain ids, ordered by their oldest note; unknown ids are left out."""
        ...

    def chains_of(self, note_ids: Collection[str]) -> list[ChainRecord]:
        """The whole chains that hold these notes, ordered by their oldest note; unknown ids are left out."""
        ...

    def binding(self, klasses: Collection[str], subjects: Collection[str] | None) -> list[Event]:
        """The events of every chain that holds a note of these classes and subjects, closed towards newer.

        Complete: no limit. Notes older than the first of such a class or subject may be missing. Without
        `subjects`, those of all subjects. Events of several chains stand in log order.
        """
        ...

    def lost(self) -> int:
        """How many rows are damaged so that not even their chain is known. A damaged note whose chain is known is
        returned in it, as unreadable.
        """
        ...

    def events(self) -> list[Event]:
        """Every event there is, in log order, as of one moment."""
        ...

    def by_request(self, request_id: str) -> str | None:
        """The id of the note that was stored for this request, if one was."""
        ...

    def by_digest(self, digest: str) -> list[str]:
        """The ids of the notes with this content hash, oldest first."""
        ...

    def near_ids(self, prefix: str, limit: int = 5) -> list[str]:
        """Ids of notes that begin with `prefix`, in order; where none does, those that share most of its start."""
        ...

    def subjects(self, names: Collection[str] | None = None) -> list[str]:
        """The subjects that any note names, in order; with `names`, only those among them."""
        ...


class Search(Protocol):
    """Finds rows by what they say. Retired notes, reasons, pieces and cues are found like any other.

    With `subjects`, only rows whose chain names one of them. Best first; ties in the order of ids.
    """

    def by_vector(self, vector: Vector, subjects: Collection[str] | None, limit: int) -> list[Hit]: ...

    def by_text(self, text: str, subjects: Collection[str] | None, limit: int) -> list[Hit]: ...


@dataclass(frozen=True, slots=True)
class Count:
    """How often a note was delivered, in this session and in all, and when last (UTC), in this session and in any."""

    session: int = 0
    total: int = 0
    last_read_at: datetime | None = None
    session_read_at: datetime | None = None


class Usage(Protocol):
    """Retrieval counts. They are gathered in memory and written in batches: the last seconds may be lost."""

    def record(self, note_ids: Collection[str], session: str, at: datetime) -> None: ...

    def counts(self, note_ids: Collection[str], session: str) -> dict[str, Count]:
        """A count for each of the ids, zero where the note was never delivered."""
        ...

    def retrieved(self, session: str) -> dict[str, Count]:
        """A count for each note that this session was delivered."""
        ...

    def flush(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Health:
    """What the store says of itself. Bytes are those under its folder."""

    location: str
    schema_version: int
    notes: int
    rows: int
    size_bytes: int
    fingerprint: Fingerprint | None
    problems: tuple[str, ...] = ()


class Store(Log, Search, Protocol):
    """A log that can be searched, and closed."""

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The vector space of the stored vectors; None before the first vector."""
        ...

    @property
    def usage(self) -> Usage: ...

    def adopt(self, fingerprint: Fingerprint) -> bool:
        """Take this vector space as the store's if it has none yet; whether the store's is this one."""
        ...

    def health(self) -> Health: ...

    def maintain(self) -> None:
        """Maintenance that is due: flush the counts, compact. Safe to be killed in, never blocks a reader."""
        ...

    def close(self) -> None: ...
