"""What a client receives when it connects: how to use the memory, and the default subject's requirements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from server import requirements_snapshot
from server.config.validators import is_remote
from server.tenants import Runtime
from stilltrue.errors import StilltrueError

USAGE = """\
A memory that returns what is still true. Call recall before you answer anything that may depend on the user, their \
people, projects or past decisions. Obey the REQUIREMENTS at its end. Call remember for each new lasting fact. If a \
recalled fact changed or was wrong, call supersede with its id; a second remember would leave both in force. Call \
revoke if it is false and nothing replaces it. Ids are the 16 characters in [brackets]."""

LIMIT = 2_048
"""The maximum length of instructions that clients pass on, in UTF-16 code units."""

_HEADING = "REQUIREMENTS of {subject} ({count}): your answer must respect every line below."
_STALE = "The memory has changed since this list was made; call constraints for the current one."
_REST = "{count} more did not fit: before you answer, call constraints for all of them."
_UNKNOWN = "There may be requirements: before you answer, call constraints for all of them."


def instructions(runtime: Runtime, now: datetime) -> str:
    """The usage and the saved requirements, within LIMIT, with a warning if the list is stale, cut or unknown."""
    try:
        location = runtime.location
    except StilltrueError:  # the caller is unknown
        return USAGE
    if is_remote(location):  # a remote store has no file that could be read before the answer
        return f"{USAGE}\n\n{_UNKNOWN}"
    folder = Path(location)
    if not folder.is_absolute() or not (version := requirements_snapshot.newest_version(folder)):
        return USAGE
    config = runtime.config
    snapshot = requirements_snapshot.read(folder)
    if snapshot is None or snapshot.subject != config.memory.default_subject:
        return f"{USAGE}\n\n{_UNKNOWN}"
    fresh = snapshot.is_fresh(version, config.classes.requirements, now)
    return composed(snapshot.subject, snapshot.rules, stale=not fresh)


def composed(subject: str, requirements: Sequence[str], *, stale: bool) -> str:
    """The usage, any warnings, then as many requirements as fit, none of them cut."""
    fitting = list(requirements)
    while True:
        parts = [USAGE, ""]
        if stale:
            parts.append(_STALE)
        if left := len(requirements) - len(fitting):
            parts.append(_REST.format(count=left))
        if fitting:
            parts += [_HEADING.format(subject=subject, count=len(requirements)), *fitting]
        text = "\n".join(parts).rstrip()
        if size(text) <= LIMIT or not fitting:
            return text
        # Dropping the longest first leaves room for the most requirements.
        fitting.remove(max(fitting, key=size))


def size(text: str) -> int:
    """The length of a text in UTF-16 code units, which is how clients count it."""
    return len(text.encode("utf-16-le")) // 2
