"""The server over Streamable HTTP, as a process: access, both protocol versions, abuse, and shutdown."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from http_server import ACCEPT, Served, data_of, served, stilltrue, token_of
from seeded_store import texts_in
from test_stdio import TOOLS, until
from wire import ERAS, SOON_S, Era, wire

from server.config.load import load
from server.http.serve import allowed
from store.files import ProcessLock

SPY = """
import os, sys
class Spy:
    def find_spec(self, name, path=None, target=None):
        if name in (*NAMES, "server.protocol.app"):
            os.write(2, f"spied {name}\\n".encode())
sys.meta_path.insert(0, Spy())
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server without tokens, for the tests that leave it intact."""
    with served(tmp_path_factory.mktemp("http")) as server:
        yield server


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """One server that requires tokens, and a token."""
    home = tmp_path_factory.mktemp("guarded")
    token = token_of(home, "acme")
    with served(home) as server:
        yield server, token


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_is_listed_and_called_in_both_eras(server: Served, era: Era) -> None:
    """With raw HTTP and with the SDK's client; what one stores the other recalls."""
    raw = server.caller(era=era)
    assert [tool["name"] for tool in raw.reply("tools/list")["result"]["tools"]] == TOOLS
    note = raw.done("remember", text=f"Tom keeps a {era} parrot.", subjects=["tom"])["id"]
    with server.sdk(era=era) as client:
        assert client.tools() == TOOLS
        assert note in str(client.done("recall", query="what does Tom keep?", subjects=["tom"]))


def test_without_tokens_http_and_stdio_share_a_store(tmp_path: Path) -> None:
    """A client on stdio of the same user finds what was stored over HTTP, and the other way round."""
    with served(tmp_path) as server:
        caller = server.caller()
        note = caller.done("remember", text="Priya prefers tea.")["id"]
        with wire(tmp_path, "--store", data_of(tmp_path) / "local") as client:
            assert note in str(client.done("recall", query="what does Priya drink?"))
            other = client.done("remember", text="Priya drinks no milk.")["id"]
        assert other in str(caller.done("recall", query="what does Priya drink?"))


@pytest.mark.parametrize("bearer", [{}, {"Authorization": "Bearer st_wrong"}, {"Authorization": "Basic c3Q6eA=="}])
def test_no_token_or_a_wrong_one_is_401(guarded: tuple[Served, str], bearer: dict[str, str]) -> None:
    """The response has the standard header and points to no authorization server, because there is none."""
    server, _ = guarded
    answer = httpx2.post(server.url + "/mcp", json={}, headers=ACCEPT | bearer)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith('Bearer error="invalid_token"')
    assert "resource_metadata" not in answer.headers["www-authenticate"]
    assert server.get("/.well-known/oauth-protected-resource").status_code == 401


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("Host", "evil.example", 421),
        ("Host", "127.0.0.1.evil.example:80", 421),
        ("Origin", "https://evil.example", 403),
        ("Origin", "http://localhost.evil.example", 403),
        ("Origin", "null", 403),
    ],
)
def test_an_unknown_host_or_origin_is_refused(
    guarded: tuple[Served, str], server: Served, era: Era, name: str, value: str, status: int
) -> None:
    """With a valid token, and without tokens: a page that rebinds its own name to this machine reaches nothing."""
    for caller in (guarded[0].caller(guarded[1], era), server.caller(era=era)):
        assert caller.post("tools/list", {}, **{name: value}).status_code == status
        assert caller.post("tools/list", {}, Origin="http://localhost:6274").status_code == 200


def test_hosts_and_origins_can_be_allowed() -> None:
    """A configured name is allowed with and without a port, besides the names of this machine; nothing else is."""
    flags = {
        "http.allowed_hosts": "mem.example.com, other.example:8443",
        "http.allowed_origins": "https://app.example",
    }
    security = allowed(load(flags, {}).http)
    assert {"mem.example.com", "mem.example.com:*", "other.example:8443", "localhost:*"} <= {*security.allowed_hosts}
    assert "https://app.example" in security.allowed_origins
    assert not {"*", "https://app.example:*"} & {*security.allowed_hosts, *security.allowed_origins}


@pytest.mark.parametrize("length", [1 << 20, 10_000_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_body_is_413(server: Served, chunked: bool, length: int) -> None:
    """With and without a declared length, slightly and far too long; the server goes on."""
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * length + b'"}'
    content = (body[at : at + 65536] for at in range(0, len(body), 65536)) if chunked else body
    headers = ACCEPT | {"Content-Type": "application/json"}
    assert httpx2.post(server.url + "/mcp", content=content, headers=headers).status_code == 413
    assert server.get("/healthz").text == "ok\n"


@pytest.mark.parametrize("body", [b"", b"garbage", b"[1, 2]", b"{}", b"\xff\xfe", b"[" * 100_000])
def test_garbage_is_a_client_error(server: Served, body: bytes) -> None:
    """What is not JSON-RPC gets a 4xx status, without a traceback on either side."""
    answer = httpx2.post(server.url + "/mcp", content=body, headers=ACCEPT | {"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text + server.stderr


@pytest.mark.parametrize("era", ERAS)
def test_50_calls_at_once_are_all_stored(server: Served, era: Era) -> None:
    """No call of a burst over eight connections is lost, refused, or stored twice."""
    callers = [server.caller(era=era) for _ in range(8)]

    def burst(lane: int) -> list[str]:
        numbers = range(lane, 50, len(callers))
        return [
            callers[lane].done("remember", text=f"Locker {number} of {era} is Tom's.")["id"] for number in numbers
        ]

    with ThreadPoolExecutor(8) as lanes:
        ids = [each for lane in lanes.map(burst, range(8)) for each in lane]
    assert len(set(ids)) == 50
    assert sum(f" of {era} is" in text for text in texts_in(data_of(server.home) / "local")) == 50


@pytest.mark.parametrize("era", ERAS)
def test_a_session_belongs_to_a_handshake_or_has_a_name(server: Served, era: Era) -> None:
    """Two handshakes count separately, a named session counts across both, other modern calls for the process."""
    one, other = server.caller(era=era), server.caller(era=era)
    note = one.done("remember", text=f"The {era} depot opens at seven.", subjects=[f"depot-{era}"])["id"]
    asked = {"query": f"when does the {era} depot open?", "subjects": [f"depot-{era}"]}

    def counts(caller: object, **named: str) -> tuple[int, int]:
        chain = caller.done("recall", **asked, **named)["chains"][0]  # type: ignore[attr-defined]
        assert chain["lead"][0]["id"] == note
        return chain.get("retrieved_session", 0), chain.get("retrieved_total", 0)

    separate = era == "handshake"
    assert counts(one) == (0, 0)
    first = counts(other)
    assert first[0] == (0 if separate else first[1])
    assert counts(one, session=f"trip-{era}")[0] == 0
    assert counts(other, session=f"trip-{era}")[0] == counts(one, session=f"trip-{era}")[0]


def test_a_client_that_disconnects_does_not_affect_others(server: Served) -> None:
    """Whether it does so in mid-request, before the answer, or with an open stream."""
    caller = server.caller()
    whole = caller.wired("tools/call", {"name": "recall", "arguments": {"query": "tea"}})
    stream = (
        whole.replace(b"POST", b"GET", 1).split(b"\r\n\r\n")[0].replace(b"content-length", b"x-none") + b"\r\n\r\n"
    )
    for sent in (whole[:20], whole[:-10], whole, stream + b"\r\n\r\n"):
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1]))) as wire:
                wire.sendall(sent)
    assert caller.done("remember", text="Nils has a sister.")["stored"]
    assert "Traceback" not in server.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without asking it")
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("era", ERAS)
def test_a_signal_lets_calls_finish_and_closes_streams(tmp_path: Path, era: Era, sign: signal.Signals) -> None:
    """A write that waits for a lock when the signal arrives is stored and answered; then the process ends."""
    with served(tmp_path) as server, ThreadPoolExecutor(2) as threads:
        caller = server.caller(era=era)
        caller.done("remember", text="Nils has a sister.")
        listening = threading.Event()
        stream = threads.submit(_listen, server, era, listening)
        assert listening.wait(SOON_S)
        with ProcessLock(data_of(tmp_path) / "local" / "write.lock", 30.0).held():
            written = threads.submit(caller.done, "remember", text="Nils plays the cello.")
            server.caller(era=era).done("recall", query="what does Nils play?")
            server.process.send_signal(sign)
            until(lambda: _refuses(server))
            assert not written.done()
        assert written.result(SOON_S)["stored"]
        assert stream.result(SOON_S) is None
        assert server.ended() == 0
        assert server.stderr.count("\n") == 1, server.stderr
    assert "Nils plays the cello." in texts_in(data_of(tmp_path) / "local")


def _listen(server: Served, era: Era, listening: threading.Event) -> None:
    """Keep a stream open until the server ends it."""
    caller = server.caller(era=era)
    body, headers = caller.message("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    method, content = ("GET", None) if era == "handshake" else ("POST", body)
    with caller.http.stream(method, "/mcp", json=content, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        listening.set()
        for _ in answer.iter_raw():
            pass


def _refuses(server: Served) -> bool:
    try:
        return server.get("/healthz").status_code == 503
    except httpx2.TransportError:
        return True


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without asking it")
@pytest.mark.slow
def test_a_call_that_cannot_finish_is_abandoned(tmp_path: Path) -> None:
    """If a write waits for a lock that is never released, the process ends anyway and stores nothing."""
    with served(tmp_path, "--set", "http.shutdown_s=0.2") as server, ThreadPoolExecutor(1) as threads:
        caller = server.caller()
        caller.done("remember", text="Nils has a sister.")
        with ProcessLock(data_of(tmp_path) / "local" / "write.lock", 30.0).held():
            lost = threads.submit(caller.post, "tools/call", {"name": "remember", "arguments": {"text": "Lost."}})
            server.caller().done("recall", query="what does Nils play?")
            server.process.send_signal(signal.SIGTERM)
            assert server.ended() in (0, 1)
        assert lost.exception(SOON_S) or "stored" not in lost.result().text
    assert texts_in(data_of(tmp_path) / "local") == ["Nils has a sister."]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], ["http.host is 0.0.0.0", "stilltrue token create"]),
        (["--host", "192.0.2.1"], ["http.host is 192.0.2.1", "stilltrue token create"]),
        (
            ["--set", "http.allowed_hosts=mem.example.com"],
            ["others than this machine call", "token create"],
        ),
        (["--port", "70000"], ["http.port has to be a whole number from 0 to 65535"]),
        (["--set", "http.allowed_hosts=https://x"], ["host names separated by commas"]),
        (["--set", "http.allowed_origins=app.example"], ["origins separated by commas"]),
    ],
)
def test_it_refuses_to_listen_on_an_unsafe_or_invalid_address(
    tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    """Exit code 2 and one line that says what is wrong and what to do."""
    refused = stilltrue(tmp_path, "serve", "--http", *arguments)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert all(word in refused.stderr for word in words), refused.stderr


def test_a_port_in_use_is_reported(server: Served, tmp_path: Path) -> None:
    """The message names the host, the port, and the error of the system."""
    port = server.url.rsplit(":", 1)[1]
    refused = stilltrue(tmp_path, "serve", "--http", "--port", port)
    assert refused.returncode == 2
    assert f"http.port {port} cannot be listened on" in refused.stderr
    assert stilltrue(tmp_path, "serve", "--port", port).returncode == 2  # only for HTTP


def test_stdio_starts_without_anything_of_http(tmp_path: Path) -> None:
    """On stdio neither our HTTP modules nor what they need is imported."""
    names = ("server.http", "server.http.gateway", "server.http.tokens", "server.http.metrics", "filelock")
    (tmp_path / "spy").mkdir()
    (tmp_path / "spy" / "sitecustomize.py").write_text(SPY.replace("NAMES", repr(names)))
    with wire(tmp_path, path=[tmp_path / "spy"]) as client:
        client.ask("tools/list")
        assert "spied server.protocol.app" in client.stderr
        assert not [name for name in names if f"spied {name}\n" in client.stderr]
