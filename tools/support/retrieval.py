"""From a query to scored chains: both channels of the search, the chains of what they found, and their scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from stilltrue.chain import Chain, chains
from stilltrue.errors import StoreTrouble
from stilltrue.lifecycle import Member
from stilltrue.retrieval import late_interaction
from stilltrue.retrieval.ranking import Candidate, Recency, relevance, score
from stilltrue.retrieval.selection import Ask, Entered
from stilltrue.retrieval.stop_words import content_words
from store.port import ChainRecord, Count, Embedder, Encoded, Hit, Reranker
from tools.support.context import ToolContext

_DAY = timedelta(days=1)
_WORDS = 2_000
"""The characters of a query that full text uses. The rest of a longer one adds noise, not meaning."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The chains that a search entered, how often their notes were delivered, and whether it matched anything at all.

    `degraded` says why a channel of the search was missing.
    """

    entered: list[Entered]
    counts: dict[str, Count]
    matched: bool
    degraded: str | None


@dataclass(frozen=True, slots=True)
class Hits:
    """What both channels found. `cut` says that full text filled its limit, so that it may have more."""

    by_vector: tuple[Hit, ...]
    by_text: tuple[Hit, ...]
    query: Encoded | None
    asked: str = ""
    reranker: Reranker | None = None
    cut: bool = False


def retrieve(context: ToolContext, ask: Ask) -> Retrieval:
    """The chains that match the query, as of the moment that is asked about."""
    hits, degraded = search(context, ask.query, ask.subjects)
    records = context.store.chains({hit.chain for hit in [*hits.by_vector, *hits.by_text]})
    counts = counts_of(context, records, ask.session)
    entered = enter(context, hits, records, counts, ask.intent.recency, ask.moment, ask.now)
    return Retrieval(entered, counts, bool(records), degraded)


def search(context: ToolContext, asked: str, subjects: Collection[str]) -> tuple[Hits, str | None]:
    """What both channels find. If one of them fails, what the other finds, and why."""
    scope = subjects or None
    query: Encoded | None = None
    embedder: Embedder | None = None
    by_vector: Sequence[Hit] = ()
    by_text: Sequence[Hit] = ()
    problems = []
    # Requirements need neither a model nor an index, so no failure of either may keep them from being returned.
    try:
        embedder, problem = context.embedder()
        if embedder is not None:
            (query,) = embedder.encode([asked])
            by_vector = context.store.by_vector(query.vector, scope, context.candidates)
    except Exception as trouble:
        problem = f"the search by meaning failed: {trouble}"
    try:
        by_text = context.store.by_text(content_words(asked[:_WORDS]), scope, context.candidates)
    except StoreTrouble as trouble:
        problems.append(f"the search by words failed: {trouble}")
    # The rows that words found have vectors too, which are compared with the query's, so all must be of one space.
    if embedder is not None and query is not None and context.store.fingerprint != embedder.fingerprint:
        query, by_vector, problem = None, (), "the store was re-embedded at this moment with another model"
    if problem:
        problems.insert(0, f"searched by words only, since {problem}")
    reranker = context.reranking.get() if context.reranking else None
    if context.reranking and reranker is None:
        problems.append(f"not reranked, since {context.reranking.problem or 'the cross-encoder is still loading'}")
    cut = len(by_text) >= context.candidates
    hits = Hits(tuple(by_vector), tuple(by_text), query, asked, reranker, cut)
    return hits, "; ".join(problems) or None


def counts_of(context: ToolContext, records: Sequence[ChainRecord], session: str) -> dict[str, Count]:
    """How often each note of these chains was delivered."""
    ids = [event.id for record in records for event in record.events if event.id == event.note_id]
    return context.store.usage.counts(ids, session)


def enter(
    context: ToolContext,
    hits: Hits,
    records: Sequence[ChainRecord],
    counts: Mapping[str, Count],
    recency: Recency,
    moment: datetime | None,
    now: datetime,
) -> list[Entered]:
    """The closed chains of the hits, each with the score of its best entry.

    As of an earlier moment, chains that did not exist yet are left out. A chain of today that a merge made may have
    been several then: a note that existed enters the one that it was in, a later note enters all of them.
    """
    fits = _fits(hits)
    today = {
        note_id: chain for record in records for chain in chains(record.events, now) for note_id in chain.members
    }
    found = [note_id for note_id in fits if note_id in today]
    candidates = [
        _candidate(context, today[note_id].members[note_id], counts[note_id], fits[note_id], recency, now)
        for note_id in found
    ]
    if hits.reranker is not None:
        texts = [today[note_id].members[note_id].note.text for note_id in found]
        candidates = _reranked(context, candidates, texts, hits.asked, hits.reranker)
    scored = dict(zip(found, score(candidates, context.policy, recency), strict=True))
    vectors = {note_id: vector for record in records for note_id, vector in record.vectors.items()}
    by_chain: dict[str, list[str]] = {}
    for note_id in sorted(found, key=lambda each: (-scored[each], each)):
        by_chain.setdefault(today[note_id].id, []).append(note_id)
    then: dict[str, list[Chain]] = {}
    if moment is not None:
        events = [event for record in records for event in record.events]
        for chain in chains(events, moment, recorded_until=moment):
            then.setdefault(today[chain.id].id, []).append(chain)
    entered = []
    for chain_id, every in by_chain.items():
        parts = [today[chain_id]] if moment is None else then.get(chain_id, [])
        existed = {note_id for chain in parts for note_id in chain.members}
        for chain in parts:
            entries = [note_id for note_id in every if note_id in chain.members or note_id not in existed]
            if entries:
                leading = next((vectors[lead] for lead in chain.lead if lead in vectors), None)
                entered.append(Entered(chain, today[chain_id], tuple(entries), scored[entries[0]], leading))
    return entered


def _reranked(
    context: ToolContext, candidates: Sequence[Candidate], texts: Sequence[str], asked: str, reranker: Reranker
) -> list[Candidate]:
    """The candidates, the most relevant of them with a score of the cross-encoder."""
    first = relevance(candidates, context.policy)
    best = np.argsort(-first, kind="stable")[: context.candidates]
    scores = reranker.score(asked[:_WORDS], [texts[position] for position in best])
    judged = dict(zip(best.tolist(), scores.tolist(), strict=True))
    return [replace(each, reranked=judged.get(position)) for position, each in enumerate(candidates)]


@dataclass(slots=True)
class _Fit:
    """How well a note fits the query: its best cosine, BM25 and late interaction over all of its index entries."""

    similarity: float | None = None
    lexical: float = 0.0
    late: float | None = None


def _fits(hits: Hits) -> dict[str, _Fit]:
    """The fit of each note that was found. Rows that words found have a vector and a sketch too.

    If the full-text list was cut, a note outside of it may score as much as the last one in it. So only what is above
    that score counts.
    """
    fits: dict[str, _Fit] = {}
    floor = min((hit.score for hit in hits.by_text), default=0.0) if hits.cut else 0.0
    for hit in hits.by_text:
        fit = fits.setdefault(hit.note_id, _Fit())
        fit.lexical = max(fit.lexical, hit.score - floor)
    for hit in (*hits.by_vector, *hits.by_text):
        fit = fits.setdefault(hit.note_id, _Fit())
        if hits.query is not None and hit.vector is not None:
            fit.similarity = _larger(fit.similarity, float(np.dot(hits.query.vector, hit.vector)))
    sketched = [(hit, hit.sketch) for hit in (*hits.by_vector, *hits.by_text) if hit.sketch is not None]
    if hits.query is not None and hits.query.sketch is not None:
        scores = late_interaction.scores(hits.query.sketch, [sketch for _, sketch in sketched])
        for (hit, _), value in zip(sketched, scores, strict=True):
            fits[hit.note_id].late = _larger(fits[hit.note_id].late, float(value))
    return fits


def _larger(known: float | None, value: float) -> float:
    return value if known is None else max(known, value)


def _candidate(
    context: ToolContext, member: Member, count: Count, fit: _Fit, recency: Recency, now: datetime
) -> Candidate:
    note = member.note
    touched = note.recorded_at
    # Reading refreshes a note. But a question about how something began is about when it was stated.
    if recency == "decay" and count.last_read_at:
        touched = max(touched, count.last_read_at)
    return Candidate(
        note_id=note.id,
        similarity=fit.similarity,
        lexical=fit.lexical,
        late=fit.late,
        age_days=(now - touched) / _DAY,
        half_life_days=context.classes.of(note.klass).half_life_days,
        importance=note.importance,
        retrievals=count.total,
        ratings=member.ratings,
    )
