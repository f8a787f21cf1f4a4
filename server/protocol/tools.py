"""The specification of each tool: name, description, hints, and a typed call whose signature is published.

The module of a tool is imported by its first call, because nothing heavy may be loaded at start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.types import ToolAnnotations
from pydantic import Field

from stilltrue.classes import Classes

if TYPE_CHECKING:
    from tools.support.context import ToolContext
    from tools.support.results import Answer
else:  # the SDK evaluates the annotations of a call, and these two are too heavy to be imported for that
    ToolContext = Answer = Any

Text = Annotated[str, Field(description="One fact in plain words, understandable without the conversation.")]
Subjects = Annotated[
    list[str] | None, Field(description="Who or what it is about, e.g. priya, team, repo:api. Default: the user.")
]
Source = Annotated[str | None, Field(description='"user" if the user said it; else where it is from.')]
From = Annotated[str | None, Field(description="ISO date or time from which it holds.")]
Until = Annotated[str | None, Field(description="ISO date or time until which it holds.")]
Reason = Annotated[str, Field(description="Why, in a sentence.")]
Why = Annotated[str | None, Field(description="Why.")]
NoteId = Annotated[str, Field(description="The 16-character id.")]
NoteIds = Annotated[list[str], Field(description="16-character ids.")]
Request = Annotated[str | None, Field(description="Your own key: a retry with it is stored once.")]
Cues = Annotated[list[str] | None, Field(description="Situations where it matters, e.g. booking a restaurant.")]


@dataclass(frozen=True, slots=True)
class ToolSpecification:
    """A tool as clients see it, and `call`, which runs it.

    The published arguments are those of `call` after the context, except the `unlisted` ones: they are accepted
    because models guess them, and listing them would cost every conversation tokens. `confirmable` marks the tools
    that can state, replace or lift a requirement.
    """

    name: str
    title: str
    description: str
    hints: ToolAnnotations
    call: Callable[..., Answer]
    confirmable: bool = False
    unlisted: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether the tool stores anything but retrieval counts."""
        return not self.hints.read_only_hint


def _remember(
    context: ToolContext,
    text: Text,
    subjects: Subjects = None,
    klass: str | None = None,  # described by the configuration: see klass_description
    cues: Cues = None,
    importance: Annotated[float | None, Field(description="0 to 1, usually 0.5.")] = None,
    attribute: Annotated[str | None, Field(description="The slot it fills, e.g. home_city.")] = None,
    valid_from: From = None,
    valid_until: Until = None,
    source: Source = None,
    refines: Annotated[str | None, Field(description="Id of a note that stays true and to which this adds.")] = None,
    request_id: Request = None,
) -> Answer:
    from tools.remember import remember

    return remember(
        context, text, subjects=subjects, klass=klass, cues=cues, importance=importance, attribute=attribute,
        valid_from=valid_from, valid_until=valid_until, source=source, refines=refines, request_id=request_id,
    )  # fmt: skip


def _supersede(
    context: ToolContext,
    note_ids: NoteIds,
    text: Text,
    relation: Annotated[
        Literal["update", "correction"],
        Field(description="update: it was true and changed. correction: it was never true."),
    ] = "update",
    reason: Why = None,
    subjects: Annotated[list[str] | None, Field(description="Default: those of the replaced notes.")] = None,
    klass: Annotated[str | None, Field(description="Default: that of the replaced note.")] = None,
    valid_from: From = None,
    valid_until: Until = None,
    source: Source = None,
    allow_fork: Annotated[bool, Field(description="Replace a note that is no longer current.")] = False,
    lifts_requirement: Annotated[bool, Field(description="The requirement really ends; give the reason.")] = False,
    request_id: Request = None,
) -> Answer:
    from tools.supersede import supersede

    return supersede(
        context, note_ids, text, relation=relation, reason=reason, subjects=subjects, klass=klass,
        valid_from=valid_from, valid_until=valid_until, source=source, allow_fork=allow_fork,
        lifts_requirement=lifts_requirement, request_id=request_id,
    )  # fmt: skip


def _revoke(context: ToolContext, note_id: NoteId, reason: Reason) -> Answer:
    from tools.revoke import revoke

    return revoke(context, note_id, reason)


def _reinstate(context: ToolContext, note_id: NoteId, reason: Why = None) -> Answer:
    from tools.reinstate import reinstate

    return reinstate(context, note_id, reason)


def _recall(
    context: ToolContext,
    query: Annotated[str, Field(description="What you need to know, in plain words.")],
    subjects: Annotated[
        list[str] | None,
        Field(description="Only notes about these. Default: all."),
    ] = None,
    budget_tokens: Annotated[
        int | None, Field(description="Token limit for memories; requirements are extra.")
    ] = None,
    as_of: Annotated[str | None, Field(description="ISO date: what was held to be true then.")] = None,
    include_retired: Annotated[bool, Field(description="Also what no longer holds.")] = False,
    session: Annotated[str | None, Field(description="Name of this conversation, for its counts.")] = None,
    limit: int | None = None,
) -> Answer:
    from tools.recall import recall

    return recall(
        context, query, subjects=subjects, budget_tokens=budget_tokens, as_of=as_of, include_retired=include_retired,
        session=session or "", limit=limit,
    )  # fmt: skip


def _constraints(
    context: ToolContext,
    subjects: Annotated[list[str] | None, Field(description="Default: everybody.")] = None,
) -> Answer:
    from tools.constraints import constraints

    return constraints(context, subjects)


def _feedback(
    context: ToolContext,
    note_ids: NoteIds,
    outcome: Annotated[
        Literal["helped", "misled"],
        Field(description="helped: they made the answer right. misled: they led it astray."),
    ],
) -> Answer:
    from tools.feedback import feedback

    return feedback(context, note_ids, outcome)


_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_RETIRES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
_COUNTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

SPECIFICATIONS = (
    ToolSpecification(
        "remember",
        "Remember",
        "Store a NEW lasting fact. If it changes or corrects a note you know, call supersede instead: remember "
        "retires nothing, so both would count as true. Returns the nearest notes and the call that replaces them.",
        _ADDS,
        _remember,
        confirmable=True,
    ),
    ToolSpecification(
        "supersede",
        "Supersede",
        "Replace notes that changed (update) or were wrong (correction). The old ones become history and are never "
        "again returned as true.",
        _RETIRES,
        _supersede,
        confirmable=True,
    ),
    ToolSpecification(
        "revoke",
        "Revoke",
        "Withdraw a note that is false or void. If something else is true instead, call supersede.",
        _RETIRES,
        _revoke,
        confirmable=True,
    ),
    ToolSpecification("reinstate", "Reinstate", "Undo a revocation.", _ADDS, _reinstate, confirmable=True),
    ToolSpecification(
        "recall",
        "Recall",
        "What is still true about a matter: each fact with its history, then ALL requirements in play. Call it "
        "before answering. Your answer must obey the requirements.",
        _READS,
        _recall,
        unlisted=("limit",),
    ),
    ToolSpecification(
        "constraints",
        "Constraints",
        "All requirements (allergies, restrictions, hard preferences), without a search. Call before acting for "
        "somebody.",
        _READS,
        _constraints,
    ),
    ToolSpecification(
        "feedback",
        "Feedback",
        "Report whether recalled notes helped or misled; adjusts their rank a little.",
        _COUNTS,
        _feedback,
    ),
)
"""The tools, in the order in which they are listed."""


def klass_description(classes: Classes) -> str:
    """The description of the argument `klass`, which depends on the configured classes."""
    requirements = ", ".join(name for name in classes if name in classes.requirements)
    others = ", ".join(name for name in classes if name not in classes.requirements)
    return f"Kind of fact. Requirements, which bind every answer: {requirements}. Else: {others}."
