"""What a planned call would do to the requirements, and what happens to a requirement that nobody confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stilltrue.chain import Chain
from stilltrue.lifecycle import Member, Status
from stilltrue.note import Note
from stilltrue.requirements.binding import binds
from tools.support.context import ToolContext


@dataclass(frozen=True, slots=True)
class Effect:
    """The requirements that a call would state, replace, lift, or make binding again, and the reason it gives.

    Empty in all four for a call that touches no requirement.
    """

    states: Note | None = None
    replaces: tuple[Note, ...] = ()
    lifts: tuple[Note, ...] = ()
    restores: tuple[Note, ...] = ()
    reason: str | None = None

    def question(self) -> str | None:
        """What the person is asked before the call; None if it touches no requirement."""
        because = f"\n\nbecause: {self.reason}" if self.reason else ""
        if self.states and self.replaces:
            about = ", ".join(self.states.subjects)
            return (
                f"An agent wants to replace\n\n{_listed(self.replaces)}\n\nby this requirement about {about}:\n\n"
                f"{_shown(self.states)}{because}"
            )
        if self.states:
            about = ", ".join(self.states.subjects)
            return (
                f"An agent wants to store a requirement that every answer about {about} must respect:\n\n"
                f"{_shown(self.states)}"
            )
        if self.lifts:
            return f"An agent wants to lift these requirements:\n\n{_listed(self.lifts)}{because}"
        if self.restores:
            return f"An agent wants these requirements to bind again:\n\n{_listed(self.restores)}"
        return None


def binding_notes(chain: Chain, context: ToolContext) -> dict[str, Note]:
    """The notes of a chain that are requirements now, or will be when their time comes."""
    return {member.id: member.note for member in chain.members.values() if may_bind(member, context)}


def may_bind(member: Member, context: ToolContext) -> bool:
    """Whether the note is a requirement now, or will be one when its time comes."""
    to_come = member.status is Status.PENDING and context.classes.of(member.note.klass).requirement
    return to_come or binds(member, context.classes)


def _listed(notes: Sequence[Note]) -> str:
    return "\n".join(f"{_shown(note)} (about {', '.join(note.subjects)})" for note in notes)


def _shown(note: Note) -> str:
    return f"{note.klass.upper()}: {note.text}"


def notes_of(members: Iterable[Member]) -> tuple[Note, ...]:
    """The notes of these members, in log order."""
    return tuple(member.note for member in sorted(members, key=lambda member: member.id))
