"""Keeps the store small and quick: compacts the log when its appends have piled up.

Each append leaves a fragment, and each fragment costs every query some 0.3 ms. Two things are done about it:

- The rows of the newest fragments, those that no index knows of yet, are gathered in one. Writers wait for some tens
  of milliseconds, however large the log is.
- The log is compacted: old versions go, and the indices learn of the new rows. LanceDB writes the log again for it,
  0.2 s of work at 5,000 notes and 3 s at 100,000. So after it there is a rest of five times as long. Nobody waits.

One process is at it at a time, and it may be killed at any moment.
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
from store.errors import ENGINE_ERRORS
from store.files import ProcessLock, Syncer, remove_drafts
from store.folder.generations import former, retire
from store.folder.manifest import parts_of
from store.lance.engine import Table, connect_async, fragments, unindexed
from store.layout import MAINTENANCE_LOCK, dataset, generation_of

_log = logging.getLogger(__name__)

_FEWEST = 16
_MOST = 128
_MANY_VERSIONS = 64
_MANY_UNINDEXED = 1_000
_PATIENCE = 4
_LEAST_LIMIT_S = 1.0
_LIMIT_S_PER_ROW = 0.0002
_SLACK_S = 0.25
_STRAY_BYTES = 1 << 20


def retained(written_at_s: float, now_s: float, limit_s: float) -> timedelta:
    """How old a version has to be to be cleaned up, so that the one written then outlives a compaction from now on.

    A compaction is on the disk only some time after it can be seen. Until then the version before it has to stay,
    or a power cut in between would leave neither. LanceDB counts the age at the end of its work, which takes
    `limit_s` at most.
    """
    return timedelta(seconds=max(now_s - written_at_s, 0.0) + limit_s + _SLACK_S)


class Maintenance:
    """The upkeep of one store's log.

    `writers` is the lock of its writers and `syncer` what puts it on the disk. After a compaction it rests `rest`
    times as long as that took. A compaction that takes much longer than the one before it is given up.
    """

    def __init__(
        self, folder: Path, table: Table, writers: ProcessLock, syncer: Syncer, *, rest: float = 5.0
    ) -> None:
        self._folder = folder
        self._dataset = dataset(folder, table.name)
        self._table = table
        self._writers = writers
        self._syncer = syncer
        self._stamp = folder / MAINTENANCE_LOCK
        self._lock = ProcessLock(self._stamp, 0)
        self._rest = rest
        self._rested_at = 0.0
        self._limit_s = 0.0

    def maintain(self) -> None:
        """Compacts if it is due and no other process is at it; a millisecond or two otherwise. Trouble is logged."""
        try:
            generation = generation_of(self._table.name) or 1
            if former(self._folder, generation):
                with self._lock.tried() as mine:
                    if mine:
                        retire(self._folder, generation, self._stamp)
            if fragments(self._table) > _FEWEST:
                with self._lock.tried() as mine:
                    if mine:
                        self._merge_fragments()
            if self._due():
                with self._lock.tried() as mine:
                    if mine and self._due():
                        self._compact()
        except TimeoutError:
            _log.warning("%s: a compaction was given up after %.1f s", self._folder, self._limit_s)
            self._limit_s *= 2
        except (StoreTrouble, *ENGINE_ERRORS):
            _log.warning("%s: could not be compacted now, and will be later", self._folder, exc_info=True)

    def _due(self) -> bool:
        waiting = fragments(self._table)
        if waiting > _MOST:
            return True
        # After a burst of writes there are few fragments, and many versions that could not be cleaned up then. An
        # import is one fragment, of which no index knows.
        versions = len(os.listdir(self._dataset / "_versions"))
        piled_up = waiting > _FEWEST or versions > _MANY_VERSIONS or unindexed(self._table) > _MANY_UNINDEXED
        return piled_up and monotonic() >= self._rested_at

    def _merge_fragments(self) -> None:
        with self._writers.held():
            new, rows = unindexed(self._table), self._table.count_rows()
            if not 0 < new <= _MANY_UNINDEXED:
                return
            # Fragments stand in the order of their appends, and a fragment of which no row is left is none any more.
            newest = self._table.search().offset(rows - new).limit(new).to_arrow()
            merge = self._table.merge_insert("id").when_matched_update_all()
            merged = merge.execute(newest, on_bad_vectors="null")  # most rows of some sorts have none
            self._syncer.sync(int(merged.version))

    def _compact(self) -> None:
        self._limit_s = self._limit_s or max(_LEAST_LIMIT_S, _LIMIT_S_PER_ROW * self._table.count_rows())
        with self._alone_if_littered() as alone:
            began = monotonic()
            asyncio.run(self._optimize(delete_unverified=alone))
            if alone:
                remove_drafts(self._dataset)
        self._syncer.sync(self._table.version)
        took_s = monotonic() - began
        self._limit_s = max(_LEAST_LIMIT_S, _PATIENCE * took_s)
        self._rested_at = monotonic() + self._rest * took_s

    async def _optimize(self, *, delete_unverified: bool) -> None:
        # On a connection of its own, so that the time limit ends it for real and its caches end with it.
        table = await (await connect_async(self._folder)).open_table(self._table.name)
        newest = parts_of(min(self._dataset.glob("_versions/*.manifest")).read_bytes())
        # Now, by the clock that dates files: the lock file is ours to date.
        os.utime(self._stamp)
        age = retained(newest.written_at_s, self._stamp.stat().st_mtime, self._limit_s)
        work = table.optimize(cleanup_older_than=age, delete_unverified=delete_unverified)
        await asyncio.wait_for(work, self._limit_s)

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
