"""A note that is ready to be stored: the plan of `remember` and `supersede`, its check and its append."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from stilltrue import event
from stilltrue.chain import Chain, chains
from stilltrue.lifecycle import Step
from stilltrue.note import RETIRING, Link, Note, content_hash
from store.port import Embedded
from tools.support.context import ToolContext
from tools.support.duplicates import IN_FORCE, Duplicate, identical, same_request, same_words
from tools.support.effect import Effect
from tools.support.inheritance import all_replaced, refuse_silent_lift
from tools.support.lookup import Found, entry, find, require
from tools.support.neighbours import Nearby
from tools.support.retry import attempts


@dataclass(frozen=True, slots=True)
class NotePlan:
    """A validated note without an id, its links, and what it does to the requirements.

    `allow_fork` permits a link to a note that something replaced already, `lifting` that a requirement ends.
    `notices` are added to the answer. The plan may be stale when it is committed, so `check` is made again then.
    """

    draft: Note
    links: tuple[Link, ...] = ()
    reason: str | None = None
    request: str | None = None
    allow_fork: bool = False
    lifting: bool = False
    effect: Effect = field(default_factory=Effect)
    notices: tuple[str, ...] = ()

    @property
    def older(self) -> list[str]:
        """The ids of the notes that it links to."""
        return [link.to for link in self.links]

    @property
    def digest(self) -> str:
        return content_hash(self.draft.text, self.draft.subjects, self.draft.klass)


@dataclass(frozen=True, slots=True)
class Checked:
    """The chains that a plan links to, as they are now, and the stored notes that have the same words."""

    found: Found
    same_words: list[Nearby]


@dataclass(frozen=True, slots=True)
class Stored:
    """A note that was stored, its chain with it, and what its check had found."""

    note: Note
    chain: Chain
    found: Found
    same_words: list[Nearby]


def check(context: ToolContext, plan: NotePlan) -> Checked | Duplicate:
    """Whether the plan may be committed now, or was committed before. What holds is certain only inside `writing`.

    Refused if a link is not legal, or if a requirement would end without `lifting`.
    """
    if earlier := same_request(context, plan.request, plan.draft.text, plan.links):
        return earlier
    same = same_words(context, plan.digest)
    for each in same:
        if each.member.status in IN_FORCE and identical(each.member, plan.draft, plan.links):
            return Duplicate(each, "is identical")
    found = find(context, plan.older) if plan.links else Found(())
    for link in plan.links:
        step = Step.SUPERSEDE if link.kind in RETIRING else Step.REFINE
        require(step, found.member(link.to), found.chain_of(link.to), context, allow_fork=plan.allow_fork)
    if not plan.lifting:
        for member in all_replaced(found, [link.to for link in plan.links if link.kind in RETIRING]):
            refuse_silent_lift(member, plan.draft, context)
    return Checked(found, same)


def store(context: ToolContext, plan: NotePlan, embedded: Embedded) -> Stored | Duplicate:
    """Append the note of the plan, unless it was stored before. Raises Refused as `check` does."""
    for attempt in attempts(context):
        with attempt:
            checked = check(context, plan)
            if isinstance(checked, Duplicate):
                return checked
            found, same = checked.found, checked.same_words
            stamp = context.stamp(found.latest)
            note = replace(plan.draft, id=stamp.id, recorded_at=stamp.at)
            remembered = event.Remembered(note, plan.links, plan.reason, plan.request)
            context.store.append([entry(remembered, found, embedded, plan.digest)])
    events = [each for _, record in found.pairs for each in record.events]
    chain = chains([*events, remembered], max(context.clock(), stamp.at))[0]
    return Stored(note, chain, found, same)
