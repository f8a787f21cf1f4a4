"""Asking a person about a requirement: the arguments once they agreed, and once nobody could be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stilltrue.note import USER
from tools.support import validation
from tools.support.results import Answer, Changed, Remembered, Superseded

UNCONFIRMED = " (unconfirmed)"
"""The end of the source of a note, or of the reason of a revocation, that nobody could be asked about."""

_NOTICE = (
    "UNCONFIRMED: this client cannot ask the user, so it is stored and marked so. Tell the user what you stored; "
    "where it can be asked, a supersede of this note with the same words confirms it."
)
_SOURCED = frozenset({"remember", "supersede"})


def confirmed(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call that the person agreed to: what is stored is the person's own word."""
    return {**arguments, "source": USER} if tool in _SOURCED else dict(arguments)


def unconfirmed(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call about which nobody could be asked, marked so in the source or the reason."""
    if tool in _SOURCED:
        said = " ".join((arguments.get("source") or validation.AGENT).split())
        by = f"{validation.AGENT} for the user" if said.casefold() == USER else said
        return {**arguments, "source": by.removesuffix(UNCONFIRMED) + UNCONFIRMED}
    reason = arguments.get("reason")
    # A blank reason is for the tool to judge, and must not become one that is not blank.
    blank = not (reason or "").strip()
    return {**arguments, "reason": reason if blank else f"{reason}{UNCONFIRMED}"}


def with_notice(answer: Answer) -> Answer:
    """The answer of a call about which nobody could be asked, with a notice of that if something was stored."""
    data = answer.data
    if not isinstance(data, Remembered | Superseded | Changed) or not getattr(data, "stored", True):
        return answer
    return Answer(f"{answer.text}\n({_NOTICE})", replace(data, notices=(*data.notices, _NOTICE)))
