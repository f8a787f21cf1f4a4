"""Which folder under a store is its log. Loads nothing, for those who must know before anything heavy is there."""

from __future__ import annotations

import json
from pathlib import Path

LOG = "log"
META = "store.json"


def log_name(generation: int) -> str:
    """How the log of a generation is called: `log`, then `log-2`, `log-3`, ..."""
    return LOG if generation == 1 else f"{LOG}-{generation}"


def generation_of(name: str, stem: str = LOG) -> int | None:
    """The generation that a name of the form `log-2` is of; None where it is of another form."""
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
    return location / f"{log_name(generation)}.lance"
