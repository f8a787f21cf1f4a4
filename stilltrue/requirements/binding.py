"""Which notes are requirements for given subjects. They are selected by rule, all of them, and never ranked."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from stilltrue.chain import Chain
from stilltrue.classes import Classes
from stilltrue.lifecycle import STATES, Member, Status


@dataclass(frozen=True, slots=True)
class Requirement:
    """A chain, and those of its notes that bind, in log order."""

    chain: Chain
    binding: tuple[Member, ...]


def requirements(
    found: Iterable[Chain], classes: Classes, subjects: Collection[str] | None = None
) -> list[Requirement]:
    """The chains with a note of a constraint class that is current or unsettled and names one of the subjects.

    An unsettled note still binds: what replaced it is no longer in force, and nobody has said that the requirement
    is lifted. Without `subjects`, the requirements of every subject are returned.
    """
    held = []
    for chain in found:
        # In a cycle nothing can tell which note replaced which, so a requirement caught in one still binds.
        binding = tuple(
            member
            for member in chain.members.values()
            if binds(member, classes, subjects)
            or (chain.cyclic and member.status is Status.SUPERSEDED and _concerns(member, classes, subjects))
        )
        if binding:
            held.append(Requirement(chain, binding))
    return held


def binds(member: Member, classes: Classes, subjects: Collection[str] | None = None) -> bool:
    """Whether this note, in its present status, is a requirement for any of the subjects."""
    return STATES[member.status].binds and _concerns(member, classes, subjects)


def _concerns(member: Member, classes: Classes, subjects: Collection[str] | None) -> bool:
    """Whether the note is of a constraint class and about one of the subjects, whatever its status."""
    named = subjects is None or not set(subjects).isdisjoint(member.note.subjects)
    return named and classes.of(member.note.klass).requirement
