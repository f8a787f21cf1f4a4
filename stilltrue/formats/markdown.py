"""A store as readable files: one page of Markdown for each subject, and one that lists them.

What holds stands first and is marked where it is a requirement; what no longer holds is marked as history. For
people to read: nothing reads these pages back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from stilltrue.chain import Chain, deliver
from stilltrue.classes import Classes
from stilltrue.requirements.binding import requirements
from stilltrue.text.formatting import Formatter
from stilltrue.text.render import chain_lines

INDEX = "_index.md"
"""The page that lists all others. No subject's page is called so."""

_LONGEST = 60
_UNSAFE = re.compile(r"[^\w-]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


def pages(found: Sequence[Chain], classes: Classes, formatter: Formatter, moment: datetime) -> dict[str, str]:
    """The pages by their file name. A chain stands on the page of every subject that any of its notes names."""
    subjects = sorted({subject for chain in found for subject in chain.subjects})
    made = {}
    listed = []
    for subject in subjects:
        about = [chain for chain in found if subject in chain.subjects]
        name = file_name(subject)
        made[name] = _page(subject, about, classes, formatter, moment)
        held = sum(not chain.retired for chain in about)
        listed.append(f"- [{_plain(subject)}]({name}): {held} that hold, {len(about) - held} that no longer do")
    head = ["# What is remembered", "", f"As of {formatter.time(moment)}.", ""]
    return made | {INDEX: "\n".join([*head, *(listed or ["Nothing."])]) + "\n"}


def file_name(subject: str) -> str:
    """A name that every file system takes, of a subject's letters; where they are not all of it, with a hash as well.

    No two subjects have one name, also where a file system does not tell capitals from small letters.
    """
    slug = _UNSAFE.sub("-", subject.casefold())[:_LONGEST].strip("-_")
    whole = slug == subject and not _RESERVED.fullmatch(slug)
    mark = hashlib.sha256(subject.encode(errors="surrogatepass")).hexdigest()[:10]
    return f"{slug}.md" if whole and slug else f"{slug}-{mark}.md".lstrip("-")


def _page(subject: str, about: Sequence[Chain], classes: Classes, formatter: Formatter, moment: datetime) -> str:
    binding = {
        each.chain.id: {member.id for member in each.binding} for each in requirements(about, classes, [subject])
    }
    bound = [chain for chain in about if chain.id in binding]
    held = [chain for chain in about if chain.id not in binding and not chain.retired]
    gone = [chain for chain in about if chain.id not in binding and chain.retired]
    lines = [f"# {_plain(subject)}", "", f"As of {formatter.time(moment)}."]
    for heading, some in (("Requirements", bound), ("What holds", held), ("History: none of this holds", gone)):
        if some:
            lines += ["", f"## {heading}", ""]
            lines += [line for chain in some for line in _told(chain, formatter, binding.get(chain.id, ()))]
    return "\n".join(lines) + "\n"


def _told(chain: Chain, formatter: Formatter, binding: Iterable[str]) -> list[str]:
    """The chain as a list: its lead, and below that its history, newest first."""
    bound, told = set(binding), []
    for line in chain_lines(deliver(chain, chain.members), formatter):
        text = line.text.strip().removeprefix("* ").removeprefix("= ")
        bullet = "- " if line.text.startswith("* ") else "  - "
        mark = "**REQUIREMENT** " if line.note_id in bound else ""
        told.append(bullet + mark + _plain(text).replace("\n      ", "\n        "))
    return told


def _plain(text: str) -> str:
    """Words of others, so that they cannot become HTML in a page."""
    return text.replace("<", "\\<")
