"""Serves Streamable HTTP. Whether tokens are required is decided before it listens; shutdown answers every call."""

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
from server.http.gateway import Gateway, is_loopback
from server.http.limits import Limits, bounded
from server.http.metrics import Meter
from server.http.tokens import Tokens
from server.protocol.app import build
from server.runtime import StoreRuntime
from server.stdio import leave
from server.tenants import TenantStores
from stilltrue import __version__
from stilltrue.errors import BadConfig, StoreTrouble

_LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_BACKLOG = 128
"""Connections that the system holds ready. They are accepted all at once, so they have to be few."""
_IDLE_S = 5
_STREAMS_END_S = 2
_MARGIN_S = 3.0
_TICKS_PER_S = 10  # of uvicorn


def serve(config: Config, *, ephemeral: bool = False) -> None:
    """Listen until a signal comes, then answer the calls in progress, close streams and leave. Never returns.

    Raises BadConfig if it may not or cannot listen at the configured address.
    """
    tokens = Tokens(config.http.folder() / "tokens.json")
    guarded = requires_tokens(config.http, tokens)
    if guarded and ephemeral:
        raise BadConfig("--ephemeral has one store, but with tokens each tenant has its own.", "Leave it out.")
    runtime = (
        TenantStores(config, tenant_of_call, config.http.open_stores)
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
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_not_a_disconnect)
    gateway = Gateway(protocol, meter, tokens if guarded else None, security)
    listener = listen(config.http)
    address = f"{_in_a_url(config.http.host)}:{listener.getsockname()[1]}"
    served = f"the tenants in {tokens.path}" if guarded else f"the store {runtime.location}, without tokens"
    sys.stderr.write(f"stilltrue {__version__}: http://{address}/mcp serves {served}\n")
    sys.stderr.flush()
    settings = uvicorn.Config(
        gateway, http=bounded(Limits()), lifespan="on", ws="none", log_config=None, access_log=False,
        server_header=False, proxy_headers=False, backlog=_BACKLOG, timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=_STREAMS_END_S,
    )  # fmt: skip
    server = StoppableServer(settings, gateway, config.http.shutdown_s, runtime.close)
    anyio.run(server.serve, [listener])
    leave(runtime.close, 0)


def requires_tokens(http: HttpSection, tokens: Tokens) -> bool:
    """Whether callers need a token: if one was ever created, or if other machines can call.

    Raises BadConfig if they do and no token is valid.
    """
    why = ""
    if not is_loopback(http.host):
        why = f"http.host is {http.host}, which other machines can reach"
    elif far := [each for each in listed(http.allowed_hosts) if not is_loopback(each.rsplit(":", 1)[0])]:
        why = f"http.allowed_hosts has {far[0]}, so others than this machine call"
    elif tokens.exist:
        why = f"{tokens.path} is there"
    if why and not tokens.all():
        raise BadConfig(
            f"Callers need a token, since {why}, and there is none.",
            "Create one with: stilltrue token create --tenant NAME"
            + (f"; or delete {tokens.path} to serve this machine without tokens." if tokens.exist else "."),
        )
    return bool(why)


def allowed(http: HttpSection) -> TransportSecuritySettings:
    """The hosts and origins that a request may name: this machine, the address, and the configured ones."""
    hosts = [*_LOCAL_HOSTS, _in_a_url(http.host), *listed(http.allowed_hosts)]
    origins = [*(f"http://{each}" for each in _LOCAL_HOSTS), *listed(http.allowed_origins)]
    return TransportSecuritySettings(
        allowed_hosts=[*hosts, *(f"{each}:*" for each in hosts)],
        allowed_origins=[*origins, *(f"{each}:*" for each in origins[: len(_LOCAL_HOSTS)])],
    )


def listen(http: HttpSection) -> socket.socket:
    """A listening socket. Raises BadConfig if the address cannot be used."""
    family = socket.AF_INET6 if ":" in http.host else socket.AF_INET
    try:
        return socket.create_server((http.host, http.port), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        raise BadConfig(
            f"http.host {http.host} and http.port {http.port} cannot be listened on: {error}.",
            "Choose another host or port.",
        ) from error


def tenant_of_call() -> str:
    """The tenant of the current call. Only its token decides that, and no other header."""
    token = get_access_token()
    if token is None:
        raise StoreTrouble("The call has no token, so its tenant is unknown.", "Call with a token.")
    return token.client_id


class StoppableServer(uvicorn.Server):
    """The HTTP server with an orderly shutdown: no new requests, answers to the pending ones, closed streams.

    A second signal skips the waiting. A call that cannot be ended is abandoned; the store is safe from that.
    """

    def __init__(
        self, config: uvicorn.Config, gateway: Gateway, patience_s: float, close: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._gateway = gateway
        self._patience_s = patience_s
        self._close = close
        self._signals = 0
        self._deadline: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Count the signal and do nothing else: it can arrive between any two instructions."""
        self._signals += 1

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: continue the shutdown, or end the requests of revoked tokens."""
        if self._signals:
            self._shut_down()
        elif counter % _TICKS_PER_S == 0:
            self._gateway.end_revoked()
        return await super().on_tick(counter)

    def _shut_down(self) -> None:
        if self._deadline is None:
            self._deadline = monotonic() + self._patience_s
            self._gateway.stop()
            for each in self.servers:
                each.close()
            last = threading.Timer(self._patience_s + _STREAMS_END_S + _MARGIN_S, leave, (self._close, 1))
            last.daemon = True
            last.start()
        if not self._gateway.busy or self._signals > 1 or monotonic() >= self._deadline:
            self._gateway.end()
            self.should_exit = True


def _is_not_a_disconnect(record: logging.LogRecord) -> bool:
    """Whether to log it: a client that disconnects is not an error."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


def _in_a_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
