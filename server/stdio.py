"""Serve over stdin and stdout, and end soon: with stdin, on a signal, or with the parent process."""

from __future__ import annotations

import io
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

import anyio
from mcp.server import MCPServer

_log = logging.getLogger(__name__)

_PARENT_CHECK_S = 0.5
_CLOSE_S = 1.0
_TELL_S = 0.2
_UNWIND_S = 0.6
"""How long after the end of stdin a call that still waits, for another writer say, may hold up the end."""
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)"
)
_LOST = rb"\ufffd"


def serve(app: MCPServer[None], close: Callable[[], None], parent: int, *, handshake_only: bool = False) -> None:
    """Run until the client is gone, then `close` and leave the process. Never returns.

    `parent` is the process that started this one, as it was before anything was imported: it can be gone by now.

    With `handshake_only` the protocol of 2026-07-28 is not known here, so that a client which probes for it and then
    goes on with the handshake is answered.

    It leaves by `os._exit`: threads of native libraries that are still at work would otherwise hold up the end
    or abort it. What was acknowledged is on disk by then, and `close` writes the rest.
    """
    wire = Whole(_take_stdin(), partial(_leave_later, close))
    sys.stdin = io.TextIOWrapper(wire, encoding="utf-8", errors="replace")
    code = 0
    try:
        anyio.run(_run, app, close, parent, handshake_only)
    except* OSError:
        _log.info("the client closed its end of the pipe")  # an answer was under way; nobody is left to be told
    except* Exception:
        _log.exception("the server ended through a fault of its own")
        code = 1
    leave(close, code)


class Whole(io.BufferedIOBase):
    """Lines of JSON in which an escaped half of a character, which is no Unicode, stands as U+FFFD.

    The SDK takes such a line for garbage and answers nothing, so a client would wait for ever over half an emoji.
    `ended` is called at the end of the wire.
    """

    def __init__(self, wire: BinaryIO, ended: Callable[[], None]) -> None:
        self._wire = wire
        self._ended = ended

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """The next line, whole, whatever size is asked for; empty at the end."""
        line = self._wire.readline()
        if not line:
            self._ended()
        return _ESCAPES.sub(_whole, line) if b"\\u" in line else line


def _whole(escape: re.Match[bytes]) -> bytes:
    return _LOST if len(escape[0]) == len(_LOST) else escape[0]


def _take_stdin() -> BinaryIO:
    """The wire, out of the reach of child processes: they find an empty stdin."""
    wire = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return os.fdopen(wire, "rb", closefd=False)


async def _run(app: MCPServer[None], close: Callable[[], None], parent: int, handshake_only: bool) -> None:
    async with anyio.create_task_group() as watchers:
        if sys.platform != "win32":
            watchers.start_soon(_watch_signals, close)
        watchers.start_soon(_watch_parent, close, parent)
        await (_shake_hands(app) if handshake_only else app.run_stdio_async())
        watchers.cancel_scope.cancel()


async def _shake_hands(app: MCPServer[None]) -> None:
    """What the SDK's own server over stdio does, but for the choice of the era."""
    from mcp.server.runner import serve_loop
    from mcp.server.stdio import stdio_server

    server = app._lowlevel_server  # noqa: SLF001  # the SDK has no public name for it
    async with server.lifespan(server) as state, stdio_server() as (reading, writing):
        await serve_loop(server, reading, writing, lifespan_state=state)


async def _watch_signals(close: Callable[[], None]) -> None:
    # The reader of stdin blocks a thread that no signal wakes, so a handler that raised would change nothing.
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            leave(close, 128 + number)


async def _watch_parent(close: Callable[[], None], parent: int) -> None:
    """A client that was killed may leave its end of the pipe open in some other process."""
    while os.getppid() == parent:
        await anyio.sleep(_PARENT_CHECK_S)
    leave(close, 0)


def _leave_later(close: Callable[[], None]) -> None:
    # A call that has begun on a worker is waited for, and it can wait half a minute for another writer.
    last = threading.Timer(_UNWIND_S, leave, (close, 0))
    last.daemon = True
    last.start()


def leave(close: Callable[[], None], code: int) -> None:
    """Close, but for no longer than a second, and leave. A stderr that nobody reads does not hold it up either."""
    if not _within(_CLOSE_S, close):
        said = "the last retrieval counts were not written: the store was busy for more than a second"
        _within(_TELL_S, partial(_log.warning, said))
    _within(_TELL_S, logging.shutdown)
    os._exit(code)


def _within(seconds: float, function: Callable[[], object]) -> bool:
    """Whether the function ended in that time; where not, it goes on by itself."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()
