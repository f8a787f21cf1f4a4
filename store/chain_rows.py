"""From chain ids to whole chains: follows the joins that merges made, however the rows are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from stilltrue.chain import DisjointSets
from stilltrue.event import Event, Remembered
from store.port import ChainRecord, Vector


class ChainRow(NamedTuple):
    """What one row says of a chain: an event of it, or only (`event` is None) which chains it is one with."""

    chain: str
    joins: Collection[str]
    event: Event | None = None
    vector: Vector | None = None


def gather(ids: Collection[str], fetch: Callable[[Collection[str]], Iterable[ChainRow]]) -> list[ChainRecord]:
    """The whole chains with these ids, ordered by their oldest note.

    `fetch` brings all rows of some chain ids. It is called once, and once more for each step of joins that leads
    to a chain not asked for yet. Writers go on meanwhile; what a chain gains is written under the id of its oldest
    note, so that rows of two moments add up to the state of the earlier one, or to that of the later one.
    """
    asked: set[str] = set()
    wanted = set(ids)
    rows: list[ChainRow] = []
    while wanted:
        found = list(fetch(wanted))
        rows += found
        asked |= wanted
        wanted = {chain for row in found for chain in row.joins} - asked
    parts: dict[str, list[ChainRow]] = {}
    root = _roots(rows)
    for row in rows:
        parts.setdefault(root[row.chain], []).append(row)
    records = [_record(part) for part in parts.values()]
    return sorted((record for record in records if record.events), key=lambda record: record.events[0].id)


def _roots(rows: Iterable[ChainRow]) -> dict[str, str]:
    """For each chain id one id of those it is joined with, the same for all of them."""
    groups = DisjointSets()
    for row in rows:
        for joined in (row.chain, *row.joins):
            groups.join(row.chain, joined)
    return {chain: groups.name(chain) for chain in groups}


def _record(rows: Iterable[ChainRow]) -> ChainRecord:
    events = sorted((row.event for row in rows if row.event is not None), key=lambda event: event.id)
    vectors = {
        row.event.id: row.vector for row in rows if isinstance(row.event, Remembered) and row.vector is not None
    }
    return ChainRecord(frozenset(row.chain for row in rows), tuple(events), vectors)
