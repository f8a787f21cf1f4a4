"""Answer a query with what is still true: chains by rank, requirements by rule.

parse -> retrieve (the store) -> select (pure) -> the requirements in play (the store) -> present
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from stilltrue.requirements.binding import Requirement
from stilltrue.retrieval import temporal
from stilltrue.retrieval.selection import Ask, InPlay, Returned, Selection, counted, in_play, select
from stilltrue.retrieval.subjects import named_in
from stilltrue.text.render import page
from store.port import Count
from tools.constraints import packed_requirements, rendered_requirements, required, unknown
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.notices import damage
from tools.support.results import Answer, OmittedView, Recalled, WithheldView, chain_view, requirement_view
from tools.support.retrieval import Found, retrieve


def recall(
    context: ToolContext,
    query: str,
    *,
    subjects: Sequence[str] | None = None,
    budget_tokens: int | None = None,
    as_of: str | None = None,
    include_retired: bool = False,
    session: str = "",
    limit: int | None = None,
) -> Answer:
    """The chains that answer the query, whole, best first, within the budget; then every requirement in play.

    `limit` is a smaller number of chains than the configuration's; the requirements are not among them. Raises
    Refused for a query, subject, budget or date that is none.
    """
    now, conversation = context.clock(), validation.session(session, context.limits)
    ask, notices = parse(context, now, query, subjects, budget_tokens, as_of, include_retired, limit)
    found = retrieve(context, ask, conversation, now)
    selection = select(
        found.entered,
        ask,
        classes=context.classes,
        formatter=context.formatter,
        mmr_lambda=context.policy.mmr_lambda,
        count_tokens=context.count_tokens,
    )
    binding = requirements_in_play(context, ask, selection)
    _mark_read(context, selection.returned, found.counts, conversation, now)
    return present(context, ask, found, selection, binding, notices)


def parse(
    context: ToolContext,
    now: datetime,
    query: str,
    subjects: Sequence[str] | None,
    budget_tokens: int | None,
    as_of: str | None,
    include_retired: bool,
    limit: int | None,
) -> tuple[Ask, list[str]]:
    """The question, validated, with what it says of time; and what has to be said of it."""
    asked = validation.query(query, context.limits)
    given = validation.subjects(subjects, context.limits)
    intent = temporal.read(asked, now.astimezone(context.formatter.zone))
    moment = validation.moment("as_of", as_of, context.formatter, now, "last") or intent.as_of
    notices = unknown(context, given)
    if moment is not None and moment.microsecond == 0:
        moment += timedelta(microseconds=999_999)  # times are shown in whole seconds, so such a second is meant whole
    if moment is not None and moment >= now:
        moment = None
        if as_of:
            notices.append("as_of is not in the past: this is what holds now")
    ask = Ask(
        query=asked,
        subjects=given,
        intent=intent,
        moment=moment,
        include_retired=include_retired,
        budget=validation.budget(budget_tokens, context.budget_tokens, context.limits),
        maximum=validation.count(limit, context.max_chains),
    )
    return ask, notices


def requirements_in_play(context: ToolContext, ask: Ask, selection: Selection) -> InPlay:
    """The requirements that the answer shows, and whose are not listed.

    In play are always the default subject, those given, and those that the query names; then those of the leads of
    the chains that are returned. If nobody was given or named, everybody is, as long as that takes few tokens.
    """
    named = named_in(ask.query, context.store.subjects())
    direct = {context.default_subject, *ask.subjects, *named}
    if not ask.subjects and not named:
        every = required(context, None)
        if _tokens(context, every) <= context.unnamed_requirement_tokens:
            direct |= counted(every).keys()
    held = {each.chain.id: each for each in required(context, direct | selection.reached)}
    held |= {each.chain.id: each for each in selection.beside if each.chain.id not in held}
    found = in_play(
        sorted(held.values(), key=lambda each: each.chain.id),
        direct,
        selection.reached,
        selection.beside,
        context.indirect_requirements,
    )
    if found.requirements or found.withheld:
        return found
    return InPlay((), found.subjects, {}, counted(required(context, None)))


def _tokens(context: ToolContext, held: Sequence[Requirement]) -> int:
    return sum(each.tokens for each in packed_requirements(context, rendered_requirements(context, held)))


def present(
    context: ToolContext, ask: Ask, found: Found, selection: Selection, binding: InPlay, notices: list[str]
) -> Answer:
    """The answer: the text that a model reads, and the same facts as data."""
    formatter = context.formatter
    notices = [*notices, *_notices(context, ask, found, selection)]
    rendered = rendered_requirements(context, binding.requirements)
    packed = packed_requirements(context, rendered)
    further = len(set(selection.beyond).difference(each.chain.id for each in binding.requirements))
    data = Recalled(
        chains=tuple(
            chain_view(
                each.rendered,
                [line.note_id for line in each.packed.lines],
                formatter,
                each.packed.hidden,
                each.entered.retrievals,
            )
            for each in selection.returned
        ),
        requirements=tuple(requirement_view(each, formatter) for each in rendered),
        omitted=tuple(OmittedView(each.key, each.tokens) for each in selection.omitted),
        subjects=binding.subjects,
        tokens=sum(each.packed.tokens for each in selection.returned),
        requirement_tokens=sum(each.tokens for each in packed),
        degraded=bool(found.degraded),
        as_of=formatter.time(ask.moment) if ask.moment else "",
        further=further,
        withheld=tuple(WithheldView(name, count) for name, count in sorted(binding.withheld.items())),
        notices=tuple(notices),
    )
    shown = [each.packed for each in selection.returned]
    text = page(
        shown,
        selection.omitted,
        packed,
        binding.subjects,
        notices,
        further,
        binding.withheld,
        binding.others,
    )
    return Answer(text, data)


def _notices(context: ToolContext, ask: Ask, found: Found, selection: Selection) -> list[str]:
    notices = damage(context)
    notices += [f"DEGRADED: {found.degraded}"] if found.degraded else []
    if selection.over:
        notices.append(f"{selection.over} matching memories are expired or erased; include_retired shows them")
    if not found.any:
        notices.append(
            "no note of these subjects matches" if ask.subjects else "nothing is stored yet that could match"
        )
    if ask.moment is not None:
        notices.append(f"as of {context.formatter.time(ask.moment)}: what was known then; requirements are today's")
    elif ask.intent.words:
        notices.append(f"'{ask.intent.words}' asks about the past: history is shown and age does not count")
    return notices


def _mark_read(
    context: ToolContext, returned: Sequence[Returned], counts: Mapping[str, Count], session: str, now: datetime
) -> None:
    """Count the heads that are returned as read, at most once in the refresh floor for each session."""
    heads = {note_id for each in returned for note_id in each.entered.chain.lead}
    floor = now - timedelta(seconds=context.refresh_floor_s)
    due = [
        note_id
        for note_id in sorted(heads)
        if (last := counts.get(note_id, Count()).session_read_at) is None or last <= floor
    ]
    context.store.usage.record(due, session, now)
