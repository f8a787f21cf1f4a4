"""Real servers for benchmarks: each a process on a store in a folder, with an SDK client on its stdio."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).resolve().parents[2]
WORDS_ALONE = ("--set", "embedding.engine=none")
"""No model. It has no part in what is stored, and several would compete for a small machine."""

_PATIENCE_S = 120.0


class TimedClient:
    """A client that measures how long it waits for each answer."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], float]:
        """The structured content of the answer, and the wait in seconds. Raises RuntimeError on an error."""
        began = perf_counter()
        result = await self._client.call_tool(tool, arguments)
        waited = perf_counter() - began
        if result.is_error or result.structured_content is None:
            raise RuntimeError(f"{tool}: {result.content}")
        return result.structured_content, waited

    async def wait(self, tool: str, **arguments: Any) -> float:
        """The milliseconds until the answer came."""
        return 1000 * (await self.call(tool, **arguments))[1]


@asynccontextmanager
async def server_on(store: Path, options: Sequence[str] = ()) -> AsyncIterator[TimedClient]:
    """A client of a server that has opened this store."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "stilltrue", "serve", "--store", str(store), *options],
        env={**os.environ, "PYTHONPATH": str(ROOT), "STILLTRUE_SERVER_LOG_LEVEL": "error"},
        cwd=store.parent,
    )
    with open(os.devnull, "w") as quiet:
        async with Client(stdio_client(command, errlog=quiet), read_timeout_seconds=_PATIENCE_S) as client:
            timed = TimedClient(client)
            await timed.call("constraints")
            yield timed
