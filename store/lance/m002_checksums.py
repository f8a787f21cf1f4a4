"""Schema version 2: each row has the checksums of store/lance/checksum.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from store.lance.checksum import SUM, sums_of
from store.lance.engine import Table, arrow

_ROWS = 4_096
"""Rows that are held in memory at a time, 2 KB each."""


def add_checksums(table: Table) -> None:
    """Writes every row of the table anew, with its checksums. The indices of the table are gone afterwards."""
    pa = arrow()
    names = [name for name in table.schema.names if name not in (SUM, "vector")]
    fields = [table.schema.field(name) for name in names] + [pa.field(SUM, pa.int64())]
    if "vector" in table.schema.names:
        fields.append(table.schema.field("vector"))
    schema = pa.schema(fields, metadata=table.schema.metadata)
    table.add(
        pa.RecordBatchReader.from_batches(schema, _with_sums(table, schema)), mode="overwrite", on_bad_vectors="null"
    )


def _with_sums(table: Table, schema: Any) -> Iterator[Any]:
    pa = arrow()
    for start in range(0, table.count_rows(), _ROWS):
        rows = table.search().offset(start).limit(_ROWS).to_arrow()
        rows = rows.append_column(SUM, pa.array(sums_of(rows), pa.int64()))
        yield from rows.select(schema.names).cast(schema).to_batches()
