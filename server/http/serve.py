"""Serve Streamable HTTP: who may call is decided before it listens, and it ends with every call answered."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Callable
from time import monotonic
from types import FrameType

import anyio
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import ClientDisconnect

from server.config.load import Config
from server.config.settings import HttpSection
from server.config.validators import listed
from server.http.gateway import Front, is_loopback
from server.http.limits import Limits, bounded
from server.http.metrics import Meter
from server.http.tokens import Tokens
from server.protocol.app import build
from server.stdio import leave
from server.tenants import TenantStores
from server.wiring import StoreRuntime
from stilltrue import __version__
from stilltrue.errors import BadConfig, StoreTrouble

_NEAR = ("127.0.0.1", "localhost", "[::1]")
_BACKLOG = 128
"""Connections that the system holds ready. They are accepted all at once, so they have to be few."""
_IDLE_S = 5
_STREAMS_END_S = 2
_LATEST_S = 3.0
_TICKS = 10  # that uvicorn makes in a second


def serve(config: Config, *, ephemeral: bool = False) -> None:
    """Listen until a signal comes, then end: calls under way are answered, streams are closed. Never returns.

    Raises BadConfig where it may not listen there, or cannot.
    """
    tokens = Tokens(config.http.folder() / "tokens.json")
    guarded = asks_for_tokens(config.http, tokens)
    if guarded and ephemeral:
        raise BadConfig("--ephemeral keeps one store, and each tenant has one of its own.", "Leave it out.")
    runtime = (
        TenantStores(config, caller, config.http.open_stores)
        if guarded
        else StoreRuntime(config, ephemeral=ephemeral)
    )
    security = allowed(config.http)
    app = build(runtime)
    meter = Meter(frozenset(tool.name for tool in anyio.run(app.list_tools)), lambda: runtime.stores)
    app.middleware.append(meter.measure)
    protocol = app.streamable_http_app(
        transport_security=security, max_request_body_size=config.http.body_limit_bytes
    )
    logging.getLogger("mcp.server.streamable_http").addFilter(_no_vanished_client)
    front = Front(protocol, meter, tokens if guarded else None, security)
    listener = listen(config.http)
    place = f"{_in_a_url(config.http.host)}:{listener.getsockname()[1]}"
    whose = f"the tenants in {tokens.path}" if guarded else f"the store {runtime.location}, without tokens"
    sys.stderr.write(f"stilltrue {__version__}: http://{place}/mcp serves {whose}\n")
    sys.stderr.flush()
    settings = uvicorn.Config(
        front, http=bounded(Limits()), lifespan="on", ws="none", log_config=None, access_log=False,
        server_header=False, proxy_headers=False, backlog=_BACKLOG, timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=_STREAMS_END_S,
    )  # fmt: skip
    server = Ending(settings, front, config.http.shutdown_s, runtime.close)
    anyio.run(server.serve, [listener])
    leave(runtime.close, 0)


def asks_for_tokens(http: HttpSection, tokens: Tokens) -> bool:
    """Whether callers need a token: once one was made, and wherever others than this machine can call.

    Raises BadConfig where they do and there is none that would be let in.
    """
    why = ""
    if not is_loopback(http.host):
        why = f"http.host is {http.host}, which is not this machine alone"
    elif far := [each for each in listed(http.allowed_hosts) if not is_loopback(each.rsplit(":", 1)[0])]:
        why = f"http.allowed_hosts has {far[0]}, so others than this machine call"
    elif tokens.exist:
        why = f"{tokens.path} is there"
    if why and not tokens.all():
        raise BadConfig(
            f"Callers need a token, since {why}, and there is none.",
            "Make one with: stilltrue token create --tenant NAME"
            + (f"; or delete {tokens.path} to serve this machine without." if tokens.exist else "."),
        )
    return bool(why)


def allowed(http: HttpSection) -> TransportSecuritySettings:
    """The hosts and origins that a request may name: those of this machine, where it listens, and the configured."""
    hosts = [*_NEAR, _in_a_url(http.host), *listed(http.allowed_hosts)]
    origins = [*(f"http://{each}" for each in _NEAR), *listed(http.allowed_origins)]
    return TransportSecuritySettings(
        allowed_hosts=[*hosts, *(f"{each}:*" for each in hosts)],
        allowed_origins=[*origins, *(f"{each}:*" for each in origins[: len(_NEAR)])],
    )


def listen(http: HttpSection) -> socket.socket:
    """The socket, listening. Raises BadConfig where that is not possible."""
    family = socket.AF_INET6 if ":" in http.host else socket.AF_INET
    try:
        return socket.create_server((http.host, http.port), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        raise BadConfig(
            f"http.host {http.host} and http.port {http.port} cannot be listened on: {error}.", "Choose others."
        ) from error


def caller() -> str:
    """The tenant of the call, by its token and by nothing else that it says."""
    token = get_access_token()
    if token is None:
        raise StoreTrouble("Nobody knows whose memory is meant: the call carries no token.", "Call with a token.")
    return token.client_id


class Ending(uvicorn.Server):
    """The HTTP server, which ends in order: takes nothing new, answers what waits, closes streams, and leaves.

    A second signal makes it hurry. What cannot be ended is left behind: a store outlives that.
    """

    def __init__(self, config: uvicorn.Config, front: Front, patience_s: float, close: Callable[[], None]) -> None:
        super().__init__(config)
        self._front = front
        self._patience_s = patience_s
        self._close = close
        self._asked = 0
        self._deadline: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal came. It can come between any two instructions, so nothing but a note of it is made."""
        self._asked += 1

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: see who has to go."""
        if self._asked:
            self._end()
        elif counter % _TICKS == 0:
            self._front.end_withdrawn()
        return await super().on_tick(counter)

    def _end(self) -> None:
        if self._deadline is None:
            self._deadline = monotonic() + self._patience_s
            self._front.stop()
            for each in self.servers:
                each.close()
            last = threading.Timer(self._patience_s + _STREAMS_END_S + _LATEST_S, leave, (self._close, 1))
            last.daemon = True
            last.start()
        if not self._front.busy or self._asked > 1 or monotonic() >= self._deadline:
            self._front.end()
            self.should_exit = True


def _no_vanished_client(record: logging.LogRecord) -> bool:
    """Whether to log it: that a client is gone is no fault, and nobody is left to be told."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


def _in_a_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
