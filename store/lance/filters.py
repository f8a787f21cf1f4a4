"""The one place where a value becomes part of a query. No value may change what is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

CHUNK = 300
"""How many values stand in one list. Longer lists are asked in several queries: planning them is superlinear."""


def quoted(value: str) -> str:
    """The value as an SQL string literal. A quote is the only character that means anything in there."""
    return "'" + value.replace("'", "''") + "'"


def one_of(column: str, values: Sequence[str]) -> str:
    """The condition that the text in `column` is one of the values; there has to be one."""
    return f"{column} IN ({', '.join(map(quoted, values))})"


def any_of(column: str, values: Sequence[str]) -> str:
    """The condition that the list in `column` holds any of the values; there has to be one."""
    return f"array_has_any({column}, make_array({', '.join(map(quoted, values))}))"


def about_any(subjects: Collection[str] | None) -> Iterator[list[str]]:
    """The conditions that a row is about any of the subjects, one for each query to be made: none where all count."""
    if subjects is None:
        yield []
    else:
        yield from ([any_of("subjects", some)] for some in chunks(subjects))


def chunks(values: Iterable[str]) -> Iterator[list[str]]:
    """The distinct values that a store can hold at all, in order, in lists that are short enough to ask for."""
    wanted = sorted(value for value in set(values) if storable(value))
    for start in range(0, len(wanted), CHUNK):
        yield wanted[start : start + CHUNK]


def storable(value: str) -> bool:
    """Whether the value is proper Unicode. A lone surrogate has no UTF-8 form, so that no row can hold it."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
