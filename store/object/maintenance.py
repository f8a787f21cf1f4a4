"""Keeps a log on object storage small: compacts it when its appends have piled up.

Nobody is elected. Whoever looks compacts by chance, the likelier the more has piled up, so that of several processes
mostly one does. Where two do, LanceDB commits one of them, and the work of the other is thrown away. Appends are
not in the way of it, nor it in theirs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from random import random
from time import monotonic

from stilltrue.errors import StoreTrouble
from store.errors import ENGINE_ERRORS
from store.lance.engine import Database, Table, fragments

_log = logging.getLogger(__name__)

_FEWEST = 16
_MOST = 64
_RETAINED = timedelta(minutes=10)
"""So long the versions stay that somebody may be reading, and what a writer may be about to commit."""

_LEAST_LIMIT_S = 30.0
_LIMIT_S_PER_ROW = 0.001
_REST = 5.0


class RemoteMaintenance:
    """The upkeep of one log. `connect` opens a connection of its own. It rests five times as long as it took."""

    def __init__(self, location: str, table: Table, connect: Callable[[], Awaitable[Database]]) -> None:
        self._location = location
        self._table = table
        self._connect = connect
        self._rested_at = 0.0

    @staticmethod
    def chance(waiting: int) -> float:
        """How likely a look at so many fragments ends in a compaction."""
        return (waiting - _FEWEST) / (_MOST - _FEWEST)

    def maintain(self) -> None:
        """Compacts if it is due and the dice say so. Trouble is logged, and what is lost to another is not."""
        try:
            if monotonic() >= self._rested_at:
                self._table.checkout_latest()
                if random() < self.chance(fragments(self._table)):
                    self._compact()
        except TimeoutError:
            _log.warning("%s: a compaction was given up", self._location)
        except (StoreTrouble, *ENGINE_ERRORS) as error:
            lost = "conflict" in str(error).casefold()
            _log.log(
                logging.INFO if lost else logging.WARNING,
                "%s: could not be compacted now, and will be later: %s",
                self._location,
                " ".join(str(error).split())[:300],
            )

    def _compact(self) -> None:
        began = monotonic()
        try:
            asyncio.run(self._optimize(max(_LEAST_LIMIT_S, _LIMIT_S_PER_ROW * self._table.count_rows())))
        finally:
            self._rested_at = monotonic() + _REST * (monotonic() - began)

    async def _optimize(self, limit_s: float) -> None:
        table = await (await self._connect()).open_table(self._table.name)
        await asyncio.wait_for(table.optimize(cleanup_older_than=_RETAINED), limit_s)
