"""The resources, who watches them, and what a call changes in them. News never crosses from one store to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ServerEvent
from mcp.shared.subscriptions import ResourceUpdated
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

if TYPE_CHECKING:
    from tools.support.context import ToolContext
    from tools.support.results import Answer

REQUIREMENTS, CHAIN, SESSION, STATUS = (f"memory://{name}" for name in ("requirements", "chain", "session", "status"))


class Watchers:
    """The listening streams (protocol 2026-07-28) and subscribed connections (handshake protocols), by store.

    `location` returns the location of the calling tenant's store, so that changes in one store are only reported to
    those who watch that store. This is a subscription bus in the SDK's sense.
    """

    def __init__(self, location: Callable[[], str]) -> None:
        self._location = location
        self._buses: dict[str, InMemorySubscriptionBus] = {}
        self._listening = 0
        self._subscribed: dict[tuple[int, str], tuple[str, str, ServerSession]] = {}

    @property
    def any(self) -> bool:
        """Whether anybody watches anything."""
        return bool(self._listening or self._subscribed)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Start sending events to a stream. The returned function stops it."""
        location, done = self._location(), False
        leave = self._buses.setdefault(location, InMemorySubscriptionBus()).subscribe(listener)
        self._listening += 1

        def unsubscribe() -> None:
            nonlocal done
            self._listening -= not done
            done = True
            leave()

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """Send an event to the streams that listen to the calling tenant's store."""
        if bus := self._buses.get(self._location()):
            await bus.publish(event)

    async def notify(self, uris: Iterable[str]) -> None:
        """Report that these resources of the calling tenant's store have changed; URIs are not percent-encoded."""
        location, changed = self._location(), set(uris)
        for uri in sorted(changed):
            # A stream is matched by the exact URI it asked for, and a subject can be encoded in more than one way.
            for spelling in {uri, quote(uri, safe=":/"), quoted(uri)}:
                await self.publish(ResourceUpdated(uri=spelling))
        for where, uri, session in list(self._subscribed.values()):
            if where == location and unquote(uri) in changed:
                await session.send_resource_updated(uri)

    async def begin(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """Handle `resources/subscribe` of the handshake protocols."""
        connection = ctx.session._connection  # noqa: SLF001  # the SDK has no public identity for the caller
        key = id(connection), str(params.uri)
        if key not in self._subscribed:
            connection.exit_stack.callback(self._subscribed.pop, key, None)
        self._subscribed[key] = self._location(), str(params.uri), ctx.session
        return EmptyResult()

    async def end(self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """Handle `resources/unsubscribe` of the handshake protocols."""
        self._subscribed.pop((id(ctx.session._connection), str(params.uri)), None)  # noqa: SLF001
        return EmptyResult()


def quoted(uri: str) -> str:
    """A URI of ours with its last part fully percent-encoded, as the expansion of a template spells it."""
    head, slash, name = uri.removeprefix("memory://").partition("/")
    return f"memory://{head}{slash}{quote(name, safe='')}"


def changed_by(tool: str, answer: Answer, context: ToolContext) -> set[str]:
    """The resources, not percent-encoded, whose content is different after this call."""
    from tools.admin.views import around

    data: Any = answer.data
    if tool == "recall":
        return {SESSION} if data.chains else set()
    if tool not in {"remember", "supersede", "revoke", "reinstate"} or not getattr(data, "stored", True):
        return {STATUS} if tool == "feedback" else set()
    subjects, ids = around(context, [data.id])
    return {STATUS, *(f"{REQUIREMENTS}/{name}" for name in subjects), *(f"{CHAIN}/{note_id}" for note_id in ids)}
