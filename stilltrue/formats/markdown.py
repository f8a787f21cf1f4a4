"""A store as Markdown: one page for each subject, and an index page.

Requirements come first, then what holds, then what no longer holds. The pages are for people: nothing reads them.
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
from stilltrue.text.render import render_chain

INDEX = "_index.md"
"""The file name of the index page. No subject's page has this name."""

_LONGEST = 60
_UNSAFE = re.compile(r"[^\w-]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


def pages(found: Sequence[Chain], classes: Classes, formatter: Formatter, moment: datetime) -> dict[str, str]:
    """The pages by file name. A chain is on the page of every subject that any of its notes names."""
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
    """A file name that every file system accepts, made of the letters of a subject.

    If the letters are not the whole subject, a hash of it is added, so that no two subjects share a name, even on a
    file system that ignores case.
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
            lines += [line for chain in some for line in _items(chain, formatter, binding.get(chain.id, ()))]
    return "\n".join(lines) + "\n"


def _items(chain: Chain, formatter: Formatter, binding: Iterable[str]) -> list[str]:
    """The chain as a Markdown list: its lead and, below that, its history, newest first."""
    bound, items = set(binding), []
    for line in render_chain(deliver(chain, chain.members), formatter).lines:
        text = line.text.strip().removeprefix("* ").removeprefix("= ")
        bullet = "- " if line.text.startswith("* ") else "  - "
        mark = "**REQUIREMENT** " if line.note_id in bound else ""
        items.append(bullet + mark + _plain(text).replace("\n      ", "\n        "))
    return items


def _plain(text: str) -> str:
    """The text with `<` escaped, so that no note becomes HTML in a page."""
    return text.replace("<", "\\<")
