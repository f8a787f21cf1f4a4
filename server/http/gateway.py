"""The ASGI application in front of the protocol: health, metrics, tokens, and the shutdown of open requests."""

from __future__ import annotations

from ipaddress import ip_address

import anyio
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http.limits import malformed
from server.http.metrics import CONTENT_TYPE, Meter
from server.http.tokens import Tokens

_FORWARDING_HEADERS = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def is_loopback(host: str) -> bool:
    """Whether this address can be reached only from this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Bearer:
    """Verifies bearer tokens for the SDK. `client_id` is the tenant, `subject` the id of the token."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        found = self._tokens.match(token)
        if found is None:
            return None
        return AccessToken(token="-", client_id=found.tenant, subject=found.id, scopes=[])  # noqa: S106


class Gateway:
    """The application that the HTTP server calls. `tokens` is None if none are required."""

    def __init__(
        self, protocol: ASGIApp, meter: Meter, tokens: Tokens | None, security: TransportSecuritySettings
    ) -> None:
        self._lifespan = protocol
        self._protocol = protocol
        self._meter = meter
        self._tokens = tokens
        self._security = TransportSecurityMiddleware(security)
        self._open: dict[anyio.CancelScope, Scope] = {}
        self._stopping = False
        if tokens is not None:
            known = AuthContextMiddleware(RequireAuthMiddleware(protocol, []))
            self._protocol = AuthenticationMiddleware(known, backend=BearerAuthBackend(Bearer(tokens)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._lifespan(scope, receive, send)
        elif refusal := malformed(scope):
            await refusal(scope, receive, send)
        elif scope["path"] == "/healthz":
            status = 503 if self._stopping else 200
            await PlainTextResponse("stopping\n" if self._stopping else "ok\n", status)(scope, receive, send)
        elif scope["path"] == "/metrics":
            await (await self._metrics(Request(scope)))(scope, receive, send)
        elif self._stopping:
            closing = {"Connection": "close", "Retry-After": "5"}
            await PlainTextResponse("The server is stopping.\n", 503, closing)(scope, receive, send)
        else:
            await self._serve(scope, receive, send)

    def stop(self) -> None:
        """Accept no new requests."""
        self._stopping = True

    @property
    def busy(self) -> bool:
        """Whether a request is being answered. Streams that wait for notifications do not count."""
        return any(not _is_stream(scope) for scope in self._open.values())

    def end(self) -> None:
        """End all open requests, including the streams of the protocol."""
        for each in list(self._open):
            each.cancel()

    def end_revoked(self) -> None:
        """End the open requests of tokens that have been revoked."""
        if self._tokens is None or not self._open:
            return
        for each, scope in list(self._open.items()):
            user = scope.get("user")
            if isinstance(user, AuthenticatedUser) and not self._tokens.is_valid(user.access_token.subject or ""):
                each.cancel()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the protocol in a scope that can be cancelled from outside; the response is complete even then."""
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        with anyio.CancelScope() as ending:
            self._open[ending] = scope
            try:
                await self._protocol(scope, receive, sending)
            finally:
                del self._open[ending]
        if ending.cancelled_caught:
            if started:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await PlainTextResponse("The server is stopping.\n", 503)(scope, receive, send)

    async def _metrics(self, request: Request) -> Response:
        if refusal := await self._security.validate_request(request):
            return refusal
        if not (self._is_local(request) or self._has_token(request)):
            return PlainTextResponse(
                "Metrics require a token, or a request from this machine.\n", 401, {"WWW-Authenticate": "Bearer"}
            )
        return Response(self._meter.text(), media_type=CONTENT_TYPE)

    @staticmethod
    def _is_local(request: Request) -> bool:
        # A proxy on this machine is local, but the client that it forwards is not.
        local = request.client is not None and is_loopback(request.client.host)
        return local and not any(name in request.headers for name in _FORWARDING_HEADERS)

    def _has_token(self, request: Request) -> bool:
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        return self._tokens is not None and scheme.lower() == "bearer" and self._tokens.match(secret) is not None


def _is_stream(scope: Scope) -> bool:
    return scope["method"] == "GET" or (b"mcp-method", b"subscriptions/listen") in scope["headers"]
