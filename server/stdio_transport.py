"""The stdio transport: lines on stdin become messages, every request is answered, and stdout carries nothing else.

It replaces the SDK's transport, which drops a line that it cannot parse, and cancels calls at the end of stdin.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from server.protocol.json_rpc import BATCHING_VERSION, Line, error_reply, read_line

_FINISH_S = 10.0
"""After the end of stdin: how long to wait for the next answer before the rest is given up."""
_LOOK_S = 0.02
_STREAMS = frozenset({"subscriptions/listen"})
"""Requests that stay open for notifications. The end of stdin ends them."""
_UNFINISHED = (
    "The server ended before this call was finished. It may have taken effect; repeating the same call is safe."
)

Outgoing = SessionMessage | str
"""What is written: a message of the server, or a line of JSON that the transport itself has to say."""


@dataclass(slots=True)
class _Batch:
    """The replies to a batch, as JSON. They are sent together, once none is missing."""

    missing: int
    replies: list[str]

    def line(self) -> str | None:
        return f"[{','.join(self.replies)}]" if self.replies and not self.missing else None


@dataclass(slots=True)
class _Request:
    id: str | int
    method: str
    batch: _Batch | None = None

    def line(self, reply: str) -> str | None:
        """The line to write for this reply; None if it has to wait for others of its batch."""
        if self.batch is None:
            return reply
        self.batch.missing -= 1
        self.batch.replies.append(reply)
        return self.batch.line()


@asynccontextmanager
async def stdio_transport(
    source: BinaryIO, sink: BinaryIO, ended: Callable[[], None]
) -> AsyncIterator[tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[Outgoing]]]:
    """The streams of one connection, as the SDK's server takes them.

    At the end of `source` the requests that were read are finished, then `ended` is called and the stream of messages
    ends. Finishing stops when no answer came for ten seconds, or when nobody reads `sink` any more. Raises OSError
    if `sink` is closed at its other end.
    """
    inbox, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    replies, outbox = anyio.create_memory_object_stream[Outgoing](0)
    connection = _Connection(source, sink, inbox, replies.clone(), ended)
    async with anyio.create_task_group() as group:
        group.start_soon(connection.listen)
        group.start_soon(connection.speak, outbox)
        yield messages, replies


@dataclass
class _Connection:
    """One client, and its requests that are not answered yet."""

    source: BinaryIO
    sink: BinaryIO
    inbox: MemoryObjectSendStream[SessionMessage | Exception]
    replies: MemoryObjectSendStream[Outgoing]
    ended: Callable[[], None]
    _open: dict[str, list[_Request]] = field(default_factory=dict)
    """By id as text, since the SDK takes 7 and "7" for one. Several if a client uses an id twice at a time."""
    _written: int = 0
    _writing: bool = False
    _batches: bool = False

    async def listen(self) -> None:
        """Pass messages on until stdin ends, then finish what was read."""
        async with self.inbox, self.replies:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server side has ended
                while (line := await self._next_line()) is not None:
                    await self._pass_on(line)
                await self._finish()
            self.ended()

    async def speak(self, outbox: MemoryObjectReceiveStream[Outgoing]) -> None:
        """Write what the server sends, one message per line."""
        async with outbox:
            async for each in outbox:
                line = each if isinstance(each, str) else self._line_of(each.message)
                if line is not None:
                    self._writing = True
                    await anyio.to_thread.run_sync(self._write, line)
                    self._writing = False
                    self._written += 1

    async def _next_line(self) -> Line | None:
        # Abandoned when the client has closed stdout alone: the thread may then block for as long as stdin is open.
        return await anyio.to_thread.run_sync(self._read, abandon_on_cancel=True)

    def _read(self) -> Line | None:
        raw = self.source.readline()
        return read_line(raw, batches=self._batches) if raw else None

    def _write(self, line: str) -> None:
        self.sink.write(f"{line}\n".encode())
        self.sink.flush()

    async def _pass_on(self, line: Line) -> None:
        requests = [each for each in line.messages if isinstance(each, JSONRPCRequest)]
        errors = [json.dumps(each) for each in line.errors]
        batch = _Batch(len(requests), errors) if line.batch else None
        for request in requests:
            self._open.setdefault(str(request.id), []).append(_Request(request.id, request.method, batch))
        for message in line.messages:
            await self._note(message)
            await self.inbox.send(SessionMessage(message))
        if batch is None:
            for error in errors:
                await self.replies.send(error)
        elif not requests:
            await self._send(batch.line())

    async def _note(self, message: JSONRPCMessage) -> None:
        """Keep track of what a message changes for the transport itself."""
        params = getattr(message, "params", None) or {}
        if isinstance(message, JSONRPCRequest) and message.method == "initialize":
            self._batches = params.get("protocolVersion") == BATCHING_VERSION  # the server agrees to what it knows
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            request = self._taken(str(params.get("requestId")))  # the protocol wants no answer to it
            if request and request.batch:
                request.batch.missing -= 1
                await self._send(request.batch.line())

    async def _send(self, line: str | None) -> None:
        if line is not None:
            await self.replies.send(line)

    def _taken(self, key: str) -> _Request | None:
        """Take the oldest open request of this id off the list."""
        requests = self._open.get(key)
        if not requests:
            return None
        request = requests.pop(0)
        if not requests:
            del self._open[key]
        return request

    def _line_of(self, message: JSONRPCMessage) -> str | None:
        """The line to write for a message of the server; None for an answer that nobody waits for, or not yet."""
        line = message.model_dump_json(by_alias=True, exclude_unset=True)
        if not isinstance(message, JSONRPCResponse | JSONRPCError) or message.id is None:
            return line
        request = self._taken(str(message.id))
        return request.line(line) if request else None

    async def _finish(self) -> None:
        """Wait for the answers to what was read, and answer the rest with an error."""
        written, deadline = self._written, anyio.current_time() + _FINISH_S
        while (self._writing or self._unfinished()) and not _is_closed(self.sink):
            await anyio.sleep(_LOOK_S)
            if written != self._written:
                written, deadline = self._written, anyio.current_time() + _FINISH_S
            if anyio.current_time() >= deadline:
                break
        for request in [] if self._writing or _is_closed(self.sink) else self._unfinished():
            self._taken(str(request.id))
            await self._send(request.line(json.dumps(error_reply(request.id, INTERNAL_ERROR, _UNFINISHED))))

    def _unfinished(self) -> list[_Request]:
        return [each for requests in self._open.values() for each in requests if each.method not in _STREAMS]


def _is_closed(sink: BinaryIO) -> bool:
    """Whether the reader of a pipe is gone. Windows does not tell."""
    if not hasattr(select, "poll"):
        return False
    poller = select.poll()
    poller.register(sink, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poller.poll(0))


def take_stdin() -> BinaryIO:
    """Stdin, out of reach of child processes, which find it empty."""
    return _claimed(0, "rb", partial(os.open, os.devnull, os.O_RDONLY))


def take_stdout() -> BinaryIO:
    """Stdout, out of reach of everything else: what libraries and child processes print goes to stderr."""
    sys.stdout.flush()
    return _claimed(1, "wb", partial(os.dup, 2))


def _claimed(number: int, mode: str, substitute: Callable[[], int]) -> BinaryIO:
    wire = os.dup(number)
    instead = substitute()
    os.dup2(instead, number)
    os.close(instead)
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        with suppress(OSError):
            rebind_std_handle_to_fd(number)
    # Never closed: a thread may still block on it when the process leaves.
    return os.fdopen(wire, mode, closefd=False)  # type: ignore[return-value]
