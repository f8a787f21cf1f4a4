"""The real server over HTTP as a subprocess, spoken to by raw requests or through the SDK's client."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx2
from anyio.from_thread import start_blocking_portal
from in_process import in_process_client
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from sdk_client import SdkClient
from wire import FRONT_DOOR, HANDSHAKE, MODERN, MODERN_META, PATIENCE_S, SOON_S, Era, clean_env, text_of

ACCEPT = {"Accept": "application/json, text/event-stream"}
PLACES = ("inside", "over HTTP")
"""Where the SDK's client meets a server: in the process of the test, or in one of its own, over HTTP."""
WORDS_ALONE = ("--set", "embedding.engine=none")
"""The model plays no part in who may read what."""


@dataclass
class Served:
    """A server process that listens, and where."""

    process: subprocess.Popen[bytes]
    home: Path
    log: Path
    url: str = ""

    @property
    def stderr(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return httpx2.get(self.url + path, headers=_dashed(headers), timeout=PATIENCE_S)

    def caller(self, token: str | None = None, era: Era = "handshake") -> Caller:
        """A client of its own connection, after its handshake where there is one."""
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        caller = Caller(httpx2.Client(base_url=self.url, headers=ACCEPT | bearer, timeout=PATIENCE_S), era)
        if era == "handshake":
            caller.shake_hands()
        return caller

    @contextmanager
    def sdk(self, token: str | None = None, era: Era = "modern", **handlers: Any) -> Iterator[SdkClient]:
        """The SDK's client, connected; `handlers` are its own, such as `elicitation_callback`."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        http = httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S)
        mode = "legacy" if era == "handshake" else MODERN
        client = Client(streamable_http_client(self.url + "/mcp", http_client=http), mode=mode, **handlers)
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as connected:
            yield SdkClient(connected, portal)

    def ended(self) -> int:
        """The exit code of the process, which has to end soon."""
        try:
            return self.process.wait(timeout=SOON_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {SOON_S:g} seconds; stderr:\n{self.stderr}") from None


@dataclass
class Caller:
    """One client over raw HTTP."""

    http: httpx2.Client
    era: Era
    session: dict[str, str] = field(default_factory=dict)
    _number: int = 0

    def shake_hands(self) -> None:
        params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
        reply = self.post("initialize", params)
        assert reply.status_code == 200, (reply.status_code, reply.text)
        self.session = {"Mcp-Session-Id": reply.headers["mcp-session-id"], "MCP-Protocol-Version": HANDSHAKE}
        self.http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=self.session)

    def message(self, method: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The body and the headers of a request."""
        self._number += 1
        headers = dict(self.session)
        if self.era == "modern":
            params = {**params, "_meta": MODERN_META}
            headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
            headers |= {"Mcp-Name": name} if (name := params.get("name") or params.get("uri")) else {}
        return {"jsonrpc": "2.0", "id": self._number, "method": method, "params": dict(params)}, headers

    def post(self, method: str, params: Mapping[str, Any], **headers: str) -> httpx2.Response:
        """The raw answer to a request."""
        body, own = self.message(method, params)
        return self.http.post("/mcp", json=body, headers=own | _dashed(headers))

    def begin(self, method: str, **params: Any) -> socket.socket:
        """Send a whole request on a connection of its own, and do not wait for the answer."""
        wire = socket.create_connection((self.http.base_url.host, self.http.base_url.port or 80), PATIENCE_S)
        wire.sendall(self.wired(method, params))
        return wire

    def wired(self, method: str, params: Mapping[str, Any]) -> bytes:
        """A request as it goes over the wire."""
        body, headers = self.message(method, params)
        request = self.http.build_request("POST", "/mcp", json=body, headers=headers)
        lines = [f"{name}: {value}" for name, value in request.headers.items()]
        return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode() + request.read()

    def reply(self, method: str, **params: Any) -> dict[str, Any]:
        """The JSON-RPC reply to a request, as a stream or not."""
        return reply_of(self.post(method, params))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool call, an error or not."""
        return dict(self.reply("tools/call", name=tool, arguments=arguments)["result"])

    def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a tool call that has to succeed."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), text_of(result)
        return dict(result["structuredContent"])


def reply_of(answer: httpx2.Response) -> dict[str, Any]:
    """The JSON-RPC message of an answer."""
    assert answer.status_code == 200, (answer.status_code, answer.text)
    return said(answer)


def said(answer: httpx2.Response) -> dict[str, Any]:
    """The JSON-RPC message of an answer, whatever its status."""
    if answer.headers["content-type"].startswith("application/json"):
        return dict(answer.json())
    return dict(json.loads(re.findall(r"^data: (\{.*)$", answer.text, re.MULTILINE)[-1]))


def _dashed(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def served(home: Path, *arguments: str | Path) -> Iterator[Served]:
    """A server on any free port, its user's folders in `home`; killed at the end if it still runs."""
    home.mkdir(parents=True, exist_ok=True)
    log = home / f"stderr-http-{len(list(home.glob('stderr-http-*')))}"
    command = [*FRONT_DOOR, "serve", "--http", "--port", "0", *WORDS_ALONE, *map(str, arguments)]
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            command, cwd=home, env=clean_env(home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr
        )
    server = Served(process, home, log)
    try:
        deadline = monotonic() + PATIENCE_S
        while not (listens := re.search(r"(http://\S+)/mcp serves", server.stderr)):
            assert process.poll() is None, server.stderr
            assert monotonic() < deadline, server.stderr
            sleep(0.05)
        server.url = listens[1].replace("0.0.0.0", "127.0.0.1")
        yield server
    finally:
        process.kill()
        process.wait(SOON_S)
        assert process.stdout
        assert process.stdout.read() == b"", "nothing belongs on stdout"


@contextmanager
def reached(place: str, era: Era, home: Path) -> Iterator[SdkClient]:
    """The SDK's client of a fresh server without a disk, at one of PLACES."""
    if place == "inside":
        with in_process_client(era) as client:
            yield client
    else:
        with served(home, "--ephemeral") as server, server.sdk(era=era) as client:
            yield client


def stilltrue(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    home.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [*FRONT_DOOR, *map(str, arguments)], cwd=home, env=clean_env(home), capture_output=True, text=True,
        timeout=PATIENCE_S,
    )  # fmt: skip


def token_of(home: Path, tenant: str, name: str = "default") -> str:
    """A new token of a tenant, made by the command line."""
    made = stilltrue(home, "token", "create", "--tenant", tenant, "--name", name)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def data_of(home: Path) -> Path:
    """The folder of ours among the data of this user."""
    return home / "data" / "stilltrue"
