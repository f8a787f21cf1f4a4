"""The answer of a verb that changed what holds in a chain: the chain as it stands now."""

from __future__ import annotations

from stilltrue.chain import chains, tell
from stilltrue.event import Reinstated, Revoked
from stilltrue.requirement import requirements
from stilltrue.wording import chain_lines
from tools.answers import Answer, Changed, chain_view
from tools.keeper import Keeper
from tools.lookup import Found


def changed(
    keeper: Keeper, found: Found, event: Revoked | Reinstated, verb: str, degraded: str | None = None
) -> Answer:
    """What holds in the chain now that `event` is stored; `found` is the chain without it.

    `degraded` says why its reason has no vector, where it should have one.
    """
    events = [each for _, record in found.pairs for each in record.events]
    chain = chains([*events, event], max(keeper.clock(), event.at))[0]
    telling = tell(chain, [event.note_id])
    member = chain.members[event.note_id]
    notices = []
    if requirements([chain], keeper.classes):
        notices.append("a requirement of this chain binds.")
    elif keeper.classes.of(member.note.klass).requirement:
        notices.append("no requirement of this chain binds any more.")
    if degraded:
        notices.append(f"DEGRADED: the reason is found by its words only, since {degraded}.")
    data = Changed(
        id=member.id,
        status=member.status,
        chain=chain_view(telling, chain.members, keeper.voice),
        notices=tuple(notices),
    )
    lines = [f"{verb} [{member.id}], which is {member.status} now. Its chain:"]
    lines += [line.text for line in chain_lines(telling, keeper.voice)]
    lines += [f"({notice})" for notice in notices]
    return Answer("\n".join(lines), data)
