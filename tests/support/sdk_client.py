"""The SDK's client on a server subprocess of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult
from wire import FRONT_DOOR, MODERN, PATIENCE_S, Era, clean_env


def text_of_blocks(result: CallToolResult) -> str:
    """The text of a tool result that the SDK's client returned."""
    return "\n".join(block.text for block in result.content if block.type == "text")


@dataclass(frozen=True, slots=True)
class SdkClient:
    """The SDK's client, connected to a server, for tests that are not async."""

    client: Client
    portal: BlockingPortal

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.portal.call(partial(self.client.call_tool, tool, arguments))

    def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to succeed, and return the structured content."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return dict(result.structured_content)

    def calls(self, tool: str, each: Sequence[Mapping[str, Any]]) -> list[CallToolResult]:
        """The results of several calls in order, made eight at a time."""
        return self.portal.call(self._calls, tool, each)

    async def _calls(self, tool: str, each: Sequence[Mapping[str, Any]]) -> list[CallToolResult]:
        results: dict[int, CallToolResult] = {}
        limiter = anyio.CapacityLimiter(8)

        async def call(number: int) -> None:
            async with limiter:
                results[number] = await self.client.call_tool(tool, dict(each[number]))

        async with anyio.create_task_group() as group:
            for number in range(len(each)):
                group.start_soon(call, number)
        return [results[number] for number in range(len(each))]

    def ready(self) -> None:
        """Wait until the model is loaded. It makes a write, because a read does not wait for the model."""
        self.done("remember", text="The model is loaded.", subjects=["the server itself"])

    def tools(self) -> list[str]:
        return [tool.name for tool in self.portal.call(self.client.list_tools).tools]


@contextmanager
def sdk_client(
    home: Path,
    era: Era = "modern",
    *,
    command: Sequence[str] = FRONT_DOOR,
    arguments: Sequence[str | Path] | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[SdkClient]:
    """The SDK's client on `command` with `arguments`, which default to a server on `home / "store"`."""
    home.mkdir(parents=True, exist_ok=True)
    arguments = ["serve", "--store", home / "store"] if arguments is None else arguments
    server = StdioServerParameters(
        command=command[0],
        args=[*command[1:], *map(str, arguments)],
        env={**clean_env(home), **(env or {})},
        cwd=home,
    )
    mode = "legacy" if era == "handshake" else MODERN
    with (home / "stderr-sdk").open("a", encoding="utf-8") as log, start_blocking_portal() as portal:
        client = Client(stdio_client(server, errlog=log), mode=mode, read_timeout_seconds=PATIENCE_S)
        with portal.wrap_async_context_manager(client) as connected:
            yield SdkClient(connected, portal)
