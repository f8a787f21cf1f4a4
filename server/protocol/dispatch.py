"""From a call to an answer: lenient reading of arguments, work on a thread, errors as sentences."""

from __future__ import annotations

import logging
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ContentBlock, InputRequiredResult, TextContent
from pydantic import PrivateAttr, ValidationError

from server.protocol.arguments import damaged, explained, renamed, tidied, unknown
from server.protocol.sessions import new_session, session_of
from server.protocol.subscriptions import Watchers, changed_by
from server.protocol.tool_schema import portable
from server.protocol.tools import SPECIFICATIONS, ToolSpecification, klass_description
from server.protocol.workers import Workers, fault
from server.tenants import Runtime
from stilltrue.errors import Refused, StilltrueError

if TYPE_CHECKING:
    from tools.support.results import Answer

_log = logging.getLogger(__name__)


class Dispatcher:
    """What all calls share: the stores, the worker threads, the session of the process, and who watches resources."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.workers = Workers(runtime)
        self.session = new_session()
        self.watchers = Watchers(lambda: self.runtime.location)

    async def answer(
        self, context: Context[Any, Any], tool: ToolSpecification, arguments: dict[str, Any]
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool with validated arguments and translate its answer; ask the user first if so configured.

        Raises ToolError with a sentence for whatever is wrong with the call or with the store.
        """
        if "session" in arguments:
            arguments = {**arguments, "session": session_of(arguments["session"], context.headers, self.session)}
        try:
            if tool.confirmable and self.runtime.config.requirements.confirm == "elicit":
                answer = await self._confirmed(context, tool, arguments)
                if isinstance(answer, InputRequiredResult):
                    return answer
            else:
                answer = await self._call(tool, arguments)
        except StilltrueError as error:
            raise ToolError(str(error)) from None
        await self._announce(tool.name, answer)
        return self._result(answer)

    async def _confirmed(
        self, context: Context[Any, Any], tool: ToolSpecification, arguments: dict[str, Any]
    ) -> Answer | InputRequiredResult:
        from server.protocol import elicitation

        settled = await elicitation.put(self.workers, context, tool.name, arguments)
        if isinstance(settled, InputRequiredResult):
            return settled
        answer = await self._call(tool, settled.arguments)
        if not settled.unconfirmed:
            return answer
        from tools.support import confirmation

        return confirmation.with_notice(answer)

    async def _call(self, tool: ToolSpecification, arguments: dict[str, Any]) -> Answer:
        return await self.workers.run(tool.name, partial(tool.call, **arguments))

    async def _announce(self, tool: str, answer: Answer) -> None:
        """Notify the watchers of changed resources. A failure here is only logged: the call itself succeeded."""
        if not self.watchers.any:
            return
        try:
            uris = await self.workers.run("the search for changed resources", partial(changed_by, tool, answer))
        except StilltrueError as error:
            _log.warning("watchers could not be notified of a change: %s", error)
        else:
            await self.watchers.notify(uris)

    def _result(self, answer: Answer) -> CallToolResult:
        from tools.support.results import as_data

        content: list[ContentBlock] = [TextContent(type="text", text=answer.text)]
        if not self.runtime.config.server.structured:
            return CallToolResult(content=content)
        return CallToolResult(content=content, structured_content=as_data(answer.data))


class MemoryTool(Tool):
    """A tool of the SDK that accepts what clients really send, and explains in a sentence what was wrong."""

    _specification: ToolSpecification = PrivateAttr()
    _dispatcher: Dispatcher = PrivateAttr()
    _accepted: dict[str, Any] = PrivateAttr()
    """The schema of the accepted arguments; the published one, `parameters`, leaves out the unlisted ones."""

    @classmethod
    def of(cls, specification: ToolSpecification, dispatcher: Dispatcher) -> MemoryTool:
        """The tool of a specification, called through this dispatcher."""
        tool = cast(
            MemoryTool,
            cls.from_function(
                specification.call,
                name=specification.name,
                title=specification.title,
                description=specification.description,
                context_kwarg="context",
                annotations=specification.hints,
                structured_output=False,
            ),
        )
        return tool._bound(specification, dispatcher)  # noqa: SLF001  # it is an instance of this class

    def _bound(self, specification: ToolSpecification, dispatcher: Dispatcher) -> MemoryTool:
        self._specification, self._dispatcher = specification, dispatcher
        self._accepted = portable(self.parameters)
        properties = self._accepted["properties"]
        if self.name == "remember":
            properties["klass"]["description"] = klass_description(dispatcher.runtime.config.classes)
        listed = {name: each for name, each in properties.items() if name not in specification.unlisted}
        self.parameters = {**self._accepted, "properties": listed}
        return self

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        """The schema of the structured content, computed when the tools are listed so that the start is not delayed.

        None if `server.structured` is off.
        """
        if not self._dispatcher.runtime.config.server.structured:
            return None
        from server.protocol.tool_schema import answer_schema
        from tools.support.results import ANSWERS

        return answer_schema(ANSWERS[self.name])

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Run the tool. Raises ToolError with a sentence for the model, whatever went wrong."""
        try:
            return await self._dispatcher.answer(context, self._specification, self._read(arguments))
        except (ToolError, MCPError):
            raise
        except Exception as error:
            raise ToolError(str(fault(self.name, error))) from None

    def _read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments by their own names and types. Raises ToolError if they cannot be read without guessing."""
        try:
            tidy = tidied(renamed(arguments, self.name, self._accepted), self._accepted)
        except Refused as refused:
            raise ToolError(str(refused)) from None
        if strange := unknown(tidy, self.name, self._accepted):
            raise ToolError(strange)
        if self._specification.writes and (lost := damaged(tidy)):
            raise ToolError(lost)
        try:
            return self.fn_metadata.validate_arguments(tidy)
        except ValidationError as invalid:
            raise ToolError(explained(invalid, self.name, self._accepted)) from None


def memory_tools(dispatcher: Dispatcher) -> list[Tool]:
    """The tools, in the order in which they are listed."""
    return [MemoryTool.of(each, dispatcher) for each in SPECIFICATIONS]
