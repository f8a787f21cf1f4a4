"""What a store needs of the place where it lies. The log and its rows are the same in each.

A folder has a lock for all processes of a machine, and a disk to wait for. Object storage has neither: there an
append is a compare-and-set. See docs/decisions/0009-compare-and-set-over-the-log.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from store.lance.engine import ArrowTable, Table
from store.port import Fingerprint, Usage

T = TypeVar("T")


class Backend(Protocol):
    """Where one store lies: its log and its counts, and how both are written there."""

    @property
    def location(self) -> str:
        """As people are told of it. There is no secret in it."""
        ...

    @property
    def usage(self) -> Usage: ...

    @property
    def table(self) -> Table:
        """The log."""
        ...

    @property
    def schema_version(self) -> int: ...

    @property
    def version(self) -> Hashable:
        """What is another whenever the log has changed."""
        ...

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The vector space of the log; where there is one, the log has the column for it."""
        ...

    def adopt(self, fingerprint: Fingerprint) -> None:
        """Takes up a vector space and gives it its column, unless one was taken up before, here or elsewhere."""
        ...

    def read(self, query: Callable[[Table], T]) -> T:
        """What a query on the log brings."""
        ...

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside `writing`."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Held around read, check and append; see `store.port.Log.writing`."""
        ...

    def add(self, rows: ArrowTable) -> int | None:
        """Commits the rows and says as which version; None where another writer was first and nothing was written."""
        ...

    def keep(self, version: int) -> None:
        """Returns when this version of the log would survive a power cut. Raises OSError where it might not."""
        ...

    def size_bytes(self) -> int: ...

    def problems(self) -> tuple[str, ...]:
        """What an operator should know of, in sentences."""
        ...

    def maintain(self) -> None:
        """Keeps the log and the counts small. Trouble is logged."""
        ...
