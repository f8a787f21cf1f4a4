"""The requirements of these subjects, all of them, by rule. Needs no index, no model and no query."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from stilltrue.budget import Packed, Parcel, whole
from stilltrue.chain import chains
from stilltrue.requirement import Requirement, requirements
from stilltrue.wording import requirement_lines, requirement_section
from tools import intake
from tools.answers import Answer, Constrained, requirement_view
from tools.keeper import Keeper


def constraints(keeper: Keeper, subjects: Sequence[str] | None = None) -> Answer:
    """The requirements of the subjects; without subjects, those of everybody."""
    named = intake.subjects(subjects, keeper.limits)
    held = required(keeper, named or None)
    packed = packed_requirements(keeper, held)
    notices = unknown(keeper, named)
    data = Constrained(
        requirements=tuple(requirement_view(each, keeper.voice) for each in held),
        subjects=named,
        requirement_tokens=sum(each.tokens for each in packed),
        notices=tuple(notices),
    )
    return Answer("\n".join([*(f"({notice})" for notice in notices), requirement_section(packed, named)]), data)


def unknown(keeper: Keeper, named: Sequence[str]) -> list[str]:
    """A notice of the subjects that no note is about: a name that is spelt otherwise has no requirements."""
    known = set(keeper.store.subjects()) if named else set()
    strange = [name for name in named if name not in known]
    return [f"no note is about {', '.join(strange)}; is it spelt as it was stored?"] if strange else []


def required(keeper: Keeper, subjects: Collection[str] | None) -> list[Requirement]:
    """The requirements that bind the subjects now (of everybody, without), ordered by their oldest note."""
    klasses = keeper.classes.requirements
    if not klasses:
        return []
    events = keeper.store.binding(klasses, subjects)
    return requirements(chains(events, keeper.clock()), keeper.classes, subjects)


def briefed(keeper: Keeper) -> tuple[list[str], datetime | None]:
    """The requirements of the default subject as their lines, each as one text, and until when they stay these.

    At that moment a note of theirs begins or ceases to hold; None where none will.
    """
    klasses, now = keeper.classes.requirements, keeper.clock()
    if not klasses:
        return [], None
    found = chains(keeper.store.binding(klasses, [keeper.default_subject]), now)
    held = requirements(found, keeper.classes, [keeper.default_subject])
    turns = (
        moment
        for chain in found
        for member in chain.members.values()
        for moment in (member.note.valid_from, member.note.valid_until)
        if moment and moment > now
    )
    return [each.text for each in packed_requirements(keeper, held)], min(turns, default=None)


def packed_requirements(keeper: Keeper, held: Sequence[Requirement]) -> list[Packed]:
    """The requirements as their lines, whole: no budget cuts them."""
    return [whole(Parcel(each.chain.id, requirement_lines(each, keeper.voice)), keeper.count_tokens) for each in held]
