"""What stands before the protocol over HTTP: health, metrics, tokens, and the end of everything that is open."""

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

_SPEAKS_FOR_OTHERS = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def is_loopback(host: str) -> bool:
    """Whether this address can be reached from this machine alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Bearer:
    """Who a bearer token speaks for, as the SDK asks it: `client_id` is the tenant, `subject` the token's id."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        found = self._tokens.match(token)
        if found is None:
            return None
        return AccessToken(token="-", client_id=found.tenant, subject=found.id, scopes=[])  # noqa: S106


class Front:
    """The application as the HTTP server calls it. `tokens` is None where none are asked for."""

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
        """Take nothing new."""
        self._stopping = True

    @property
    def busy(self) -> bool:
        """Whether somebody waits for an answer; a stream that only waits for news is no work."""
        return any(not _is_stream(scope) for scope in self._open.values())

    def end(self) -> None:
        """End everything that is open, the streams of the protocol included."""
        for each in list(self._open):
            each.cancel()

    def end_withdrawn(self) -> None:
        """End what is open by a token that has been withdrawn since."""
        if self._tokens is None or not self._open:
            return
        for each, scope in list(self._open.items()):
            user = scope.get("user")
            if isinstance(user, AuthenticatedUser) and not self._tokens.good(user.access_token.subject or ""):
                each.cancel()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the protocol answer, so that it can be ended from outside and its answer is a whole one even then."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        with anyio.CancelScope() as ending:
            self._open[ending] = scope
            try:
                await self._protocol(scope, receive, watched)
            finally:
                del self._open[ending]
        if ending.cancelled_caught:
            if begun:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await PlainTextResponse("The server is stopping.\n", 503)(scope, receive, send)

    async def _metrics(self, request: Request) -> Response:
        if refusal := await self._security.validate_request(request):
            return refusal
        if not (self._is_near(request) or self._is_known(request)):
            return PlainTextResponse("Ask from this machine or with a token.\n", 401, {"WWW-Authenticate": "Bearer"})
        return Response(self._meter.text(), media_type=CONTENT_TYPE)

    @staticmethod
    def _is_near(request: Request) -> bool:
        # A proxy on this machine is near, whoever it speaks for is not.
        near = request.client is not None and is_loopback(request.client.host)
        return near and not any(name in request.headers for name in _SPEAKS_FOR_OTHERS)

    def _is_known(self, request: Request) -> bool:
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        return self._tokens is not None and scheme.lower() == "bearer" and self._tokens.match(secret) is not None


def _is_stream(scope: Scope) -> bool:
    return scope["method"] == "GET" or (b"mcp-method", b"subscriptions/listen") in scope["headers"]
