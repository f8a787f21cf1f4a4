"""The MCP server: tools, resources, prompts, and the instructions sent to each new connection.

Heavy modules are imported by the first call, never here, so that the handshake is answered at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import (
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptResult,
    InputRequiredResult,
    Prompt,
    PromptReference,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from pydantic import AnyUrl

from server.protocol.dispatch import Dispatcher, memory_tools
from server.protocol.instructions import USAGE, instructions
from server.tenants import Runtime
from server.wiring import utc_now
from stilltrue import __version__

_WARM_UP_AFTER_S = 0.2
_FIRST_REQUEST_S = 3.0
_GREETINGS = frozenset({"initialize", "server/discover"})


def build(runtime: Runtime) -> MCPServer[None]:
    """The server for these stores. Nothing is opened or loaded until it runs."""
    return App(Dispatcher(runtime))


class App(MCPServer[None]):
    """The SDK's server with our tools, resources and prompts.

    Resources and prompts are answered here instead of being registered with the SDK: registration builds a pydantic
    model for each at every start, and gives a resource without parameters no access to the session of the caller.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._greeted = anyio.Event()
        super().__init__(
            "stilltrue",
            title="stilltrue",
            version=__version__,
            instructions=USAGE,
            tools=memory_tools(dispatcher),
            lifespan=self._run_lifespan,
            log_level="WARNING",
            subscriptions=dispatcher.watchers,
            middleware=[self._instruct],
        )
        self.completion()(self._complete)  # type: ignore[no-untyped-call]
        # The SDK has no public way to handle the subscriptions of the handshake protocols.
        self._lowlevel_server.add_request_handler(
            "resources/subscribe", SubscribeRequestParams, dispatcher.watchers.begin
        )
        self._lowlevel_server.add_request_handler(
            "resources/unsubscribe", UnsubscribeRequestParams, dispatcher.watchers.end
        )

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Raises ToolError with the names of the tools if there is none of this name."""
        known = [tool.name for tool in self._tool_manager.list_tools()]
        if name not in known:
            raise ToolError(f"There is no tool {name!r}. There are: {', '.join(known)}. Nothing was done.")
        return await super().call_tool(name, arguments, context)

    async def list_resources(self) -> list[Resource]:
        from server.protocol.resources import listed

        return listed(self._dispatcher)

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        from server.protocol.resources import templates

        return templates()

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[None, Any] | None = None
    ) -> Iterable[ReadResourceContents]:
        from server.protocol.resources import read

        return await read(self._dispatcher, str(uri), context or Context(mcp_server=self))

    async def list_prompts(self) -> list[Prompt]:
        from server.protocol.prompts import listed

        return listed()

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[None, Any] | None = None
    ) -> GetPromptResult:
        from server.protocol.prompts import get

        return await get(self._dispatcher, name, arguments)

    async def _complete(
        self,
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        from server.protocol.prompts import complete

        return await complete(self._dispatcher, argument)

    async def _instruct(self, ctx: ServerRequestContext[None, Any], call_next: CallNext) -> HandlerResult:
        """Middleware: a new connection gets the current requirements, even if the process has run for weeks."""
        result = await call_next(ctx)
        self._greeted.set()
        if ctx.method in _GREETINGS and isinstance(result, dict):
            return {**result, "instructions": instructions(self._dispatcher.runtime, utc_now())}
        return result

    @asynccontextmanager
    async def _run_lifespan(self, _: MCPServer[None]) -> AsyncIterator[None]:
        runtime = self._dispatcher.runtime
        async with anyio.create_task_group() as background:
            background.start_soon(self._warm_later)
            try:
                yield
            finally:
                background.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(runtime.close)

    async def _warm_later(self) -> None:
        """Start loading the heavy parts once the first request has its answer, or after a few seconds without one."""
        with anyio.move_on_after(_FIRST_REQUEST_S):
            await self._greeted.wait()
        await anyio.sleep(_WARM_UP_AFTER_S)
        self._dispatcher.runtime.warm()
