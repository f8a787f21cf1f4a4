"""Brings a store of an older schema to that of this program: on a copy, which is compared before it is used.

A kill at any moment leaves the old store or the new one. The old one stays as a store of its own in
`before-version-2/`, until somebody deletes it or an erasure removes it: it holds the words too.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from pathlib import Path

from stilltrue.errors import StilltrueError, StoreTrouble
from store.errors import explained
from store.files import ProcessLock
from store.folder.generations import abandon, begin, copy_version, settle, switch, unsettled
from store.folder.recovery import heal
from store.lance.compare import differences
from store.lance.engine import connect
from store.lance.schema import Meta, Upgrade, index_columns, newest, read_meta
from store.layout import ASIDE, KEPT, dataset

_log = logging.getLogger(__name__)


def upgrade(folder: Path, writers: ProcessLock, maintenance: ProcessLock, upgrades: Mapping[int, Upgrade]) -> None:
    """Upgrades the store in this folder, if there is one and it is of an older schema than the last of the steps.

    Raises StoreTrouble where it is of a newer one, or cannot be upgraded; then it is as it was.
    """
    known = newest(upgrades)
    meta = read_meta(folder, known)
    if meta is None or (meta.schema_version == known and not unsettled(folder, meta.generation)):
        return
    with maintenance.held(), writers.held(), explained(folder, f"to be upgraded to schema version {known}"):
        # Another process may have done it meanwhile.
        meta = read_meta(folder, known)
        if meta is None:
            return
        settle(folder, meta.generation)
        if meta.schema_version < known:
            try:
                _upgrade(folder, meta, {step: upgrades[step] for step in range(meta.schema_version + 1, known + 1)})
            except BaseException:
                abandon(folder, meta.generation)
                raise


def _upgrade(folder: Path, meta: Meta, steps: Mapping[int, Upgrade]) -> None:
    to, log = max(steps), dataset(folder, meta.log)
    heal(log, folder / ASIDE)
    database = connect(folder)
    original = database.open_table(meta.log)
    abandon(folder, meta.generation)
    kept = f"{KEPT}-{to}"
    if (folder / kept).exists():
        kept += f"-{uuid.uuid4().hex[:8]}"
    copy = begin(folder, meta, kept)
    copy_version(log, copy, int(original.version))
    table = database.open_table(copy.stem)
    for version, step in steps.items():
        try:
            step(table)
        except StilltrueError:
            raise
        except Exception as error:
            raise StoreTrouble(
                f"The step of the store at {folder} to schema version {version} failed: {error}.", _AS_IT_WAS
            ) from error
    index_columns(table)
    if found := differences(original, table):
        raise StoreTrouble(
            f"The store at {folder} would not say the same after its upgrade to schema version {to}."
            f" {' '.join(found)}",
            _AS_IT_WAS,
        )
    switch(folder, Meta(to, meta.fingerprint, meta.generation + 1), table)
    _log.warning(
        "%s was upgraded from schema version %d to %d. As it was before, it is kept in %s",
        folder,
        meta.schema_version,
        to,
        folder / kept,
    )


_AS_IT_WAS = "The store is as it was. Go on with the program that wrote it, and report this."
