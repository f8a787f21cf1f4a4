"""A server in the process of the test, in memory, with the SDK's client; for tests that do not depend on pipes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client
from sdk_client import SdkClient
from wire import MODERN, PATIENCE_S, Era

from server.config.load import load
from server.protocol.app import build
from server.runtime import StoreRuntime


@contextmanager
def in_process_client(era: Era, *, elicit: Any = None, **settings: str) -> Iterator[SdkClient]:
    """A client of a new server. `elicit` answers its questions; `settings` are keys with "__" for the dots."""
    flags = {"embedding.engine": "none"} | {name.replace("__", "."): value for name, value in settings.items()}
    app = build(StoreRuntime(load(flags, environ={}), ephemeral=True))
    mode = "legacy" if era == "handshake" else MODERN
    with start_blocking_portal() as portal:
        client = Client(app, mode=mode, elicitation_callback=elicit, read_timeout_seconds=PATIENCE_S)
        with portal.wrap_async_context_manager(client) as connected:
            yield SdkClient(connected, portal)
