"""What all verbs share on their way in and out: tolerant arguments, workers, errors as sentences."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ContentBlock, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

from server.protocol import elicitation
from server.protocol.arguments import damaged, explained, renamed, tidied, unknown
from server.protocol.sessions import new_session
from server.protocol.subscriptions import Watchers
from server.tenants import TenantStores
from server.wiring import StoreRuntime
from stilltrue.errors import Fault, Refused, StilltrueError

if TYPE_CHECKING:
    from tools.support.context import ToolContext
    from tools.support.results import Answer

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Verb(Tool):
    """A tool that takes what clients really send and says what was wrong in a sentence.

    `unlisted` are the schemas of arguments that are taken and not published. `structured` says whether its answers
    carry structured content, whose schema is then published.
    """

    unlisted: dict[str, Any] = Field(default_factory=dict)
    structured: bool = True

    @classmethod
    def of(cls, function: Callable[..., Any], title: str, description: str, hints: ToolAnnotations) -> Verb:
        """The verb that this function answers."""
        made = cls.from_function(function, title=title, description=description, annotations=hints)
        return cast(Verb, made)

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        """The schema of the structured content; made when the tools are listed, the start does not wait for it."""
        if not self.structured:
            return None
        from server.protocol.tool_schema import answer_schema
        from tools.support.results import ANSWERS

        return answer_schema(ANSWERS[self.name])

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Run the verb. What is wrong, with the call or with us, reaches the model as a sentence."""
        try:
            return await self._run(arguments, context, convert_result)
        except UnexpectedToolError as error:
            raise ToolError(str(_fault(self.name, error.__cause__ or error))) from None
        except (ToolError, MCPError):
            raise
        except Exception as error:
            raise ToolError(str(_fault(self.name, error))) from None

    async def _run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool) -> Any:
        taken = {**self.parameters, "properties": self.parameters["properties"] | self.unlisted}
        try:
            tidy = tidied(renamed(arguments, self.name, taken), taken)
        except Refused as refused:
            raise ToolError(str(refused)) from None
        if strange := unknown(tidy, self.name, taken):
            raise ToolError(strange)
        reads = self.annotations is not None and self.annotations.read_only_hint
        if not reads and (lost := damaged(tidy)):
            raise ToolError(lost)
        try:
            return await super().run(tidy, context, convert_result)
        except ToolError as error:
            match error.__cause__:
                case ValidationError() as invalid:
                    raise ToolError(explained(invalid, self.name, taken)) from None
                case ToolError() as said:  # our own sentence, without the SDK's words before it
                    raise said from None
            raise


class Dispatcher:
    """What the verbs share: the home of the store, the session of the process, the workers, who watches."""

    def __init__(self, runtime: StoreRuntime | TenantStores) -> None:
        self.runtime = runtime
        self.session = new_session()
        self.watchers = Watchers(lambda: self.runtime.location)
        self._limiter: anyio.CapacityLimiter | None = None

    async def answer(
        self, context: Context[Any, Any], verb: str, *args: Any, **kwargs: Any
    ) -> CallToolResult | InputRequiredResult:
        """Run `tools.VERB` on a worker and translate what it answers or raises; with `elicit`, ask the user first."""
        call: Callable[[ToolContext], Answer] = partial(_verb, verb, args, kwargs)
        try:
            if self.runtime.config.requirements.confirm == "elicit" and verb in elicitation.ASKED:
                asked = await elicitation.put(self, context, verb, args, kwargs)
                if isinstance(asked, InputRequiredResult):
                    return asked
                call = asked
            answer = await self.work(verb, call)
        except StilltrueError as error:
            raise ToolError(str(error)) from None
        await self._announce(verb, answer)
        return self._result(answer)

    async def work(self, what: str, function: Callable[[ToolContext], T]) -> T:
        """Run a function of the context on a worker. Raises what it raises, and Fault for a fault of our own.

        The worker is not abandoned when the call is cancelled: a write that has begun ends whole.
        """
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self.runtime.config.server.workers)
        try:
            return await anyio.to_thread.run_sync(partial(self._work, function), limiter=self._limiter)
        except StilltrueError:
            raise
        except Exception as error:
            raise _fault(what, error) from None

    def _work(self, function: Callable[[ToolContext], T]) -> T:
        with self.runtime.use() as context:
            result = function(context)
        self.runtime.written()
        return result

    async def _announce(self, verb: str, answer: Answer) -> None:
        """Tell those who watch which resources have changed. Whatever goes wrong in it, the call has been done."""
        if not self.watchers.any:
            return
        from server.protocol.resources import changed_by

        try:
            uris = await self.work("the search for what has changed", partial(changed_by, verb, answer))
        except StilltrueError as error:
            _log.warning("nobody was told of a change: %s", error)
        else:
            await self.watchers.tell(uris)

    def _result(self, answer: Answer) -> CallToolResult:
        from tools.support.results import as_data

        content: list[ContentBlock] = [TextContent(type="text", text=answer.text)]
        if not self.runtime.config.server.structured:
            return CallToolResult(content=content)
        return CallToolResult(content=content, structured_content=as_data(answer.data))


def _fault(what: str, error: BaseException) -> Fault:
    """What is told of a fault of our own; the rest of it is in the log."""
    _log.error("%s failed", what, exc_info=error)
    return Fault(
        f"{what} failed through a fault of the memory server, not of your call.",
        "Go on without it and tell the user; the server's log on stderr has the details.",
    )


def _verb(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any], context: ToolContext) -> Answer:
    function: Callable[..., Answer] = getattr(import_module(f"tools.{verb}"), verb)
    return function(context, *args, **kwargs)
