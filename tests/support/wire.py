"""The real server as a subprocess, spoken to as clients do: raw JSON-RPC over pipes, or through the SDK's Client."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Literal

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult

ROOT = Path(__file__).resolve().parents[2]
FRONT_DOOR = (sys.executable, "-m", "stilltrue")
PATIENCE_S = 60.0
"""How long an answer may take before it counts as none; it may be the first of a store on a busy machine."""
SOON_S = 15.0
"""How long the end of a process may take. It is meant to take one or two seconds."""

Era = Literal["handshake", "modern"]
ERAS: tuple[Era, ...] = ("handshake", "modern")
ONE_ERA_AND_LATER_BOTH = (pytest.param("handshake", marks=pytest.mark.slow), "modern")
"""For what takes seconds in each: both eras where the long tests are run, too."""
HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
NAMESPACE = "io.modelcontextprotocol/"
MODERN_META = {
    f"{NAMESPACE}protocolVersion": MODERN,
    f"{NAMESPACE}clientInfo": {"name": "wire", "version": "0"},
    f"{NAMESPACE}clientCapabilities": {},
}


def clean_env(home: Path, path: Sequence[Path] = (), **extra: str) -> dict[str, str]:
    """An environment without settings of ours; the user's folders lie in `home`, `path` precedes the checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STILLTRUE_", "PYTHON"))}
    folders = {"HOME": home, "XDG_CONFIG_HOME": home / "config", "XDG_DATA_HOME": home / "data"}
    python_path = os.pathsep.join(map(str, [*path, ROOT]))
    return kept | {name: str(folder) for name, folder in folders.items()} | {"PYTHONPATH": python_path} | extra


@dataclass
class Wire:
    """One server process and both ends of its pipes. A line on its stdout that is no JSON-RPC fails the test.

    In the modern era every request carries the protocol's version; in the handshake era `initialize` was answered.
    """

    process: subprocess.Popen[bytes]
    home: Path
    log: Path
    era: Era
    instructions: str = ""
    _number: int = 0

    def __post_init__(self) -> None:
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._answers: dict[int, dict[str, Any]] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    @property
    def stderr(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def raw(self, line: bytes) -> None:
        """Write bytes and a line end."""
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def notify(self, method: str, **params: Any) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def send(self, method: str, **params: Any) -> int:
        """Send a request and return its number."""
        self._number += 1
        if self.era == "modern":
            params["_meta"] = MODERN_META
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.raw(json.dumps(message).encode())
        return self._number

    def reply(self, number: int, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """The whole reply to a request, whatever comes before it."""
        while number not in self._answers:
            message = self.read(patience_s)
            if "id" in message:
                self._answers[message["id"]] = message
        return self._answers.pop(number)

    def answered(self, number: int) -> bool:
        """Whether a reply to this request stands among those that came so far."""
        return number in self._answers

    def read(self, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """The next message, whatever it is."""
        try:
            line = self._lines.get(timeout=patience_s)
        except queue.Empty:
            raise AssertionError(f"no message came in {patience_s:g} seconds; stderr:\n{self.stderr}") from None
        assert line, f"the server ended; stderr:\n{self.stderr}"
        return self._checked(line)

    def unread(self) -> Iterator[dict[str, Any]]:
        """The whole messages that are still in the pipe of a process that ended; a torn last one is none."""
        while line := self._lines.get(timeout=SOON_S):
            if line.endswith(b"\n"):
                yield self._checked(line)

    @staticmethod
    def _checked(line: bytes) -> dict[str, Any]:
        try:
            message = json.loads(line)
        except ValueError:
            raise AssertionError(f"no JSON on stdout: {line[:200]!r}") from None
        assert isinstance(message, dict), line[:200]
        assert message.get("jsonrpc") == "2.0", line[:200]
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request."""
        reply = self.reply(self.send(method, **params))
        assert "result" in reply, reply
        return dict(reply["result"])

    def start_call(self, tool: str, **arguments: Any) -> int:
        return self.send("tools/call", name=tool, arguments=arguments)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool call, an error or not."""
        return dict(self.reply(self.start_call(tool, **arguments))["result"])

    def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a tool call that has to succeed."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), text_of(result)
        return dict(result["structuredContent"])

    def refused(self, tool: str, **arguments: Any) -> str:
        """The sentence by which a tool call is refused."""
        result = self.call(tool, **arguments)
        assert result.get("isError"), result
        said = text_of(result)
        assert "Error executing tool" not in said
        assert "Traceback" not in said
        return said

    def close_stdin(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def hang_up(self) -> None:
        """Close both pipes at once, as the end of a client does."""
        assert self.process.stdout
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, self.process.stdout.fileno())
        os.close(nothing)
        self.close_stdin()

    def ended(self) -> int:
        """The exit code of the process, which has to end soon; what it still writes has to be JSON-RPC."""
        try:
            code = self.process.wait(timeout=SOON_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {SOON_S:g} seconds; stderr:\n{self.stderr}") from None
        while line := self._lines.get(timeout=SOON_S):
            self._checked(line)
        return code


@contextmanager
def wire(
    home: Path,
    *arguments: str | Path,
    era: Era = "handshake",
    path: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
    version: str = HANDSHAKE,
    command: Sequence[str] = FRONT_DOOR,
) -> Iterator[Wire]:
    """A server on `home / "store"` after its handshake, killed at the end if it still runs.

    `home` also holds its user's folders and its stderr; `arguments` follow `serve`, `path` precedes the checkout
    on the Python path.
    """
    home.mkdir(parents=True, exist_ok=True)
    log = home / f"stderr-{len(list(home.glob('stderr-*')))}"
    store = () if "--store" in arguments else ("--store", home / "store")
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*command, "serve", *store, *arguments], cwd=home, env=clean_env(home, path, **(env or {})),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
        )  # fmt: skip
    client = Wire(process, home, log, era)
    try:
        if era == "handshake":
            hello = client.ask(
                "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "wire", "version": "0"}
            )
            client.instructions = hello["instructions"]
            client.notify("notifications/initialized")
        yield client
    finally:
        process.kill()
        process.wait(SOON_S)
        with suppress(BrokenPipeError):
            client.close_stdin()


def until(true: Callable[[], bool]) -> None:
    """Wait for what another process does at a time of its own."""
    deadline = monotonic() + SOON_S
    while not true():
        assert monotonic() < deadline, "it did not come"
        sleep(0.05)


def text_of(result: Mapping[str, Any]) -> str:
    """The text of a tool's result."""
    return "\n".join(block["text"] for block in result["content"])


def text_of_blocks(result: CallToolResult) -> str:
    """The text of a tool's result as the SDK's client hands it over."""
    return "\n".join(block.text for block in result.content if block.type == "text")


@dataclass(frozen=True, slots=True)
class SdkClient:
    """The SDK's client on a server of its own, for tests that are not async."""

    client: Client
    portal: BlockingPortal

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.portal.call(partial(self.client.call_tool, tool, arguments))

    def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a tool call that has to succeed."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return dict(result.structured_content)

    def calls(self, tool: str, each: Sequence[Mapping[str, Any]]) -> list[CallToolResult]:
        """The results of several calls, made eight at a time, in their order."""
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
        """Return once the model is loaded: a write waits for it, a read does not."""
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
    """The SDK's client, connected to `command` `arguments` (those of a server on `home / "store"` unless given)."""
    home.mkdir(parents=True, exist_ok=True)
    given = ["serve", "--store", home / "store"] if arguments is None else arguments
    server = StdioServerParameters(
        command=command[0],
        args=[*command[1:], *map(str, given)],
        env={**clean_env(home), **(env or {})},
        cwd=home,
    )
    mode = "legacy" if era == "handshake" else MODERN
    with (home / "stderr-sdk").open("a", encoding="utf-8") as log, start_blocking_portal() as portal:
        client = Client(stdio_client(server, errlog=log), mode=mode, read_timeout_seconds=PATIENCE_S)
        with portal.wrap_async_context_manager(client) as connected:
            yield SdkClient(connected, portal)
