"""Answer a query with what is still true: chains by rank, requirements by rule.

One trip down, one trip up: when -> subjects -> search -> chains -> ranking -> packing -> requirements -> wording.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from stilltrue.requirements.binding import requirements
from stilltrue.retrieval import temporal
from stilltrue.retrieval.budget import Omitted, Packed, Parcel, pack
from stilltrue.retrieval.ranking import diverse
from stilltrue.retrieval.subjects import named_in
from stilltrue.text.render import chain_lines, page, retraction_lines
from store.port import Count
from tools.constraints import packed_requirements, required, unknown
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.results import Answer, ChainView, OmittedView, Recalled, chain_view, requirement_view
from tools.support.retrieval import Entered, counts_of, enter, search


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

    `limit` is a smaller number of chains than the configuration's; the requirements are not among them.
    Without `subjects`, those in play are the default one, those the query names, and those of the chains that
    are delivered. Raises Refused for a query, subject, budget or date that is none.
    """
    asked = validation.query(query, context.limits)
    given = validation.subjects(subjects, context.limits)
    budget = validation.budget(budget_tokens, context.budget_tokens, context.limits)
    most = validation.count(limit, context.max_chains)
    conversation = validation.session(session, context.limits)
    now = context.clock()
    intent = temporal.read(asked, now.astimezone(context.formatter.zone))
    moment = validation.moment("as_of", as_of, context.formatter, "end") or intent.as_of
    notices = unknown(context, given)
    if moment is not None and moment.microsecond == 0:
        moment += timedelta(microseconds=999_999)  # times are told in whole seconds, so such a second is meant whole
    if moment is not None and moment >= now:
        moment = None
        if as_of:
            notices.append("as_of is not over yet: this is what holds now")

    hits, degraded = search(context, asked, given)
    if degraded:
        notices.append(f"DEGRADED: {degraded}")
    records = context.store.chains({hit.chain for hit in [*hits.by_vector, *hits.by_text]})
    counts = counts_of(context, records, conversation)
    entered = enter(context, hits, records, counts, intent.recency, moment, now)
    whole = include_retired or intent.history
    told, retired = _deliverable(entered, whole)
    ranked = _ranked(context, told, intent)
    if retired:
        notices.append(f"{retired} matching memories are over or erased; include_retired shows them")
    if not records:
        notices.append("no note of these subjects matches" if given else "nothing is stored yet that could match")

    # A chain that binds somebody is told with the requirements, where no budget applies, and not twice.
    aside = {each.chain.id for each in ranked if _ruled(context, each, given, whole or moment is not None)}
    fitting = [each for each in ranked if each.chain.id not in aside]
    free, further = fitting[:most], max(0, len(fitting) - most)
    packed, omitted = _packed(context, free, counts, budget, shown_whole=whole)
    delivered = {each.parcel.key for each in packed}
    reached = [each for each in ranked[: context.max_chains] if _ruled(context, each, given, past=False)]
    in_play = set(given) or {context.default_subject, *_named(context, asked)}
    if not given:
        for each in [*(each for each in free if each.chain.id in delivered), *reached]:
            in_play |= each.today.subjects
    held = required(context, in_play)
    rules = packed_requirements(context, held)

    _mark_read(context, [each for each in free if each.chain.id in delivered], counts, conversation, now)
    if moment is not None:
        notices.append(f"as of {context.formatter.time(moment)}: what was known then; requirements are today's")
    elif intent.words:
        notices.append(f"'{intent.words}' asks about the past: history is shown and age does not count")
    views = {each.chain.id: each for each in free}
    data = Recalled(
        chains=tuple(_view(context, views[each.parcel.key], each, counts) for each in packed),
        requirements=tuple(requirement_view(each, context.formatter) for each in held),
        omitted=tuple(OmittedView(each.key, each.tokens) for each in omitted),
        subjects=tuple(sorted(in_play)),
        tokens=sum(each.tokens for each in packed),
        requirement_tokens=sum(each.tokens for each in rules),
        degraded=bool(degraded),
        as_of=context.formatter.time(moment) if moment else "",
        further=further,
        notices=tuple(notices),
    )
    return Answer(page(packed, omitted, rules, in_play, notices, further), data)


def _deliverable(entered: Sequence[Entered], include_retired: bool) -> tuple[list[Entered], int]:
    """The chains that may be told, and how many are over: expired or erased, with no retraction to report."""
    told = [
        each
        for each in entered
        if include_retired
        or not each.chain.retired
        or any(each.chain.members[note_id].revocation for note_id in each.chain.lead)
    ]
    return told, len(entered) - len(told)


def _ranked(context: ToolContext, entered: Sequence[Entered], intent: temporal.Intent) -> list[Entered]:
    """Best first, with diversity between the chains; where a time is asked about, what is of it comes first."""
    order = diverse([each.score for each in entered], [each.vector for each in entered], context.policy.mmr_lambda)
    ranked = [entered[position] for position in order]
    if intent.span is None:
        return ranked
    start, end = intent.span
    return sorted(ranked, key=lambda each: not any(_touches(each, note, start, end) for note in each.chain.members))


def _touches(entered: Entered, note_id: str, start: datetime, end: datetime) -> bool:
    """Whether the note was recorded, or had stated times of validity, in the span."""
    note = entered.chain.members[note_id].note
    if start <= note.recorded_at < end:
        return True
    if note.valid_from is None and note.valid_until is None:
        return False
    return (note.valid_from is None or note.valid_from < end) and (
        note.valid_until is None or note.valid_until > start
    )


def _ruled(context: ToolContext, entered: Entered, subjects: Collection[str], past: bool) -> bool:
    """Whether all that is asked of the chain stands in the requirements section once its subjects are in play.

    That section tells what binds and what is newer. Where the past is asked about, what came before is told above.
    """
    held = requirements([entered.today], context.classes, subjects or None)
    if not held or not past:
        return bool(held)
    return entered.today.closure(member.id for member in held[0].binding) >= entered.chain.members.keys()


def _packed(
    context: ToolContext, entered: Sequence[Entered], counts: dict[str, Count], budget: int, *, shown_whole: bool
) -> tuple[list[Packed], list[Omitted]]:
    parcels = []
    for each in entered:
        # As of an earlier moment, what has become of a withdrawn note since is told with it.
        if each.chain.retired and not shown_whole and each.chain is each.today:
            lines = retraction_lines(each.chain, each.entries, context.formatter)
        else:
            lines = chain_lines(each.delivery, context.formatter, _seen(each, counts))
        parcels.append(Parcel(each.chain.id, lines))
    return pack(parcels, budget, context.count_tokens)


def _seen(entered: Entered, counts: dict[str, Count]) -> tuple[int, int]:
    """How often the leads of the chain were delivered: in this session and in all."""
    told = [counts[note_id] for note_id in entered.chain.lead if note_id in counts]
    return max((each.session for each in told), default=0), max((each.total for each in told), default=0)


def _mark_read(
    context: ToolContext,
    delivered: Sequence[Entered],
    counts: dict[str, Count],
    session: str,
    now: datetime,
) -> None:
    """Count the delivered heads as read, at most once in the refresh floor for each session."""
    heads = {note_id for each in delivered for note_id in each.chain.lead}
    floor = now - timedelta(seconds=context.refresh_floor_s)
    due = [
        note_id
        for note_id in sorted(heads)
        if (last := counts.get(note_id, Count()).session_read_at) is None or last <= floor
    ]
    context.store.usage.record(due, session, now)


def _named(context: ToolContext, asked: str) -> list[str]:
    """The known subjects that the query names."""
    return named_in(asked, context.store.subjects())


def _view(context: ToolContext, entered: Entered, packed: Packed, counts: dict[str, Count]) -> ChainView:
    shown = [line.note_id for line in packed.lines]
    return chain_view(entered.delivery, shown, context.formatter, packed.hidden, _seen(entered, counts))
