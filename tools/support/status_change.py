"""What `revoke` and `reinstate` share: a planned event, stored where its step is legal, and the chain afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from stilltrue.chain import Chain, chains, deliver
from stilltrue.event import Event, Reinstated, Revoked
from stilltrue.ids import Stamp
from stilltrue.lifecycle import Step
from stilltrue.requirements.binding import requirements
from stilltrue.text.render import render_chain
from store.port import Embedded
from tools.support.context import ToolContext
from tools.support.effect import Effect, binding_notes
from tools.support.lookup import Found, entry, find, require
from tools.support.results import Answer, Changed, chain_view
from tools.support.retry import attempts


@dataclass(frozen=True, slots=True)
class Plan:
    """A revocation, or taking one back, that is ready to be stored."""

    context: ToolContext
    step: Step
    note_id: str
    reason: str | None

    def found(self) -> Found:
        """The chain of the note as it is now. Refused if the step may not be taken on it."""
        found = find(self.context, [self.note_id])
        require(self.step, found.member(self.note_id), found.chain_of(self.note_id), self.context)
        return found

    def event(self, stamp: Stamp) -> Revoked | Reinstated:
        if self.step is Step.REVOKE:
            return Revoked(stamp.id, stamp.at, self.note_id, self.reason or "")
        return Reinstated(stamp.id, stamp.at, self.note_id, self.reason)

    def effect(self) -> Effect:
        """What the call would do to the requirements: the chain is folded with the event and without it."""
        found = self.found()
        before = binding_notes(found.chain_of(self.note_id), self.context)
        after = binding_notes(self.after(found, self.event(self.context.stamp(found.latest))), self.context)
        lifted = tuple(note for note_id, note in before.items() if note_id not in after)
        restored = tuple(note for note_id, note in after.items() if note_id not in before)
        return Effect(lifts=lifted, restores=restored, reason=self.reason)

    def after(self, found: Found, event: Event) -> Chain:
        """The chain of the note once this event is part of it."""
        events = [*(each for _, record in found.pairs for each in record.events), event]
        moment = max(self.context.clock(), event.at)
        return next(chain for chain in chains(events, moment) if self.note_id in chain.members)


def commit(planned: Plan) -> Answer:
    """Store the event, and answer with the chain. Raises Refused or StoreTrouble; nothing has been written then."""
    context = planned.context
    # The reason leads to the chain too: "it was the proxy" is what a later question will be about.
    embedded = context.embedded(planned.reason or "") if planned.step is Step.REVOKE else Embedded()
    for attempt in attempts(context):
        with attempt:
            found = planned.found()
            event = planned.event(context.stamp(found.latest))
            context.store.append([entry(event, found, embedded)])

    chain = planned.after(found, event)
    member = chain.members[planned.note_id]
    notices = []
    if requirements([chain], context.classes):
        notices.append("a requirement of this chain binds.")
    elif context.classes.of(member.note.klass).requirement:
        notices.append("no requirement of this chain binds any more.")
    if embedded.problem:
        notices.append(f"DEGRADED: the reason is found by its words only, since {embedded.problem}.")
    rendered = render_chain(deliver(chain, [member.id]), context.formatter)
    data = Changed(
        id=member.id,
        status=member.status,
        chain=chain_view(rendered, chain.members, context.formatter),
        notices=tuple(notices),
    )
    lines = [f"{type(event).__name__} [{member.id}]. Its status is now {member.status}. Its chain:"]
    lines += [line.text for line in rendered.lines]
    lines += [f"({notice})" for notice in notices]
    return Answer("\n".join(lines), data)
