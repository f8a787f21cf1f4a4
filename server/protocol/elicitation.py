"""Asks the user, through the client, before an agent changes a requirement. Imported only when that is configured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import (
    AcceptedElicitation,
    Elicit,
    Resolve,
    build_resolver_plans,
    resolve_arguments,
)
from mcp.shared.exceptions import MCPError
from mcp.types import InputRequiredResult
from pydantic import BaseModel, Field

from server.protocol.workers import Workers
from stilltrue.errors import Refused

if TYPE_CHECKING:
    from tools.support.context import ToolContext
    from tools.support.effect import Effect


class Agreement(BaseModel):
    """The form shown to the user. Its one field is true by default, for clients that submit a form unfilled."""

    agreed: bool = Field(default=True, title="Yes, this is right")


@dataclass(frozen=True, slots=True)
class Settled:
    """The arguments to call the tool with, and whether the user could not be asked about them."""

    arguments: dict[str, Any]
    unconfirmed: bool = False


async def put(
    workers: Workers, context: Context[Any, Any], tool: str, arguments: dict[str, Any]
) -> InputRequiredResult | Settled:
    """Ask the user if the call affects a requirement and the client can ask; return how to go on with the call.

    In protocol 2026-07-28 the question is itself the result of the call, and the client calls again with the answer.
    Raises Refused if the user does not agree.
    """
    question = await workers.run(f"the question before {tool}", partial(_question, tool, arguments))
    if question is None:
        return Settled(arguments)
    from tools.support import confirmation

    agreed = await _asked(question, context) if _can_ask(context) else None
    if isinstance(agreed, InputRequiredResult):
        return agreed
    if agreed is None:
        return Settled(confirmation.unconfirmed(tool, arguments), unconfirmed=True)
    if not agreed:
        raise Refused(
            "declined",
            "The user was asked and did not agree.",
            "Nothing was written. Do not try again; ask the user what should hold instead.",
        )
    return Settled(confirmation.confirmed(tool, arguments))


def _question(tool: str, arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    """What the user is asked before this call; None if it affects no requirement, or will be refused anyway."""
    try:
        return _effect(tool, arguments, context).question()
    except Refused:
        return None


def _effect(tool: str, arguments: Mapping[str, Any], context: ToolContext) -> Effect:
    from tools import reinstate, remember, revoke, supersede

    match tool:
        case "remember":
            return remember.plan(context, **arguments).effect()
        case "supersede":
            return supersede.plan(context, **arguments).effect()
        case "revoke":
            return revoke.plan(context, **arguments).effect()
        case _:
            return reinstate.plan(context, **arguments).effect()


def _can_ask(context: Context[Any, Any]) -> bool:
    """Whether the client can show a form to its user. `elicitation: {}` is the older way to declare it."""
    declared = context.client_capabilities.elicitation if context.client_capabilities else None
    return declared is not None and (declared.form is not None or declared.url is None)


async def _asked(question: str, context: Context[Any, Any]) -> InputRequiredResult | bool | None:
    """Whether the user agrees; None if the client could not ask after all.

    The SDK's resolver asks in the way of each protocol version, and ties an answer to the exact text of the question.
    """
    wanted = {"agreed": (Resolve(_resolver(question)), True)}
    try:
        found = await resolve_arguments(wanted, build_resolver_plans(wanted, set()), {}, context)
    except MCPError:
        return None
    except ToolError:
        raise Refused(
            "unreadable_answer",
            "The user's answer could not be read.",
            "Nothing was written. Ask the user, and call again.",
        ) from None
    if isinstance(found, InputRequiredResult):
        return found
    outcome = found["agreed"]
    return isinstance(outcome, AcceptedElicitation) and outcome.data.agreed


def _resolver(question: str) -> Callable[[], Elicit[Agreement]]:
    """A resolver, in the SDK's sense, that asks this question."""

    def ask() -> Elicit[Agreement]:
        return Elicit(question, Agreement)

    return ask
