"""What a client is told when it connects: how to use the memory, and the rules of the default subject.

The log is not read for that, since a connection is answered before anything heavy is loaded. Beside each store lies
a small file that follows from it, written by the upkeep and at the end of a process, and read at the start.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from server.config.validators import is_remote
from stilltrue.errors import StilltrueError
from store.layout import log_folder

if TYPE_CHECKING:
    from server.tenants import TenantStores
    from server.wiring import StoreRuntime
    from tools.support.context import ToolContext

USAGE = """\
A memory that returns what is still true. Recall before you answer anything that may depend on the user, their \
people, projects or past decisions. Obey the REQUIREMENTS that recall ends with. Remember a lasting fact when you \
learn one. When a fact you recalled has changed or was wrong, call supersede with its id: a second remember would \
leave both standing. Revoke what is false and has no replacement. Ids are the 16 characters in [brackets]."""

FILE = "briefing.json"
"""Under which name it lies in the folder of the store. It may be deleted at any time."""

LIMIT = 2_048
"""The most characters (units of UTF-16) of instructions that clients pass on."""

_HEADING = "REQUIREMENTS of {subject} ({count}): rules, not notes. Your answer must respect every line below."
_STALE = "The memory has changed since this was written down; constraints has the rules of now."
_REST = "{count} more did not fit: call constraints, which has them all, before you answer."
_UNKNOWN = "Rules may be stored: call constraints, which has them all, before you answer."


@dataclass(frozen=True, slots=True)
class Briefing:
    """The rules of a subject as lines, made from the log when `version` was the newest file of it.

    `klasses` are the classes that were requirements. At `until`, an ISO time or nothing, one of them begins or ends.
    """

    subject: str
    klasses: tuple[str, ...]
    version: str
    until: str
    rules: tuple[str, ...]


def instructions(runtime: StoreRuntime | TenantStores, now: datetime) -> str:
    """The usage and the rules as they were written down last, within the limit, saying what is missing of them."""
    try:
        location = runtime.location
    except StilltrueError:  # nobody is known who calls
        return USAGE
    if is_remote(location):  # nothing lies beside such a store that could be read before the answer
        return f"{USAGE}\n\n{_UNKNOWN}"
    folder = Path(location)
    if not folder.is_absolute() or not (version := newest(folder)):
        return USAGE
    config = runtime.config
    kept = read(folder)
    if kept is None or kept.subject != config.memory.default_subject:
        return f"{USAGE}\n\n{_UNKNOWN}"
    fresh = is_fresh(kept, version, config.classes.requirements, now)
    return composed(kept.subject, kept.rules, stale=not fresh)


def composed(subject: str, rules: Sequence[str], *, stale: bool) -> str:
    """The usage, then as many rules as fit, each whole; what is to be said of them stands before them."""
    fitting = list(rules)
    while True:
        parts = [USAGE, ""]
        if stale:
            parts.append(_STALE)
        if left := len(rules) - len(fitting):
            parts.append(_REST.format(count=left))
        if fitting:
            parts += [_HEADING.format(subject=subject, count=len(rules)), *fitting]
        text = "\n".join(parts).rstrip()
        if size(text) <= LIMIT or not fitting:
            return text
        # The longest goes first, so that as many as can be are told.
        fitting.remove(max(fitting, key=size))


def size(text: str) -> int:
    """The length of a text as clients count it, in units of UTF-16."""
    return len(text.encode("utf-16-le")) // 2


def is_fresh(kept: Briefing, version: str, klasses: frozenset[str], now: datetime) -> bool:
    """Whether what was written down is what the log says now."""
    lasts = not kept.until or now < datetime.fromisoformat(kept.until)
    return kept.version == version and frozenset(kept.klasses) == klasses and lasts


def refresh(context: ToolContext, folder: Path) -> None:
    """Write down the rules of the default subject beside the store, if that has changed since."""
    from store.files import write_whole
    from tools.constraints import briefed

    # Looked at before the log is read: what is appended meanwhile makes it stale, not wrong.
    version, kept = newest(folder), read(folder)
    klasses, now = context.classes.requirements, context.clock()
    if kept and kept.subject == context.default_subject and is_fresh(kept, version, klasses, now):
        return
    rules, until = briefed(context)
    made = Briefing(
        subject=context.default_subject,
        klasses=tuple(sorted(klasses)),
        version=version,
        until=until.isoformat() if until else "",
        rules=tuple(rules),
    )
    write_whole(folder / FILE, json.dumps(asdict(made), ensure_ascii=False, indent=1).encode())


def read(folder: Path) -> Briefing | None:
    """What was written down for this store, None where that is nothing, or nothing that can be read."""
    try:
        kept = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return Briefing(
            subject=str(kept["subject"]),
            klasses=tuple(map(str, kept["klasses"])),
            version=str(kept["version"]),
            until=str(kept["until"]),
            rules=tuple(map(str, kept["rules"])),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def newest(folder: Path) -> str:
    """The newest version of the log by the name of its file, empty where there is no log. Later names are smaller."""
    try:
        log = log_folder(folder)
        names = [f"{log.name}/{file.name}" for file in (log / "_versions").iterdir() if file.suffix == ".manifest"]
    except OSError:
        return ""
    return min(names, default="")
