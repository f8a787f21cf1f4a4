"""The requirements of the default subject, saved in a small file beside the store.

A connection is answered before anything heavy is loaded, so the log cannot be read for it. Maintenance and the end of
a process write the file; the next start reads it. It is derived from the log and may be deleted at any time.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from store.layout import log_folder

if TYPE_CHECKING:
    from tools.support.context import ToolContext

FILE = "briefing.json"
"""The name of the file in the folder of the store."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The requirements of a subject as lines, taken when `version` was the newest version of the log.

    `klasses` are the requirement classes at that time. At `until`, an ISO time or empty, one of the requirements
    begins or ends.
    """

    subject: str
    klasses: tuple[str, ...]
    version: str
    until: str
    rules: tuple[str, ...]

    def is_fresh(self, version: str, klasses: frozenset[str], now: datetime) -> bool:
        """Whether the log would still give the same lines: same version, same classes, nothing began or ended."""
        lasts = not self.until or now < datetime.fromisoformat(self.until)
        return self.version == version and frozenset(self.klasses) == klasses and lasts


def refresh(context: ToolContext, folder: Path) -> None:
    """Write the snapshot of the store in this folder, unless the one on disk is still fresh."""
    from store.files import write_whole
    from tools.constraints import briefed

    # The version is taken before the log is read: an append in between makes the snapshot stale, not wrong.
    version, cached = newest_version(folder), read(folder)
    klasses, now = context.classes.requirements, context.clock()
    if cached and cached.subject == context.default_subject and cached.is_fresh(version, klasses, now):
        return
    lines, until = briefed(context)
    made = Snapshot(
        subject=context.default_subject,
        klasses=tuple(sorted(klasses)),
        version=version,
        until=until.isoformat() if until else "",
        rules=tuple(lines),
    )
    write_whole(folder / FILE, json.dumps(asdict(made), ensure_ascii=False, indent=1).encode())


def read(folder: Path) -> Snapshot | None:
    """The snapshot of the store in this folder; None if the file is missing or unreadable."""
    try:
        stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return Snapshot(
            subject=str(stored["subject"]),
            klasses=tuple(map(str, stored["klasses"])),
            version=str(stored["version"]),
            until=str(stored["until"]),
            rules=tuple(map(str, stored["rules"])),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def newest_version(folder: Path) -> str:
    """The file name of the newest version of the log, or empty if there is no log. LanceDB's names count down."""
    try:
        log = log_folder(folder)
        names = [f"{log.name}/{file.name}" for file in (log / "_versions").iterdir() if file.suffix == ".manifest"]
    except OSError:
        return ""
    return min(names, default="")
