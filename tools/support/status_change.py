"""What `revoke` and `reinstate` share: storing an event where its step is legal, and telling the chain."""

from __future__ import annotations

from collections.abc import Callable

from stilltrue.chain import chains, deliver
from stilltrue.event import Reinstated, Revoked
from stilltrue.ids import Stamp
from stilltrue.lifecycle import Step
from stilltrue.requirements.binding import requirements
from stilltrue.text.render import chain_lines
from store.port import Embedded
from tools.support.context import ToolContext
from tools.support.lookup import Found, entry, find, require
from tools.support.results import Answer, Changed, chain_view
from tools.support.retry import attempts


def change(
    context: ToolContext,
    note_id: str,
    step: Step,
    made: Callable[[Stamp], Revoked | Reinstated],
    embedded: Embedded | None = None,
) -> Answer:
    """Stores the event that is `made` of a stamp, if the step may be taken on this note, and tells the chain.

    `embedded` is its reason, where that leads to the note. Raises Refused or StoreTrouble, and then has written
    nothing.
    """
    for attempt in attempts(context):
        with attempt:
            found = find(context, [note_id])
            require(step, found.member(note_id), found.chain_of(note_id), context)
            event = made(context.stamp(found.latest))
            context.store.append([entry(event, found, embedded)])
    return _changed(context, found, event, embedded.problem if embedded else None)


def _changed(context: ToolContext, found: Found, event: Revoked | Reinstated, degraded: str | None) -> Answer:
    events = [each for _, record in found.pairs for each in record.events]
    chain = chains([*events, event], max(context.clock(), event.at))[0]
    delivery = deliver(chain, [event.note_id])
    member = chain.members[event.note_id]
    notices = []
    if requirements([chain], context.classes):
        notices.append("a requirement of this chain binds.")
    elif context.classes.of(member.note.klass).requirement:
        notices.append("no requirement of this chain binds any more.")
    if degraded:
        notices.append(f"DEGRADED: the reason is found by its words only, since {degraded}.")
    data = Changed(
        id=member.id,
        status=member.status,
        chain=chain_view(delivery, chain.members, context.formatter),
        notices=tuple(notices),
    )
    lines = [f"{type(event).__name__} [{member.id}], which is {member.status} now. Its chain:"]
    lines += [line.text for line in chain_lines(delivery, context.formatter)]
    lines += [f"({notice})" for notice in notices]
    return Answer("\n".join(lines), data)
