"""Answer a query with what is still true: chains by rank, requirements always.

Four stages: parse the call, retrieve what matches, select what is delivered (pure, in the core), present it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from stilltrue.chain import Delivery, deliver
from stilltrue.retrieval import temporal
from stilltrue.retrieval.budget import Line
from stilltrue.retrieval.selection import Ask, Entered, Selected, Selection, select
from stilltrue.retrieval.subjects import named_in
from stilltrue.text.render import chain_lines, page, retraction_lines
from stilltrue.text.status_text import StatusText, status_texts
from store.port import Count
from tools.constraints import packed_requirements, required, unknown
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.results import Answer, ChainView, OmittedView, Recalled, chain_view, requirement_view
from tools.support.retrieval import Retrieval, retrieve


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

    `limit` lowers the configured number of chains; requirements do not count. Without `subjects`, those in play are
    the default one, those that the query names, and those of the delivered chains. Raises Refused for an invalid
    query, subject, budget or date.
    """
    ask = parse(
        context, query, subjects=subjects, budget_tokens=budget_tokens, as_of=as_of, include_retired=include_retired,
        session=session, limit=limit,
    )  # fmt: skip
    found = retrieve(context, ask)
    selection = select(
        found.entered,
        ask,
        classes=context.classes,
        mmr_lambda=context.policy.mmr_lambda,
        count_tokens=context.count_tokens,
        render=renderer(context, found.counts, whole=ask.whole),
    )
    answer = present(context, ask, found, selection)
    _mark_read(context, ask, selection, found.counts)
    return answer


def parse(
    context: ToolContext,
    query: str,
    *,
    subjects: Sequence[str] | None = None,
    budget_tokens: int | None = None,
    as_of: str | None = None,
    include_retired: bool = False,
    session: str = "",
    limit: int | None = None,
) -> Ask:
    """The call as it is meant, with the time that the query is about. Raises Refused if an argument is wrong."""
    words = validation.query(query, context.limits)
    given = validation.subjects(subjects, context.limits)
    budget = validation.budget(budget_tokens, context.budget_tokens, context.limits)
    most = validation.count(limit, context.max_chains)
    conversation = validation.session(session, context.limits)
    now = context.clock()
    intent = temporal.read(words, now.astimezone(context.formatter.zone))
    moment = validation.moment("as_of", as_of, context.formatter, "end") or intent.as_of
    if moment is not None and moment.microsecond == 0:
        moment += timedelta(microseconds=999_999)  # answers show whole seconds, so a whole second includes all of it
    over = moment is None or moment < now
    return Ask(
        query=words,
        subjects=given,
        session=conversation,
        now=now,
        moment=moment if over else None,
        intent=intent,
        whole=include_retired or intent.history,
        budget=budget,
        limit=most,
        reach=context.max_chains,
        notices=() if over or not as_of else ("as_of is not in the past: this is what holds now",),
    )


@dataclass(frozen=True, slots=True)
class RenderedChain:
    """A chain as it is delivered: its parts, their status texts, its lines, and how often its lead was delivered."""

    delivery: Delivery
    status_texts: Mapping[str, StatusText]
    lines: tuple[Line, ...]
    seen: tuple[int, int]


def renderer(context: ToolContext, counts: Mapping[str, Count], *, whole: bool) -> Callable[[Entered], RenderedChain]:
    """Renders a chain in full or, unless `whole`, a chain in which nothing holds as its retractions."""

    def render(each: Entered) -> RenderedChain:
        # Only what is newer than the best entry is needed: in a long chain, nearly every note is an entry.
        delivery = deliver(each.chain, each.entries[:1], each.today if each.today is not each.chain else None)
        texts = status_texts(delivery, context.formatter)
        seen = _seen(each, counts)
        # As of an earlier moment, what is known today of a withdrawn note is shown with it, so it needs all lines.
        if each.chain.retired and not whole and each.chain is each.today:
            lines = retraction_lines(each.chain, each.entries, context.formatter, texts)
        else:
            lines = chain_lines(delivery, context.formatter, seen, texts)
        return RenderedChain(delivery, texts, lines, seen)

    return render


def present(context: ToolContext, ask: Ask, found: Retrieval, selection: Selection[RenderedChain]) -> Answer:
    """The answer: the selected chains, the requirements of all subjects in play, and what the agent should know."""
    in_play = set(ask.subjects)
    if not in_play:
        named = named_in(ask.query, context.store.subjects())
        in_play = {context.default_subject, *named, *selection.subjects}
    held = required(context, in_play)
    requirements = packed_requirements(context, held)
    notices = _notices(context, ask, found, selection)
    packed = [each.packed for each in selection.chains]
    data = Recalled(
        chains=tuple(_view(context, each) for each in selection.chains),
        requirements=tuple(requirement_view(each, context.formatter) for each in held),
        omitted=tuple(OmittedView(each.key, each.tokens) for each in selection.omitted),
        subjects=tuple(sorted(in_play)),
        tokens=sum(each.tokens for each in packed),
        requirement_tokens=sum(each.tokens for each in requirements),
        degraded=bool(found.degraded),
        as_of=context.formatter.time(ask.moment) if ask.moment else "",
        further=selection.further,
        notices=tuple(notices),
    )
    text = page(packed, selection.omitted, requirements, in_play, notices, selection.further)
    return Answer(text, data)


def _notices(context: ToolContext, ask: Ask, found: Retrieval, selection: Selection[RenderedChain]) -> list[str]:
    notices = [*unknown(context, ask.subjects), *ask.notices]
    if found.degraded:
        notices.append(f"DEGRADED: {found.degraded}")
    if selection.retired:
        notices.append(f"{selection.retired} matching memories are expired or erased; include_retired shows them")
    if not found.matched:
        notices.append(
            "no note about these subjects matches" if ask.subjects else "nothing is stored yet that could match"
        )
    if ask.moment is not None:
        notices.append(f"as of {context.formatter.time(ask.moment)}: what was known then; requirements are today's")
    elif ask.intent.words:
        notices.append(f"'{ask.intent.words}' asks about the past: history is shown and age does not count")
    return notices


def _seen(entered: Entered, counts: Mapping[str, Count]) -> tuple[int, int]:
    """How often the leads of the chain were delivered before: in this session and in total."""
    known = [counts[note_id] for note_id in entered.chain.lead if note_id in counts]
    return max((each.session for each in known), default=0), max((each.total for each in known), default=0)


def _mark_read(
    context: ToolContext, ask: Ask, selection: Selection[RenderedChain], counts: Mapping[str, Count]
) -> None:
    """Count the delivered leads as read, each at most once per refresh floor in a session."""
    leads = {note_id for each in selection.chains for note_id in each.entered.chain.lead}
    floor = ask.now - timedelta(seconds=context.refresh_floor_s)
    due = [
        note_id
        for note_id in sorted(leads)
        if (last := counts.get(note_id, Count()).session_read_at) is None or last <= floor
    ]
    context.store.usage.record(due, ask.session, ask.now)


def _view(context: ToolContext, selected: Selected[RenderedChain]) -> ChainView:
    made = selected.rendered
    shown = [line.note_id for line in selected.packed.lines]
    return chain_view(
        made.delivery, shown, context.formatter, made.status_texts, hidden=selected.packed.hidden, counts=made.seen
    )
