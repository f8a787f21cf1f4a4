"""Which requirements hold for these subjects. They are found by rule, all of them, and never ranked."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from stilltrue.chain import Chain
from stilltrue.classes import Classes
from stilltrue.lifecycle import STATES, Member, Status


@dataclass(frozen=True, slots=True)
class Requirement:
    """A chain with the notes in it that bind, in log order."""

    chain: Chain
    binding: tuple[Member, ...]


def requirements(
    found: Iterable[Chain], classes: Classes, subjects: Collection[str] | None = None
) -> list[Requirement]:
    """The chains that hold a note of a constraint class which is current or unsettled and names a subject.

    An unsettled note stays: its successor fell away, and until somebody says otherwise it binds. Without
    `subjects`, the requirements of any subject count.
    """
    held = []
    for chain in found:
        # Who is superseded in a cycle, nobody can say; a requirement caught in one still binds.
        binding = tuple(
            member
            for member in chain.members.values()
            if binds(member, classes, subjects)
            or (chain.cyclic and member.status is Status.SUPERSEDED and _bears(member, classes, subjects))
        )
        if binding:
            held.append(Requirement(chain, binding))
    return held


def binds(member: Member, classes: Classes, subjects: Collection[str] | None = None) -> bool:
    """Whether this note, as it stands, is a requirement for any of the subjects."""
    return STATES[member.status].binds and _bears(member, classes, subjects)


def _bears(member: Member, classes: Classes, subjects: Collection[str] | None) -> bool:
    """Whether the note is of a constraint class and about one of the subjects, whatever its status."""
    named = subjects is None or not set(subjects).isdisjoint(member.note.subjects)
    return named and classes.of(member.note.klass).requirement
