"""The plan of `revoke` and `reinstate`, its check, its effect and its commit."""

from __future__ import annotations

from dataclasses import dataclass

from stilltrue.chain import Chain, chains, deliver
from stilltrue.event import Reinstated, Revoked
from stilltrue.ids import Stamp
from stilltrue.lifecycle import Step
from stilltrue.note import Note
from stilltrue.requirement import requirements
from stilltrue.text.render import chain_lines
from stilltrue.text.status_text import status_texts
from tools.support.context import ToolContext
from tools.support.effect import Effect, may_bind
from tools.support.lookup import Found, entry, find, require
from tools.support.results import Answer, Changed, chain_view
from tools.support.retry import attempts


@dataclass(frozen=True, slots=True)
class StatusPlan:
    """A revocation, or that one is taken back; `notices` are added to the answer."""

    step: Step
    note_id: str
    reason: str | None
    notices: tuple[str, ...] = ()

    def event(self, stamp: Stamp) -> Revoked | Reinstated:
        """The event that is stored."""
        if self.step is Step.REVOKE:
            return Revoked(stamp.id, stamp.at, self.note_id, self.reason or "")
        return Reinstated(stamp.id, stamp.at, self.note_id, self.reason)


def check(context: ToolContext, plan: StatusPlan) -> Found:
    """The chain of the note as it is now. Refused if the id is unknown or the step is not legal."""
    found = find(context, [plan.note_id])
    require(plan.step, found.member(plan.note_id), found.chain_of(plan.note_id), context)
    return found


def effect(context: ToolContext, plan: StatusPlan) -> Effect:
    """What the plan does to the requirements: the chain is folded with and without its event. Refused as `check`."""
    found = check(context, plan)
    event = plan.event(context.stamp(found.latest))
    before = _binding(found.chain_of(plan.note_id), context)
    after = _binding(_with(event, found, context), context)
    return Effect(
        lifts=tuple(note for note_id, note in before.items() if note_id not in after),
        restores=tuple(note for note_id, note in after.items() if note_id not in before),
        reason=plan.reason,
    )


def commit(context: ToolContext, plan: StatusPlan) -> Answer:
    """Append the event of the plan, and answer with what holds now in the chain of the note.

    Raises Refused or StoreTrouble; nothing has been written then.
    """
    # Later questions are about what the reason says ("it was the proxy"), so it leads to the chain too.
    embedded = context.embedded(plan.reason) if plan.step is Step.REVOKE and plan.reason else None
    for attempt in attempts(context):
        with attempt:
            found = check(context, plan)
            event = plan.event(context.stamp(found.latest))
            context.store.append([entry(event, found, embedded)])
    notices = list(plan.notices)
    if embedded and embedded.problem:
        notices = [f"DEGRADED: the reason is found by its words only, since {embedded.problem}.", *notices]
    return _answer(context, _with(event, found, context), event, notices)


def _with(event: Revoked | Reinstated, found: Found, context: ToolContext) -> Chain:
    events = [*(each for _, record in found.pairs for each in record.events), event]
    return next(chain for chain in chains(events, max(context.clock(), event.at)) if event.note_id in chain.members)


def _binding(chain: Chain, context: ToolContext) -> dict[str, Note]:
    return {member.id: member.note for member in chain.members.values() if may_bind(member, context)}


def _answer(context: ToolContext, chain: Chain, event: Revoked | Reinstated, more: list[str]) -> Answer:
    delivery = deliver(chain, [event.note_id])
    texts = status_texts(delivery, context.formatter)
    member = chain.members[event.note_id]
    notices = []
    if requirements([chain], context.classes):
        notices.append("a requirement of this chain binds.")
    elif context.classes.of(member.note.klass).requirement:
        notices.append("no requirement of this chain binds any more.")
    notices += more
    data = Changed(
        id=member.id,
        status=member.status,
        chain=chain_view(delivery, chain.members, context.formatter, texts),
        notices=tuple(notices),
    )
    lines = [f"{type(event).__name__} [{member.id}]; its status is now {member.status}. Its chain:"]
    lines += [line.text for line in chain_lines(delivery, context.formatter, texts=texts)]
    lines += [f"({notice})" for notice in notices]
    return Answer("\n".join(lines), data)
