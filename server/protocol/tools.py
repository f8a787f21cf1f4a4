"""The seven verbs as clients see them: names, arguments, descriptions, hints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from server.protocol.dispatch import Dispatcher, Verb
from server.protocol.sessions import session_of
from server.protocol.tool_schema import portable
from stilltrue.classes import Classes

_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_RETIRES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
_COUNTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

Text = Annotated[str, Field(description="One fact in plain words, understandable without the conversation.")]
Subjects = Annotated[
    list[str] | None, Field(description="Who or what it is about, e.g. priya, team, repo:api. Default: the user.")
]
Source = Annotated[str | None, Field(description='"user" if the user said it; else where it is from.')]
From = Annotated[str | None, Field(description="ISO date or time from which it holds.")]
Until = Annotated[str | None, Field(description="ISO date or time until which it holds.")]
Reason = Annotated[str, Field(description="Why, in a sentence.")]
NoteId = Annotated[str, Field(description="The 16-character id.")]
NoteIds = Annotated[list[str], Field(description="16-character ids.")]
Request = Annotated[str | None, Field(description="Your own key: a retry with it is stored once.")]

Called = Context[Any, Any]
Result = CallToolResult | InputRequiredResult


def verbs(dispatcher: Dispatcher) -> list[Tool]:
    """The tools as clients see them."""

    async def remember(
        ctx: Called,
        text: Text,
        subjects: Subjects = None,
        klass: str | None = None,
        cues: Annotated[
            list[str] | None,
            Field(description="Situations in which it matters, e.g. booking a restaurant."),
        ] = None,
        importance: Annotated[float | None, Field(description="0 to 1, usually 0.5.")] = None,
        attribute: Annotated[str | None, Field(description="The slot it fills, e.g. home_city.")] = None,
        valid_from: From = None,
        valid_until: Until = None,
        source: Source = None,
        refines: Annotated[
            str | None, Field(description="Id of a note that stays true and to which this adds.")
        ] = None,
        request_id: Request = None,
    ) -> Result:
        return await dispatcher.answer(
            ctx, "remember", text, subjects=subjects, klass=klass, cues=cues, importance=importance,
            attribute=attribute, valid_from=valid_from, valid_until=valid_until, source=source, refines=refines,
            request_id=request_id,
        )  # fmt: skip

    async def supersede(
        ctx: Called,
        note_ids: NoteIds,
        text: Text,
        relation: Annotated[
            Literal["update", "correction"],
            Field(description="update: it was true and changed. correction: it was never true."),
        ] = "update",
        reason: Annotated[str | None, Field(description="Why.")] = None,
        subjects: Annotated[list[str] | None, Field(description="Default: those of the replaced notes.")] = None,
        klass: Annotated[str | None, Field(description="Default: that of the replaced note.")] = None,
        valid_from: From = None,
        valid_until: Until = None,
        source: Source = None,
        allow_fork: Annotated[bool, Field(description="Replace a note that is no longer current.")] = False,
        lifts_requirement: Annotated[bool, Field(description="The rule really ends; give the reason.")] = False,
        request_id: Request = None,
    ) -> Result:
        return await dispatcher.answer(
            ctx, "supersede", note_ids, text, relation=relation, reason=reason, subjects=subjects, klass=klass,
            valid_from=valid_from, valid_until=valid_until, source=source, allow_fork=allow_fork,
            lifts_requirement=lifts_requirement, request_id=request_id,
        )  # fmt: skip

    async def revoke(ctx: Called, note_id: NoteId, reason: Reason) -> Result:
        return await dispatcher.answer(ctx, "revoke", note_id, reason)

    async def reinstate(
        ctx: Called,
        note_id: NoteId,
        reason: Annotated[str | None, Field(description="Why.")] = None,
    ) -> Result:
        return await dispatcher.answer(ctx, "reinstate", note_id, reason)

    async def recall(
        ctx: Called,
        query: Annotated[str, Field(description="What you need to know, in plain words.")],
        subjects: Annotated[
            list[str] | None, Field(description="Only notes about these. Default: all, and the rules of those named.")
        ] = None,
        budget_tokens: Annotated[int | None, Field(description="Most tokens of memories; rules come on top.")] = None,
        as_of: Annotated[str | None, Field(description="ISO date: what was held to be true then.")] = None,
        include_retired: Annotated[bool, Field(description="Also what no longer holds.")] = False,
        session: Annotated[str | None, Field(description="Name of this conversation, for its counts.")] = None,
        limit: int | None = None,
    ) -> Result:
        return await dispatcher.answer(
            ctx, "recall", query, subjects=subjects, budget_tokens=budget_tokens, as_of=as_of,
            include_retired=include_retired, session=session_of(session, ctx.headers, dispatcher.session),
            limit=limit,
        )  # fmt: skip

    async def constraints(
        ctx: Called,
        subjects: Annotated[list[str] | None, Field(description="Default: everybody.")] = None,
    ) -> Result:
        return await dispatcher.answer(ctx, "constraints", subjects)

    async def feedback(
        ctx: Called,
        note_ids: NoteIds,
        outcome: Annotated[
            Literal["helped", "misled"],
            Field(description="helped: the answer was right by them. misled: they led it astray."),
        ],
    ) -> Result:
        return await dispatcher.answer(ctx, "feedback", note_ids, outcome)

    def verb(function: Callable[..., Any], title: str, description: str, hints: ToolAnnotations) -> Tool:
        tool = Verb.of(function, title, description, hints)
        tool.parameters = portable(tool.parameters)
        tool.structured = dispatcher.runtime.config.server.structured
        if function is recall:  # models guess it, so it is taken; a list that names it would cost everybody tokens
            tool.unlisted = {"limit": tool.parameters["properties"].pop("limit")}
        if function is remember:
            tool.parameters["properties"]["klass"]["description"] = _kinds(dispatcher.runtime.config.classes)
        return tool

    return [
        verb(
            remember,
            "Remember",
            "Store a NEW lasting fact. If it changes or corrects a note you know, call supersede instead: remember "
            "retires nothing, and both would stand. Answers with the nearest notes and the call that replaces them.",
            _ADDS,
        ),
        verb(
            supersede,
            "Supersede",
            "Replace notes by a new one because they changed (update) or were wrong (correction). The old ones "
            "become history and are never again given as true.",
            _RETIRES,
        ),
        verb(
            revoke,
            "Revoke",
            "Withdraw a note that is false or void. If another is true, call supersede.",
            _RETIRES,
        ),
        verb(reinstate, "Reinstate", "Take a revocation back.", _ADDS),
        verb(
            recall,
            "Recall",
            "What is still true about a matter, each fact with its history, then ALL rules in play. Call it before "
            "answering. Rules in its last section bind your answer.",
            _READS,
        ),
        verb(
            constraints,
            "Constraints",
            "All rules that bind (allergies, restrictions, hard preferences), without a search. Call before acting "
            "for somebody.",
            _READS,
        ),
        verb(
            feedback,
            "Feedback",
            "Say whether recalled notes helped or misled; moves their rank a little.",
            _COUNTS,
        ),
    ]


def _kinds(classes: Classes) -> str:
    """The classes of this configuration, as the description of an argument."""
    rules = ", ".join(name for name in classes if name in classes.requirements)
    others = ", ".join(name for name in classes if name not in classes.requirements)
    return f"Kind of fact. Rules that bind every answer: {rules}. Else: {others}."
