"""Clients that keep the HTTP server waiting, and requests that two readers could understand in two ways."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import anyio
import pytest
import uvicorn
from http_server import served, token_of
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from wire import SOON_S

from server.http.limits import Limits, bounded

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
NEVER_S = 600.0
SOON_OVER = Limits(head_s=1.0, body_s=1.0)


reached, released = threading.Event(), threading.Event()


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the body, once all of it has come; under /early without reading it, under /slow when released."""
    early = scope["path"] == "/early"
    body = b"early" if early else await Request(scope, receive).body()
    if scope["path"] == "/slow":
        reached.set()
        await anyio.to_thread.run_sync(released.wait, SOON_S)
    await PlainTextResponse(body)(scope, receive, send)


@contextmanager
def listening(limits: Limits, idle_s: int = int(NEVER_S)) -> Iterator[tuple[str, int]]:
    """The address of a server with these limits, in this process."""
    settings = uvicorn.Config(
        echo, http=bounded(limits), lifespan="off", log_config=None, timeout_keep_alive=idle_s,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(settings)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield listener.getsockname()
        server.should_exit = True
        thread.join(SOON_S)


def connection(address: tuple[str, int], sent: bytes = b"") -> socket.socket:
    wire = socket.create_connection(address, SOON_S)
    wire.sendall(sent)
    return wire


def rest_of(wire: socket.socket) -> bytes:
    """All that still comes until the server closes the connection, which it has to do."""
    received = b""
    try:
        while more := wire.recv(65536):
            received += more
    except ConnectionResetError:
        pass
    return received


def is_open(wire: socket.socket) -> bool:
    wire.setblocking(False)
    try:
        return bool(wire.recv(1))
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        (b"", b""),
        (b"POST / HT", b"HTTP/1.1 408 "),
        (HEAD, b"HTTP/1.1 408 "),
        (HEAD + b"Content-Length: 5\r\n\r\nab", b""),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", b""),
    ],
)
def test_a_request_that_never_ends_is_given_up(sent: bytes, received: bytes) -> None:
    """Nothing, half a head, a whole head without the empty line, and half a body, with and without a length."""
    with listening(SOON_OVER) as address, connection(address, sent) as wire:
        assert rest_of(wire)[: len(received) or None] == received


def test_a_byte_now_and_then_does_not_extend_the_time() -> None:
    """The time counts from the beginning of the head: a client cannot keep a connection by dripping."""
    with listening(SOON_OVER) as address, connection(address, HEAD) as wire:
        wire.settimeout(0.05)
        received, open_still = b"", True
        for _ in range(int(SOON_S / 0.05)):
            try:
                wire.sendall(b"x")
                received += (more := wire.recv(100))
                open_still = more != b""
            except TimeoutError:
                continue
            except OSError:
                open_still = False
            if not open_still:
                break
        assert not open_still
        assert received[:12] in (b"HTTP/1.1 408", b"")  # a byte that crosses the close resets the connection


def test_half_a_request_after_a_whole_one_is_given_up_too() -> None:
    """A connection that was answered once gets no more time for its next head."""
    with listening(SOON_OVER) as address, connection(address, HEAD + b"Content-Length: 2\r\n\r\nok") as wire:
        received = b""
        while not received.endswith(b"ok"):
            received += wire.recv(65536)
        wire.sendall(HEAD)
        assert b" 408 " in rest_of(wire)


def test_a_body_that_nobody_reads_is_given_up() -> None:
    """If the answer came before the body, a token missing for example, the rest has to come in time all the same."""
    with listening(SOON_OVER) as address:
        head = HEAD.replace(b"POST /", b"POST /early") + b"Content-Length: 100\r\n\r\n"
        with connection(address, head) as wire:
            assert b"early" in rest_of(wire)


def test_an_idle_connection_is_closed() -> None:
    """After a second here, while the time for a head is long."""
    whole = HEAD + b"Content-Length: 2\r\n\r\nok"
    with listening(Limits(NEVER_S, NEVER_S), idle_s=1) as address, connection(address, whole) as wire:
        assert rest_of(wire).endswith(b"ok")


def test_the_oldest_waiting_connections_make_room() -> None:
    """Of thirty that are half-sent ten stay open, the newest; a whole request is answered between them."""
    with listening(Limits(NEVER_S, NEVER_S, waiting=10)) as address, ExitStack() as stack:
        halves = [stack.enter_context(connection(address, HEAD)) for _ in range(30)]
        for each in halves[:20]:
            assert rest_of(each) == b""
        with connection(address, HEAD + b"Content-Length: 2\r\nConnection: close\r\n\r\nok") as wire:
            assert rest_of(wire).endswith(b"ok")
        assert [is_open(each) for each in halves[21:]] == [True] * 9


def test_a_request_under_way_is_not_waiting() -> None:
    """A complete request is never dropped for newer connections."""
    with listening(Limits(NEVER_S, NEVER_S, waiting=1)) as address:
        whole = HEAD.replace(b"POST /", b"POST /slow") + b"Content-Length: 2\r\nConnection: close\r\n\r\nok"
        with connection(address, whole) as wire:
            assert reached.wait(SOON_S)
            with connection(address, HEAD) as first, connection(address, HEAD):
                assert rest_of(first) == b""
                released.set()
                assert rest_of(wire).endswith(b"ok")


@pytest.mark.parametrize("lengths", [b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                                     b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n"])  # fmt: skip
def test_a_request_with_two_lengths_is_refused_and_closed(lengths: bytes) -> None:
    """What follows on the connection is not read as another request."""
    smuggled = b"0\r\n\r\nGET /early HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with listening(Limits()) as address, connection(address, HEAD + lengths + b"\r\n" + smuggled) as wire:
        received = rest_of(wire)
        assert received.startswith(b"HTTP/1.1 400 ")
        assert received.count(b"HTTP/1.1 ") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the descriptors of another process")
def test_half_sent_requests_lock_nobody_out(tmp_path: Path) -> None:
    """With 400 of them from a client without a token, and descriptors for 400 at most, a real call is answered."""
    import resource

    token = token_of(tmp_path, "acme")
    with served(tmp_path) as server, ExitStack() as stack:
        caller = server.caller(token)
        caller.done("remember", text="Priya prefers tea.")
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (400, 400))
        address = ("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
        for _ in range(400):
            stack.enter_context(connection(address, HEAD))
        assert server.caller(token).done("recall", query="what does Priya drink?")["chains"]


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("Host", "127.0.0.1:@evil.example", 400),
        ("Host", "localhost:80@evil.example", 400),
        ("Host", "localhost:evil.example", 400),
        ("Host", "localhost/evil", 400),
        ("Origin", "http://127.0.0.1:@evil.example", 403),
        ("Origin", "http://localhost:80.evil.example", 403),
        ("Host", "[::1]:80", 200),
        ("Host", "127.0.0.1", 200),
    ],
)
def test_a_malformed_host_or_origin_is_refused(tmp_path: Path, name: str, value: str, status: int) -> None:
    """One that begins like an allowed name and a port is not allowed for that."""
    with served(tmp_path, "--ephemeral") as server:
        assert server.caller(era="modern").post("tools/list", {}, **{name: value}).status_code == status
