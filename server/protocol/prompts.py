"""Prompts for a person: the requirements as part of a system message, and a review of open questions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    Completion,
    CompletionArgument,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from server.protocol.dispatch import Dispatcher
from stilltrue.errors import StilltrueError

if TYPE_CHECKING:
    from tools.support.context import ToolContext

_SUBJECTS = PromptArgument(name="subjects", description="Subjects, separated by commas. Default: all.")


def listed() -> list[Prompt]:
    """The prompts."""
    return [
        Prompt(
            name="requirements",
            title="Requirements",
            description="All requirements, as a section for a system message.",
            arguments=[_SUBJECTS],
        ),
        Prompt(
            name="review",
            title="Review the memory",
            description="Goes through contested and unsettled notes one by one and asks what is true.",
            arguments=[_SUBJECTS, PromptArgument(name="klass", description="Only notes of this class.")],
        ),
    ]


async def get(dispatcher: Dispatcher, name: str, arguments: dict[str, Any] | None) -> GetPromptResult:
    """A prompt with its arguments filled in. Raises MCPError if the name or an argument is unknown."""
    known = {each.name: each for each in listed()}
    given = {key: str(value or "") for key, value in (arguments or {}).items()}
    if name not in known:
        raise _bad(f"There is no prompt {name!r}. The prompts are: {', '.join(known)}.")
    takes = [each.name for each in known[name].arguments or ()]
    if strange := sorted(set(given) - set(takes)):
        raise _bad(f"The prompt {name} has no argument {', '.join(strange)}. It takes: {', '.join(takes)}.")
    try:
        text = await dispatcher.workers.run(f"the prompt {name}", partial(_text, name, given))
    except StilltrueError as error:
        raise _bad(str(error)) from None
    message = PromptMessage(role="user", content=TextContent(type="text", text=text))
    return GetPromptResult(description=known[name].description, messages=[message])


async def complete(dispatcher: Dispatcher, argument: CompletionArgument) -> Completion:
    """Completions of an argument: subjects, classes or note ids that begin with what was typed."""
    kind = argument.name
    if kind == "klass":
        start = argument.value.strip().casefold()
        values = [name for name in dispatcher.runtime.config.classes if name.startswith(start)]
        return Completion(values=values, total=len(values), has_more=False)
    if kind not in {"subject", "subjects", "note_id"}:
        return Completion(values=[], total=0, has_more=False)
    try:
        values, total = await dispatcher.workers.run("the completion", partial(_completed, kind, argument.value))
    except StilltrueError:
        return Completion(values=[])  # clients ask at each keystroke and do not show errors
    return Completion(values=values, total=total, has_more=total > len(values))


def _text(name: str, given: dict[str, str], context: ToolContext) -> str:
    from tools.admin.views import review, subjects_in
    from tools.constraints import constraints

    if name == "requirements":
        return constraints(context, subjects_in(context, given.get("subjects", ""))).text
    return review(context, given.get("subjects", ""), given.get("klass", ""))


def _completed(kind: str, begun: str, context: ToolContext) -> tuple[list[str], int]:
    from tools.admin.views import ids_from, subjects_from

    if kind == "note_id":
        found = ids_from(context, begun)
        return found, len(found)
    # The URI of a resource has one subject; a prompt takes several, and the last one is being typed.
    return subjects_from(context, begun.replace(",", " ") if kind == "subject" else begun)


def _bad(message: str) -> MCPError:
    return MCPError(code=INVALID_PARAMS, message=message)
