"""Checksums of rows, so that a flipped bit is seen and never believed.

A row has two, kept in one 64-bit column: of its facts (which event, of which note and chain, whose, of which class)
and of its words (text and body). They are apart since the facts of all rows are held in memory and have to be
verified without reading the words, and since a row whose facts are damaged can be understood by its body alone.

CRC-32 finds every error of one, two or three bits in a row of this size, and all but one in four billion of the
others. It is no protection against somebody who writes on purpose: who can write the files can write the sums.
Vectors and sketches are not covered: they decide where a search enters, never what is returned.
"""

from __future__ import annotations

from zlib import crc32

from store.lance.engine import ArrowTable, arrow

FACTS = ("id", "kind", "note", "chain", "joins", "subjects", "klasses", "digest", "request")
"""The columns that the first sum covers, in this order."""

WORDS = ("text", "body")
"""The columns that the second sum covers, in this order."""

SUM = "sum"
"""The column of both sums: the first in its upper half, the second in its lower."""

_FIELD = "\x1f"
_ITEM = "\x1e"
_NULL = "\x00"


def sums_of(table: ArrowTable) -> list[int]:
    """Both sums of each row of a table with the columns FACTS and WORDS, as signed 64-bit numbers."""
    pairs = zip(facts_sums(table), words_sums(table), strict=True)
    return [(facts << 32 | words) - (1 << 63) for facts, words in pairs]


def facts_sums(table: ArrowTable) -> list[int]:
    """The first sum of each row: (rows,) numbers from 0 to 2**32 - 1."""
    return _sums(table, FACTS)


def words_sums(table: ArrowTable) -> list[int]:
    """The second sum of each row: (rows,) numbers from 0 to 2**32 - 1."""
    return _sums(table, WORDS)


def stored_sums(table: ArrowTable) -> list[tuple[int, int] | None]:
    """Both sums as they are stored in each row; None where a row has none."""
    stored = table.column(SUM).to_pylist()
    return [None if each is None else divmod(each + (1 << 63), 1 << 32) for each in stored]


def damage_in(table: ArrowTable) -> list[str]:
    """For each row, which part of it does not match its checksum: `facts`, `words`, both, or empty for neither."""
    if SUM not in table.column_names:
        return [""] * table.num_rows
    found = zip(stored_sums(table), facts_sums(table), words_sums(table), strict=True)
    return [
        " and ".join(
            name for name, is_wrong in (("facts", stored[0] != facts), ("words", stored[1] != words)) if is_wrong
        )
        if stored
        else ""
        for stored, facts, words in found
    ]


def _sums(table: ArrowTable, columns: tuple[str, ...]) -> list[int]:
    pc, pa = arrow().compute, arrow()
    parts = []
    for name in columns:
        column = table.column(name)
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            # An empty list and a missing one say the same, and LanceDB returns either as the other.
            column = pc.fill_null(pc.binary_join(column, _ITEM), "")
        parts.append(pc.fill_null(column, _NULL).cast(pa.large_utf8()))
    joined = pc.binary_join_element_wise(*parts, pa.scalar(_FIELD, pa.large_utf8()))
    return [crc32(row.encode()) for row in joined.to_pylist()]
