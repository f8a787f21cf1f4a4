"""The real server as a subprocess, called with raw JSON-RPC over pipes."""

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
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Literal

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRONT_DOOR = (sys.executable, "-m", "stilltrue")
PATIENCE_S = 60.0
"""How long to wait for an answer. It may be the first one from a new store, on a busy machine."""
SOON_S = 15.0
"""How long a process may take to end. One or two seconds are intended."""

Era = Literal["handshake", "modern"]
ERAS: tuple[Era, ...] = ("handshake", "modern")
ONE_ERA_AND_LATER_BOTH = (pytest.param("handshake", marks=pytest.mark.slow), "modern")
"""For tests that take seconds with each: both only when slow tests run too."""
HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
NAMESPACE = "io.modelcontextprotocol/"
MODERN_META = {
    f"{NAMESPACE}protocolVersion": MODERN,
    f"{NAMESPACE}clientInfo": {"name": "wire", "version": "0"},
    f"{NAMESPACE}clientCapabilities": {},
}


def clean_env(home: Path, path: Sequence[Path] = (), **extra: str) -> dict[str, str]:
    """An environment without our settings and with the user's folders in `home`; `path` precedes the checkout."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("STILLTRUE_", "PYTHON"))}
    folders = {"HOME": home, "XDG_CONFIG_HOME": home / "config", "XDG_DATA_HOME": home / "data"}
    python_path = os.pathsep.join(map(str, [*path, ROOT]))
    return inherited | {name: str(folder) for name, folder in folders.items()} | {"PYTHONPATH": python_path} | extra


@dataclass
class Wire:
    """A server process and its pipes. A line on its stdout that is not JSON-RPC fails the test.

    With the modern protocol every request carries the version; otherwise `initialize` has been answered.
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
        """Write bytes and a newline."""
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
        """Wait for the reply to a request; messages before it are skipped or stored."""
        while number not in self._answers:
            message = self.read(patience_s)
            if "id" in message:
                self._answers[message["id"]] = message
        return self._answers.pop(number)

    def answered(self, number: int) -> bool:
        """Whether the reply to this request has already been read."""
        return number in self._answers

    def read(self, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """The next message of any kind."""
        try:
            line = self._lines.get(timeout=patience_s)
        except queue.Empty:
            raise AssertionError(f"no message within {patience_s:g} seconds; stderr:\n{self.stderr}") from None
        assert line, f"the server ended; stderr:\n{self.stderr}"
        return self._checked(line)

    def unread(self) -> Iterator[dict[str, Any]]:
        """The complete messages left in the pipe of a process that has ended."""
        while line := self._lines.get(timeout=SOON_S):
            if line.endswith(b"\n"):
                yield self._checked(line)

    @staticmethod
    def _checked(line: bytes) -> dict[str, Any]:
        try:
            message = json.loads(line)
        except ValueError:
            raise AssertionError(f"not JSON on stdout: {line[:200]!r}") from None
        assert isinstance(message, dict), line[:200]
        assert message.get("jsonrpc") == "2.0", line[:200]
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return its result."""
        reply = self.reply(self.send(method, **params))
        assert "result" in reply, reply
        return dict(reply["result"])

    def start_call(self, tool: str, **arguments: Any) -> int:
        return self.send("tools/call", name=tool, arguments=arguments)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the result, which may be an error."""
        return dict(self.reply(self.start_call(tool, **arguments))["result"])

    def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to succeed, and return the structured content."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), text_of(result)
        return dict(result["structuredContent"])

    def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that has to be refused, and return the message."""
        result = self.call(tool, **arguments)
        assert result.get("isError"), result
        message = text_of(result)
        assert "Error executing tool" not in message
        assert "Traceback" not in message
        return message

    def close_stdin(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def hang_up(self) -> None:
        """Close both pipes at once, as happens when a client dies."""
        assert self.process.stdout
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, self.process.stdout.fileno())
        os.close(nothing)
        self.close_stdin()

    def ended(self) -> int:
        """Wait for the process to end and return its exit code; anything it still writes has to be JSON-RPC."""
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
    """A server on `home / "store"` after its handshake; killed at the end if it is still running.

    `home` also holds the user's folders and the server's stderr. `arguments` follow `serve`; `path` precedes the
    checkout on the Python path.
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


def until(condition: Callable[[], bool]) -> None:
    """Wait until another process has made the condition true."""
    deadline = monotonic() + SOON_S
    while not condition():
        assert monotonic() < deadline, "the condition never became true"
        sleep(0.05)


def text_of(result: Mapping[str, Any]) -> str:
    """The text of a tool result."""
    return "\n".join(block["text"] for block in result["content"])
