"""The requirements of these subjects, all of them, by rule. Needs no index, no model and no query."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from stilltrue.chain import chains
from stilltrue.requirements.binding import Requirement, requirements
from stilltrue.text.budget import Packed, Parcel, whole
from stilltrue.text.render import RenderedRequirement, render_requirement, requirement_section
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.notices import damage
from tools.support.results import Answer, Constrained, requirement_view


def constraints(context: ToolContext, subjects: Sequence[str] | None = None) -> Answer:
    """The requirements of the subjects; without subjects, those of everybody."""
    named = validation.subjects(subjects, context.limits)
    rendered = rendered_requirements(context, required(context, named or None))
    packed = packed_requirements(context, rendered)
    notices = [*damage(context), *unknown(context, named)]
    data = Constrained(
        requirements=tuple(requirement_view(each, context.formatter) for each in rendered),
        subjects=named,
        requirement_tokens=sum(each.tokens for each in packed),
        notices=tuple(notices),
    )
    return Answer("\n".join([*(f"({notice})" for notice in notices), requirement_section(packed, named)]), data)


def unknown(context: ToolContext, named: Sequence[str]) -> list[str]:
    """A notice of the subjects that no note is about: a name that is spelt otherwise has no requirements."""
    known = set(context.store.subjects()) if named else set()
    strange = [name for name in named if name not in known]
    return [f"no note is about {', '.join(strange)}; is it spelt as it was stored?"] if strange else []


def required(context: ToolContext, subjects: Collection[str] | None) -> list[Requirement]:
    """The requirements that bind the subjects now (of everybody, without), ordered by their oldest note."""
    klasses = context.classes.requirements
    if not klasses:
        return []
    events = context.store.binding(klasses, subjects)
    return requirements(chains(events, context.clock()), context.classes, subjects)


def briefed(context: ToolContext) -> tuple[list[str], datetime | None]:
    """The requirements of the default subject as their lines, each as one text, and until when they stay these.

    At that moment a note of theirs begins or ceases to hold; None where none will.
    """
    klasses, now = context.classes.requirements, context.clock()
    if not klasses:
        return [], None
    found = chains(context.store.binding(klasses, [context.default_subject]), now)
    held = requirements(found, context.classes, [context.default_subject])
    turns = (
        moment
        for chain in found
        for member in chain.members.values()
        for moment in (member.note.valid_from, member.note.valid_until)
        if moment and moment > now
    )
    return [each.text for each in packed_requirements(context, rendered_requirements(context, held))], min(
        turns, default=None
    )


def rendered_requirements(context: ToolContext, held: Sequence[Requirement]) -> list[RenderedRequirement]:
    """The requirements with their lines and status texts."""
    return [render_requirement(each, context.formatter) for each in held]


def packed_requirements(context: ToolContext, rendered: Sequence[RenderedRequirement]) -> list[Packed]:
    """The lines of the requirements, whole: no budget cuts them."""
    return [whole(Parcel(each.requirement.chain.id, each.lines), context.count_tokens) for each in rendered]
