"""Puts to the user, through the client, what an agent would do to a requirement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.types import InputRequiredResult

from stilltrue.errors import Refused

if TYPE_CHECKING:
    from server.protocol.dispatch import Dispatcher
    from tools.support.context import ToolContext
    from tools.support.results import Answer

ASKED = frozenset({"remember", "supersede", "revoke", "reinstate"})
"""The verbs that can state, replace or lift a requirement."""

Commit = Callable[["ToolContext"], "Answer"]
"""What is left of a call once the user has been asked, or need not be."""


async def put(
    dispatcher: Dispatcher, context: Context[Any, Any], verb: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> InputRequiredResult | Commit:
    """Plan the call, ask the user if it touches a requirement and the client can ask, and return what commits it.

    In protocol 2026-07-28 the question is itself the result of the call, and the client calls again with the answer.
    Raises Refused if the call is wrong or the user does not agree.
    """
    plan, question = await dispatcher.work(f"the question before {verb}", partial(_planned, verb, args, kwargs))
    commit = import_module(f"tools.{verb}").commit
    if question is None:
        return partial(_commit, commit, plan)
    from tools.support import confirmation

    agreed = await _asked(question, context) if _can_ask(context) else None
    if isinstance(agreed, InputRequiredResult):
        return agreed
    if agreed is None:
        return partial(_commit, commit, confirmation.unconfirmed(plan))
    if not agreed:
        raise Refused(
            "declined",
            "The user was asked and did not agree.",
            "Nothing was written. Do not try again; ask the user what should hold instead.",
        )
    return partial(_commit, commit, confirmation.confirmed(plan))


def _planned(verb: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], context: ToolContext) -> tuple[Any, Any]:
    from tools.support import confirmation

    plan = import_module(f"tools.{verb}").plan(context, *args, **kwargs)
    return plan, confirmation.question(context, plan)


def _commit(commit: Callable[[ToolContext, Any], Answer], plan: Any, context: ToolContext) -> Answer:
    return commit(context, plan)


def _can_ask(context: Context[Any, Any]) -> bool:
    """Whether the client shows forms to its user. `elicitation: {}` is the older way to say so."""
    declared = context.client_capabilities.elicitation if context.client_capabilities else None
    return declared is not None and (declared.form is not None or declared.url is None)


async def _asked(question: str, context: Context[Any, Any]) -> InputRequiredResult | bool | None:
    """Whether the user agrees; None where the client could not ask after all.

    The SDK's resolver puts it as each era wants it, and binds an answer to the very words of the question.
    """
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.resolve import AcceptedElicitation, Resolve, build_resolver_plans, resolve_arguments
    from mcp.shared.exceptions import MCPError

    from server.protocol.question import asking

    wanted = {"agreed": (Resolve(asking(question)), True)}
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
