"""What a call does to the requirements."""

from __future__ import annotations

from dataclasses import dataclass

from stilltrue.lifecycle import Member, Status
from stilltrue.note import Note
from stilltrue.requirement import binds
from tools.support.context import ToolContext


@dataclass(frozen=True, slots=True)
class Effect:
    """The requirements that a call states, replaces, lifts and restores, and the reason that it gives."""

    states: Note | None = None
    replaces: tuple[Note, ...] = ()
    lifts: tuple[Note, ...] = ()
    restores: tuple[Note, ...] = ()
    reason: str | None = None

    def __bool__(self) -> bool:
        """Whether the call touches a requirement at all."""
        return bool(self.states or self.replaces or self.lifts or self.restores)


def may_bind(member: Member, context: ToolContext) -> bool:
    """Whether the note is a requirement now, or will be one when its time comes."""
    to_come = member.status is Status.PENDING and context.classes.of(member.note.klass).requirement
    return to_come or binds(member, context.classes)
