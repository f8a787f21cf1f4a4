"""The store in memory, for `--ephemeral` and for tests. It keeps the same contract as the one on the disk.

Plain lists and exact search: every read looks at every row, which is quick up to some ten thousand notes.
"""

from __future__ import annotations

import json
import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from stilltrue.errors import StoreTrouble
from stilltrue.event import Event, Remembered, to_row
from stilltrue.ids import LENGTH
from stilltrue.retrieval.late_interaction import Sketch
from store.chain_rows import ChainRow, gather
from store.lance.rows import best, subjects_of
from store.lance.schema import VERSION
from store.lance.usage import Reads, Tally, add_to, counts_in, notes_of
from store.port import ChainRecord, Count, Entry, Fingerprint, Health, Hit, Usage, Vector

_WORD = re.compile(r"\w+")
_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class _Doc:
    """One text or vector by which a note is found; the rows of LanceDB that carry either."""

    row_id: str
    note_id: str
    chain: str
    subjects: frozenset[str]
    words: Counter[str]
    vector: Vector | None
    sketch: Sketch | None


class EphemeralStore:
    """A store that ends with its process. See store.port.Store."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._writer: int | None = None
        # Appended to as a whole and never changed, so that readers need no lock.
        self._entries: list[Entry] = []
        self._docs: list[_Doc] = []
        self._fingerprint: Fingerprint | None = None
        self._usage = EphemeralUsage()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._lock:
            before, self._writer = self._writer, threading.get_ident()
            try:
                yield
            finally:
                self._writer = before

    def append(self, entries: Sequence[Entry]) -> None:
        if self._writer != threading.get_ident():
            raise RuntimeError("append() is to be called inside writing()")
        docs = [doc for entry in entries for doc in _docs_of(entry)]
        dimension = self._fingerprint.dimension if self._fingerprint else None
        for doc in docs:
            if doc.vector is not None and len(doc.vector) != dimension:
                raise StoreTrouble(
                    f"A vector of {len(doc.vector)} numbers does not fit a space of {dimension or 'no'} dimensions.",
                    "Configure the embedding model that this store was made with.",
                )
        # The entries first: whatever a search finds can then be read.
        self._entries.extend(entries)
        self._docs.extend(docs)

    def chains(self, ids: Collection[str]) -> list[ChainRecord]:
        return gather(ids, self._chain_rows)

    def chains_of(self, note_ids: Collection[str]) -> list[ChainRecord]:
        return self.chains({entry.chain for entry in self._entries if entry.event.id in note_ids and _carries(entry)})

    def _chain_rows(self, ids: Collection[str]) -> Iterator[ChainRow]:
        for entry in list(self._entries):
            if entry.chain in ids:
                yield ChainRow(entry.chain, entry.joins, entry.event, entry.vector)
            yield from (ChainRow(joined, [entry.chain]) for joined in entry.joins if joined in ids)

    def binding(self, klasses: Collection[str], subjects: Collection[str] | None) -> list[Event]:
        found = [
            entry.event
            for entry in self._entries
            if not set(klasses).isdisjoint(entry.klasses)
            and (subjects is None or not set(subjects).isdisjoint(entry.subjects))
        ]
        return sorted(found, key=lambda event: event.id)

    def events(self) -> list[Event]:
        return sorted((entry.event for entry in list(self._entries)), key=lambda event: event.id)

    def lost(self) -> int:
        return 0

    def by_request(self, request_id: str) -> str | None:
        return next(iter(self._ids(lambda entry: _request_of(entry) == request_id)), None)

    def by_digest(self, digest: str) -> list[str]:
        return self._ids(lambda entry: entry.digest == digest)

    def near_ids(self, prefix: str, limit: int = 5) -> list[str]:
        ids = self._ids(_carries)
        for length in range(len(prefix[:LENGTH]), 0, -1):
            if near := [note_id for note_id in ids if note_id.startswith(prefix[:length])]:
                return near[:limit]
        return [] if prefix else ids[:limit]

    def _ids(self, wanted: Callable[[Entry], bool]) -> list[str]:
        return sorted(entry.event.id for entry in self._entries if wanted(entry))

    def subjects(self, names: Collection[str] | None = None) -> list[str]:
        known = subjects_of(list(self._entries))
        return sorted(known if names is None else known.intersection(names))

    def by_vector(self, vector: Vector, subjects: Collection[str] | None, limit: int) -> list[Hit]:
        space = self._fingerprint
        if space is None:
            return []
        if len(vector) != space.dimension:
            raise StoreTrouble(
                f"A vector of {len(vector)} numbers cannot be compared with those of {space}.",
                "Configure the embedding model that this store was made with.",
            )
        docs, stored = [], []
        for doc in self._about(subjects):
            if doc.vector is not None:
                docs.append(doc)
                stored.append(doc.vector)
        if not docs:
            return []
        rows = np.asarray(stored, np.float32)
        with np.errstate(invalid="ignore"):
            cosines = rows @ vector / (np.linalg.norm(rows, axis=1) * np.linalg.norm(vector))
        # What has no direction is near to nothing.
        there = ((doc, cosine) for doc, cosine in zip(docs, cosines.tolist(), strict=True) if math.isfinite(cosine))
        return _best(there, limit)

    def by_text(self, text: str, subjects: Collection[str] | None, limit: int) -> list[Hit]:
        """Scores by BM25 (Robertson and Zaragoza 2009, k1 = 1.2, b = 0.75) over the words of all rows."""
        docs = [doc for doc in self._docs if doc.words]
        mean = sum(doc.words.total() for doc in docs) / max(len(docs), 1)
        weights = {}
        for word in _words(text):
            holding = sum(word in doc.words for doc in docs)
            weights[word] = math.log(1 + (len(docs) - holding + 0.5) / (holding + 0.5))
        scored = []
        for doc in self._about(subjects):
            length = 1 - _B + _B * doc.words.total() / mean if doc.words else 1.0
            counts = ((weight, doc.words[word]) for word, weight in weights.items() if word in doc.words)
            score = sum(weight * n * (_K1 + 1) / (n + _K1 * length) for weight, n in counts)
            if score > 0:
                scored.append((doc, score))
        return _best(scored, limit)

    def _about(self, subjects: Collection[str] | None) -> list[_Doc]:
        return [doc for doc in self._docs if subjects is None or not doc.subjects.isdisjoint(subjects)]

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self._fingerprint

    def adopt(self, fingerprint: Fingerprint) -> bool:
        with self._lock:
            self._fingerprint = self._fingerprint or fingerprint
        return self._fingerprint == fingerprint

    @property
    def usage(self) -> Usage:
        return self._usage

    def health(self) -> Health:
        return Health("memory", VERSION, len(self._ids(_carries)), len(self._docs), 0, self._fingerprint)

    def maintain(self) -> None:
        """There is nothing to tend."""

    def close(self) -> None:
        """There is nothing to close."""


class EphemeralUsage:
    """Retrieval counts that end with their process. See store.port.Usage."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._tally: Tally = {}

    def record(self, note_ids: Collection[str], session: str, at: datetime) -> None:
        with self._mutex:
            for note_id in note_ids:
                add_to(self._tally, note_id, session, Reads(1, at))

    def counts(self, note_ids: Collection[str], session: str) -> dict[str, Count]:
        with self._mutex:
            return counts_in(self._tally, note_ids, session)

    def retrieved(self, session: str) -> dict[str, Count]:
        with self._mutex:
            return counts_in(self._tally, notes_of(self._tally, session), session)

    def flush(self) -> None:
        """There is nothing to flush."""


def _docs_of(entry: Entry) -> list[_Doc]:
    """The event's own row, then one for each further way. Raises UnicodeEncodeError as the store on the disk does."""
    event = entry.event
    text = event.note.text if isinstance(event, Remembered) else getattr(event, "reason", None)
    index_entries = [(event.id, text, entry.vector, entry.sketch)]
    index_entries += [
        (f"{event.id}.{number}", way.text, way.vector, way.sketch) for number, way in enumerate(entry.index_entries)
    ]
    said = [to_row(event), entry.chain, entry.joins, entry.subjects, entry.klasses, entry.digest]
    json.dumps([said, [way_text for _, way_text, _, _ in index_entries]], ensure_ascii=False).encode()
    subjects = frozenset(entry.subjects)
    return [
        _Doc(row_id, event.note_id, entry.chain, subjects, Counter(_words(way_text or "")), vector, sketch)
        for row_id, way_text, vector, sketch in index_entries
    ]


def _best(scored: Iterable[tuple[_Doc, float]], limit: int) -> list[Hit]:
    found = {doc.row_id: Hit(doc.note_id, doc.chain, score, doc.vector, doc.sketch) for doc, score in scored}
    return best(found, limit)


def _words(text: str) -> list[str]:
    """The words of a text, case-folded and without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(character for character in plain if not unicodedata.combining(character)))


def _carries(entry: Entry) -> bool:
    return isinstance(entry.event, Remembered)


def _request_of(entry: Entry) -> str | None:
    return entry.event.request_id if isinstance(entry.event, Remembered) else None
