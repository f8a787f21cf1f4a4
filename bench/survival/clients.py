"""Real servers for benchmarks: each a process on a store in a folder, with a client of the SDK on its stdio."""

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
"""No model: it plays no part in what is kept, and several would wait for one another on a small machine."""

_PATIENCE_S = 120.0


class Caller:
    """One client: what it was answered, and how long it waited."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], float]:
        """The data of the answer and the seconds until it came. Raises RuntimeError with what an error says."""
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
async def served(store: Path, options: Sequence[str] = ()) -> AsyncIterator[Caller]:
    """A server on this store, which has opened it."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "stilltrue", "serve", "--store", str(store), *options],
        env={**os.environ, "PYTHONPATH": str(ROOT), "STILLTRUE_SERVER_LOG_LEVEL": "error"},
        cwd=store.parent,
    )
    with open(os.devnull, "w") as quiet:
        async with Client(stdio_client(command, errlog=quiet), read_timeout_seconds=_PATIENCE_S) as client:
            caller = Caller(client)
            await caller.call("constraints")
            yield caller
