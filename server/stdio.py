"""Serve over stdin and stdout, and end soon after stdin ends, a signal comes, or the parent process dies."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial

import anyio
from mcp.server import MCPServer
from mcp.server.runner import serve_dual_era_loop, serve_loop

from server.stdio_transport import stdio_transport, take_stdin, take_stdout

_log = logging.getLogger(__name__)

_PARENT_CHECK_S = 0.5
_CLOSE_S = 1.0
_LOG_S = 0.2
_UNWIND_S = 0.6
"""How long calls that could not be finished after the end of stdin may still delay the end."""


def serve(app: MCPServer[None], close: Callable[[], None], parent: int, *, handshake_only: bool = False) -> None:
    """Run until the client is gone, then `close` and leave the process. Never returns.

    `parent` is the parent process as it was before anything was imported; it may have died since.

    With `handshake_only` the server does not know the protocol of 2026-07-28, so a client that probes for it and then
    falls back to the handshake is answered.

    The process leaves by `os._exit`: threads of native libraries could otherwise delay the exit or abort it. What was
    acknowledged is on disk by then, and `close` writes the rest.
    """
    code = 0
    try:
        anyio.run(_run, app, close, parent, handshake_only)
    except* OSError:
        _log.info("the client closed its end of the pipe")
    except* Exception:
        _log.exception("the server ended because of an internal error")
        code = 1
    leave(close, code)


async def _run(app: MCPServer[None], close: Callable[[], None], parent: int, handshake_only: bool) -> None:
    async with anyio.create_task_group() as watchers:
        if sys.platform != "win32":
            watchers.start_soon(_watch_signals, close)
        watchers.start_soon(_watch_parent, close, parent)
        await _converse(app, partial(_leave_later, close), handshake_only)
        watchers.cancel_scope.cancel()


async def _converse(app: MCPServer[None], ended: Callable[[], None], handshake_only: bool) -> None:
    """Do what the SDK's stdio server does, over our transport and in the chosen protocol versions."""
    loop = serve_loop if handshake_only else serve_dual_era_loop
    server = app._lowlevel_server  # noqa: SLF001  # the SDK has no public name for it
    async with (
        stdio_transport(take_stdin(), take_stdout(), ended) as (messages, replies),
        server.lifespan(server) as state,
    ):
        await loop(server, messages, replies, lifespan_state=state)


async def _watch_signals(close: Callable[[], None]) -> None:
    # No signal wakes the thread that blocks on stdin, so raising from a handler would change nothing.
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            leave(close, 128 + number)


async def _watch_parent(close: Callable[[], None], parent: int) -> None:
    """A client that was killed may leave its end of the pipe open in another process."""
    while os.getppid() == parent:
        await anyio.sleep(_PARENT_CHECK_S)
    leave(close, 0)


def _leave_later(close: Callable[[], None]) -> None:
    # A call that runs on a worker thread is waited for, and it can wait half a minute for another writer.
    last = threading.Timer(_UNWIND_S, leave, (close, 0))
    last.daemon = True
    last.start()


def leave(close: Callable[[], None], code: int) -> None:
    """Close, for at most a second, and leave the process. A blocked stderr does not delay it either."""
    if not _within(_CLOSE_S, close):
        warning = "the last retrieval counts were not written: the store was busy for more than a second"
        _within(_LOG_S, partial(_log.warning, warning))
    _within(_LOG_S, logging.shutdown)
    os._exit(code)


def _within(seconds: float, function: Callable[[], object]) -> bool:
    """Whether the function finished in that time; if not, it continues in the background."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()
