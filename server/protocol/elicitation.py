"""Puts to the user, through the client, what an agent would do to a requirement."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.types import InputRequiredResult

from stilltrue.errors import Refused

if TYPE_CHECKING:
    from server.protocol.dispatch import Dispatcher
    from tools.support.results import Answer

ASKED = frozenset({"remember", "supersede", "revoke", "reinstate"})
"""The verbs that can state, replace or lift a requirement."""

Settled = tuple[tuple[Any, ...], dict[str, Any], bool]
"""The arguments by which a verb is then called, and whether nobody could be asked."""


async def put(
    dispatcher: Dispatcher, context: Context[Any, Any], verb: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> InputRequiredResult | Settled:
    """Ask the user where the call touches a requirement and the client can ask; what to call the verb with then.

    In the era of 2026-07-28 the question is an answer of its own, and the client calls again with the user's. Raises
    Refused where the user does not agree.
    """
    question = await dispatcher.work(f"the question before {verb}", partial(_question, verb, args, kwargs))
    if question is None:
        return args, dict(kwargs), False
    from tools.support import confirmation

    agreed = await _asked(question, context) if _can_ask(context) else None
    if isinstance(agreed, InputRequiredResult):
        return agreed
    if agreed is None:
        return *confirmation.unconfirmed(verb, args, kwargs), True
    if not agreed:
        raise Refused(
            "declined",
            "The user was asked and did not agree.",
            "Nothing was written. Do not try again; ask the user what should hold instead.",
        )
    return args, confirmation.confirmed(verb, kwargs), False


def told(answer: Answer) -> Answer:
    """The answer of a call about which nobody could be asked, with a notice of that."""
    from tools.support import confirmation

    return confirmation.told(answer)


def _question(verb: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], context: Any) -> str | None:
    from tools.support import confirmation

    return confirmation.question(context, verb, args, kwargs)


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
