"""Limits for clients that keep the server waiting: the time for a request, and the number of waiting connections.

uvicorn limits only the idle time after a response. Without more, a client that opens connections and sends half a
request on each uses up the file descriptors, and nobody else can connect. It needs no token for that.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, cast

import h11
from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

_HOST = rb"(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?"
_VALID = MappingProxyType(
    {
        b"host": (re.compile(_HOST, re.IGNORECASE), 400),
        b"origin": (re.compile(rb"null|[a-z][a-z0-9+.-]*://" + _HOST, re.IGNORECASE), 403),
    }
)
"""What a header has to look like, and the status of the refusal."""
_MAX_HEAD_BYTES = 16 * 1024
_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

Part = Literal["head", "body"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for the head of a request, from the opening of the connection or the last response; then for its body.

    `waiting` is how many connections may be without a complete request at a time.
    """

    head_s: float = 10.0
    body_s: float = 30.0
    waiting: int = 256


@dataclass
class Waiting:
    """The connections of one server that wait for the rest of a request, oldest first."""

    limits: Limits = field(default_factory=Limits)
    _connections: dict[BoundedProtocol, None] = field(default_factory=dict)

    def add(self, connection: BoundedProtocol) -> None:
        """Add a connection, and drop the oldest ones beyond the limit."""
        self._connections.pop(connection, None)
        self._connections[connection] = None
        while len(self._connections) > self.limits.waiting:
            oldest = next(iter(self._connections))
            self.remove(oldest)
            oldest.transport.abort()

    def remove(self, connection: BoundedProtocol) -> None:
        self._connections.pop(connection, None)


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol of one connection, within these limits."""

    def __init__(self, *args: Any, waiting: Waiting, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _StrictConnection(h11.SERVER, _MAX_HEAD_BYTES)
        self._waiting = waiting
        self._missing: Part | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._await(None)
        super().connection_lost(exc)

    def _watch(self) -> None:
        """See which part of a request is missing now. The time for it does not begin anew with each byte."""
        missing: Part | None = None
        if not self.transport.is_closing():
            missing = {h11.IDLE: "head", h11.SEND_BODY: "body"}.get(self.conn.their_state)  # type: ignore[assignment]
        if missing != self._missing:
            self._await(missing)

    def _await(self, missing: Part | None) -> None:
        self._missing = missing
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if missing is None:
            self._waiting.remove(self)
            return
        limits = self._waiting.limits
        self._timer = self.loop.call_later(limits.head_s if missing == "head" else limits.body_s, self._give_up)
        self._waiting.add(self)

    def _give_up(self) -> None:
        begun, _ = self.conn.trailing_data
        if self._missing == "head" and begun:
            self.transport.write(_TIMED_OUT)
        self.transport.close()


def bounded(limits: Limits) -> type[asyncio.Protocol]:
    """The protocol class of a server with these limits, as uvicorn's configuration takes it."""
    return cast(type[asyncio.Protocol], partial(BoundedProtocol, waiting=Waiting(limits)))


class _StrictConnection(h11.Connection):
    """A connection on which a request cannot have two lengths.

    A proxy in front may believe the other one and take the rest of the body for a request of somebody else.
    """

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("a request has both Content-Length and Transfer-Encoding")
        return event


def malformed(scope: Scope) -> Response | None:
    """The refusal of a request whose Host or Origin is not one, or None.

    The SDK compares only the beginning of a name with a port, and would allow `127.0.0.1:@evil.example`.
    """
    for name, value in scope["headers"]:
        pattern, status = _VALID.get(name, (None, 0))
        if pattern is not None and not pattern.fullmatch(value):
            return PlainTextResponse(f"Invalid {name.decode().title()} header.\n", status)
    return None
