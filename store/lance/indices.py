"""Whether the indices of the log lead to the rows: by their own counts, and by asking each for some rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stilltrue.event import Row
from store.errors import ENGINE_ERRORS
from store.lance.engine import Table
from store.lance.filters import any_of, quoted
from store.lance.schema import INDICES

_PROBES = 12
"""How many rows each index is asked for."""

_WORD = re.compile(r"[a-z]{3,30}")


def index_problems(table: Table, rows: Sequence[Row]) -> list[str]:
    """Sentences about what is wrong with the indices of this table, which consists of these rows."""
    there = {column: index.name for index in table.list_indices() for column in index.columns}
    kinds = {column: index.index_type for index in table.list_indices() for column in index.columns}
    problems = [f"There is no index on {column}." for column in INDICES if column not in there]
    for column in INDICES:
        if column not in there:
            continue
        try:
            if kinds[column].replace("_", "").lower() != INDICES[column].lower():
                problems.append(f"The index on {column} is a {kinds[column]}, and is to be a {INDICES[column]}.")
            stats = table.index_stats(there[column])
            counted = stats.num_indexed_rows + stats.num_unindexed_rows
            if counted != len(rows):
                problems.append(f"The index on {column} accounts for {counted} rows of {len(rows)}.")
            problems += _probed(table, column, rows)
        except ENGINE_ERRORS as error:
            problems.append(f"The index on {column} cannot be read: {' '.join(str(error).split())[:200]}.")
    return problems


def _probed(table: Table, column: str, rows: Sequence[Row]) -> Iterator[str]:
    """Asks the index for some values that stand in the rows, and compares with the rows."""
    asked = _texts(rows) if column == "text" else _values(rows, column)
    for value, wanted in _spread(sorted(asked.items())):
        if column == "text":
            query = table.search(value, query_type="fts", fts_columns="text").limit(len(rows))
            found = set(query.select(["id", "_score"]).to_arrow().column("id").to_pylist())
            lost = wanted - found
        else:
            where = any_of(column, [value]) if INDICES[column] == "LabelList" else f"{column} = {quoted(value)}"
            found = set(table.search().where(where).select(["id"]).to_arrow().column("id").to_pylist())
            lost = wanted ^ found
        if lost:
            yield f"The index on {column} is wrong about {value!r}: {', '.join(sorted(lost)[:3])}."


def _values(rows: Sequence[Row], column: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        values = row[column] if isinstance(row[column], list) else [row[column]]
        for value in values:
            if value:
                found.setdefault(value, set()).add(row["id"])
    return found


def _texts(rows: Sequence[Row]) -> dict[str, set[str]]:
    """Plain words and the rows that say them. Only whole lower-case words, which every tokenizer parts alike."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for word in (row["text"] or "").split():
            if _WORD.fullmatch(word):
                found.setdefault(word, set()).add(row["id"])
    return found


def _spread(items: list[tuple[str, set[str]]]) -> list[tuple[str, set[str]]]:
    step = max(1, len(items) // _PROBES)
    return items[::step][:_PROBES]
