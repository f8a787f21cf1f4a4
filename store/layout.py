"""What stands in the folder of a store: the name of every file, folder and lock. Loads nothing, so anyone may ask.

store.json              schema version, vector space and generation of the log; replaced as a whole
log.lance               the log, one LanceDB table; from the second generation on log-2.lance, ...
usage.lance             retrieval counts
erasing.json            what is being erased; there from before the first change until after the last
next.json               which generation is being made, and what becomes of the one before it
reembed-2/              what another model has made of the texts so far
before-version-2/       a whole store, as it was before an upgrade
set-aside/              what a crash tore
derived/                what follows from the log and is written anew; erasing empties it
*.lock                  locks: of writers, of maintenance, of the counts, of a re-embedding
"""

from __future__ import annotations

import json
from pathlib import Path

META = "store.json"
LOG = "log"
USAGE = "usage"
INTENT = "erasing.json"
NEXT = "next.json"
STAGING = "reembed"
KEPT = "before-version"
ASIDE = "set-aside"
DERIVED = "derived"
FORMER_DERIVED = "briefing.json"
"""What servers of 0.1.0 wrote beside the log for their next start, with words of notes in it."""

WRITERS_LOCK = "write.lock"
MAINTENANCE_LOCK = "upkeep.lock"
USAGE_LOCK = "usage.lock"
REEMBED_LOCK = "reembed.lock"


def dataset(folder: Path, table: str) -> Path:
    """Where LanceDB keeps the table of this name."""
    return folder / f"{table}.lance"


def log_name(generation: int) -> str:
    """The name of the log of a generation: `log`, then `log-2`, `log-3`, ..."""
    return LOG if generation == 1 else f"{LOG}-{generation}"


def generation_of(name: str, stem: str = LOG) -> int | None:
    """The generation in a name of the form `log-2`; None for a name of another form."""
    number = name.removeprefix(f"{stem}-")
    if name == stem == LOG:
        return 1
    return int(number) if number != name and number.isdecimal() else None


def log_folder(location: Path) -> Path:
    """The folder of the log that store.json names, read past all checks; that of the first one where none does."""
    try:
        generation = int(json.loads((location / META).read_bytes()).get("generation", 1))
    except (OSError, ValueError, TypeError, AttributeError):
        generation = 1
    return dataset(location, log_name(generation))
