"""Keeps the store small and quick: compacts the log when its appends have piled up.

Each append leaves a fragment, and each fragment costs every query some 0.3 ms. LanceDB can only compact a table
of this size by writing all of it again: 0.2 s of work at 5,000 notes, 3 s at 100,000. So after a compaction there
is a rest of three times as long, in which more fragments are allowed to pile up the more there is to write.
One process compacts at a time, nobody waits for it, and it may be killed at any moment.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from time import monotonic

from stilltrue.errors import StoreTrouble
from store.durable import ProcessLock, Syncer
from store.engine import Table, connect_async, fragments
from store.manifest import parts_of
from store.schema import LOG
from store.trouble import ENGINE_ERRORS

_log = logging.getLogger(__name__)

_FEWEST = 16
_MOST = 128
_TIME_LIMIT_S = 120.0
_STRAY_BYTES = 1 << 20


class Upkeep:
    """The upkeep of one store's log.

    `writers` is the lock of its writers and `syncer` what puts it on the disk. After a compaction it rests `rest`
    times as long as that took. Versions are kept for `retained_s` seconds before the one that is compacted.
    """

    def __init__(
        self,
        folder: Path,
        table: Table,
        writers: ProcessLock,
        syncer: Syncer,
        *,
        rest: float = 3.0,
        retained_s: float = 0.5,
    ) -> None:
        self._folder = folder
        self._dataset = folder / f"{LOG}.lance"
        self._table = table
        self._writers = writers
        self._syncer = syncer
        self._stamp = folder / "upkeep.lock"
        self._lock = ProcessLock(self._stamp, 0)
        self._rest = rest
        self._retained_s = retained_s
        self._rested_at = 0.0

    def tend(self) -> None:
        """Compacts if it is due and no other process is at it; a millisecond or two otherwise. Trouble is logged."""
        try:
            if self._due():
                with self._lock.tried() as mine:
                    if mine and self._due():
                        began = monotonic()
                        with self._alone_if_littered() as alone:
                            asyncio.run(self._compact(delete_unverified=alone))
                        self._syncer.sync(self._table.version)
                        self._rested_at = monotonic() + self._rest * (monotonic() - began)
        except (StoreTrouble, TimeoutError, *ENGINE_ERRORS):
            _log.warning("%s: could not be compacted now, and will be later", self._folder, exc_info=True)

    def _due(self) -> bool:
        waiting = fragments(self._table)
        return waiting > _MOST or (waiting > _FEWEST and monotonic() >= self._rested_at)

    async def _compact(self, *, delete_unverified: bool) -> None:
        # On a connection of its own, so that the time limit ends it for real and its caches end with it.
        table = await (await connect_async(self._folder)).open_table(LOG)
        work = table.optimize(cleanup_older_than=self._retained(), delete_unverified=delete_unverified)
        await asyncio.wait_for(work, _TIME_LIMIT_S)

    def _retained(self) -> timedelta:
        """How old a version has to be to be cleaned up: older than the newest one.

        A compaction is on the disk only some time after it is visible. Until then the version before it has to
        stay, or a power cut in between would leave neither.
        """
        newest = min(self._dataset.glob("_versions/*.manifest"))
        # Now, by the clock that dates the files: the lock file is ours to date.
        os.utime(self._stamp)
        age_s = max(self._stamp.stat().st_mtime - newest.stat().st_mtime, 0.0)
        return timedelta(seconds=age_s + self._retained_s)

    @contextmanager
    def _alone_if_littered(self) -> Iterator[bool]:
        """Keeps writers out where compactions that were killed left much behind; yields whether it does.

        LanceDB cannot tell such litter from what a writer is just about to commit, and keeps both for a week. With
        every writer kept out, what no version names is litter.
        """
        stray, named = self._bytes()
        if stray <= max(_STRAY_BYTES, named // 2):
            yield False
            return
        with self._writers.held():
            yield True

    def _bytes(self) -> tuple[int, int]:
        """The bytes of data files that no version names, and of those that one does."""
        parts = [parts_of(manifest.read_bytes()) for manifest in self._dataset.glob("_versions/*.manifest")]
        names = frozenset[str]().union(*(version.data for version in parts))
        sizes = {file.name: file.stat().st_size for file in self._dataset.glob("data/*")}
        named = sum(size for name, size in sizes.items() if name in names)
        return sum(sizes.values()) - named, named
