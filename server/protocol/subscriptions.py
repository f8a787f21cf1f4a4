"""Who wants to know when a resource changes, in both eras, and never across tenants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote, unquote

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ServerEvent
from mcp.shared.subscriptions import ResourceUpdated
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams


class Watchers:
    """The streams that listen (2026-07-28) and the connections that subscribed (handshake), each of one place.

    `place` says whose store the call under way is about: news of one store reach nobody who watches another. It is
    a bus as the SDK takes one.
    """

    def __init__(self, place: Callable[[], str]) -> None:
        self._place = place
        self._buses: dict[str, InMemorySubscriptionBus] = {}
        self._listening = 0
        self._subscribed: dict[tuple[int, str], tuple[str, str, ServerSession]] = {}

    @property
    def any(self) -> bool:
        """Whether anybody watches anything."""
        return bool(self._listening or self._subscribed)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """A stream begins to listen; what is returned ends it."""
        place, done = self._place(), False
        leave = self._buses.setdefault(place, InMemorySubscriptionBus()).subscribe(listener)
        self._listening += 1

        def unsubscribe() -> None:
            nonlocal done
            self._listening -= not done
            done = True
            leave()

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """Tell the streams that listen at this place."""
        if bus := self._buses.get(self._place()):
            await bus.publish(event)

    async def tell(self, uris: Iterable[str]) -> None:
        """These resources, in their plain spelling, have changed at this place."""
        place, changed = self._place(), set(uris)
        for uri in sorted(changed):
            # A stream is matched by the exact text that it asked for, and a subject can be spelt in two ways.
            for spelling in {uri, quote(uri, safe=":/"), quoted(uri)}:
                await self.publish(ResourceUpdated(uri=spelling))
        for where, uri, session in list(self._subscribed.values()):
            if where == place and unquote(uri) in changed:
                await session.send_resource_updated(uri)

    async def begin(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """`resources/subscribe` of the handshake era."""
        connection = ctx.session._connection  # noqa: SLF001  # the SDK has no other name for who asks
        key = id(connection), str(params.uri)
        if key not in self._subscribed:
            connection.exit_stack.callback(self._subscribed.pop, key, None)
        self._subscribed[key] = self._place(), str(params.uri), ctx.session
        return EmptyResult()

    async def end(self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """`resources/unsubscribe` of the handshake era."""
        self._subscribed.pop((id(ctx.session._connection), str(params.uri)), None)  # noqa: SLF001
        return EmptyResult()


def quoted(uri: str) -> str:
    """A resource of ours with all of its last part percent-encoded, as a template's expansion spells it."""
    head, slash, name = uri.removeprefix("memory://").partition("/")
    return f"memory://{head}{slash}{quote(name, safe='')}"
