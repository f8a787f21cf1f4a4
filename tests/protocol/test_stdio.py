"""The server over stdio, as a process: its output, abuse, and its end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import FakeEmbedder
from mcp.types import INVALID_REQUEST, PARSE_ERROR
from sdk_client import sdk_client
from seeded_store import texts_in
from wire import ERAS, SOON_S, Era, Wire, text_of, until, wire

from store.files import ProcessLock
from store.open import open_store

TOOLS = ["remember", "supersede", "revoke", "reinstate", "recall", "constraints", "feedback"]
HEAVY = ("lancedb", "pyarrow", "onnxruntime", "tokenizers")

SIGNALS = () if sys.platform == "win32" else ("SIGTERM", "SIGINT")  # Windows kills a process without a signal

NOISY = """
import os, sys
print("noise before the front door")
class Noisy:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"server", "mcp", "store", "tools", "lancedb", "pyarrow", "onnxruntime"}:
            print("noise from Python", name, flush=True)
            os.write(1, b"noise from native code\\n")
sys.meta_path.insert(0, Noisy())
"""
LAUNCHER = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'stilltrue', *sys.argv[1:]])"


@pytest.fixture(scope="module", params=ERAS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One server for the tests that leave it intact, in each era."""
    with wire(tmp_path_factory.mktemp("server"), era=request.param) as client:
        yield client


def test_output_of_libraries_does_not_reach_stdout(tmp_path: Path) -> None:
    """Every import prints, from Python and from native code, and every line on stdout is still JSON-RPC."""
    (tmp_path / "noisy").mkdir()
    (tmp_path / "noisy" / "sitecustomize.py").write_text(NOISY)
    with wire(tmp_path, path=[tmp_path / "noisy"]) as client:
        client.done("remember", text="Priya prefers tea.")
        client.close_stdin()
        assert client.ended() == 0
        for noise in ("before the front door", "from Python server.cli", "from Python lancedb", "from native code"):
            assert f"noise {noise}" in client.stderr


@pytest.mark.parametrize("era", ERAS)
def test_the_handshake_waits_for_nothing_heavy(tmp_path: Path, era: Era) -> None:
    """With libraries whose import never ends, the tools are listed, a call waits, and a signal ends the server."""
    for name in HEAVY:
        (tmp_path / "stuck" / name).mkdir(parents=True)
        (tmp_path / "stuck" / name / "__init__.py").write_text("import threading\nthreading.Event().wait()\n")
    with wire(tmp_path, era=era, path=[tmp_path / "stuck"]) as client:
        client.start_call("constraints")
        assert [tool["name"] for tool in client.ask("tools/list")["tools"]] == TOOLS
        client.process.send_signal(signal.SIGTERM)
        assert client.ended() == 128 + signal.SIGTERM


def test_garbage_is_answered_with_an_error(server: Wire) -> None:
    """A line that is not JSON-RPC gets an error without an id, 10 MB of brackets too, and the connection goes on."""
    server.raw(b"")
    for line in (b"garbage", b"\xff\xfe\x00", b"{", b"[1, 2]", b'{"jsonrpc": "2.0"}', b"[" * 10_000_000):
        server.raw(line)
        reply = server.read()
        assert (reply["id"], reply["error"]["code"] in (PARSE_ERROR, INVALID_REQUEST)) == (None, True)
    assert len(server.ask("tools/list")["tools"]) == len(TOOLS)


def test_a_line_of_10_megabytes_is_read(server: Wire) -> None:
    """A text of 10 MB is refused with its length and the limit."""
    said = server.refused("remember", text="x" * 10_000_000)
    assert said.startswith("text has 10000000 bytes; the limit is 32768.")


def test_50_calls_at_once_are_all_stored(server: Wire) -> None:
    """No call of a burst is lost, refused, or stored twice."""
    calls = [server.start_call("remember", text=f"Locker {number} is Tom's.") for number in range(50)]
    results = [server.reply(number) for number in calls]
    assert len({each["result"]["structuredContent"]["id"] for each in results}) == 50
    assert sum(text.startswith("Locker ") for text in texts_in(server.home / "store")) == 50


def test_a_cancelled_write_is_stored_once(server: Wire) -> None:
    """A write that is cancelled while it waits for another writer gets no reply, and is stored with its cues."""
    first = {"text": "Nils plays the cello.", "cues": ["choosing a present"], "request_id": "cello"}
    server.done("remember", text="Nils has a sister.")
    lock = ProcessLock(server.home / "store" / "write.lock", 30.0)
    with lock.held():
        cancelled = server.start_call("remember", **first)
        server.done("recall", query="what does Nils play?")  # by now the write has reached the lock
        server.notify("notifications/cancelled", requestId=cancelled, reason="the user said stop")
        server.ask("tools/list")
    again = server.done("remember", **first)
    assert not again["stored"]
    assert texts_in(server.home / "store").count(first["text"]) == 1
    assert again["id"] in str(server.done("recall", query="choosing a present"))
    assert not server.answered(cancelled)


def test_a_cancelled_write_is_found_by_the_same_call(server: Wire) -> None:
    """Without a request id too: repeating the call answers with the note that the cancelled one stored."""
    first = {"text": "Nils collects stamps.", "subjects": ["nils"], "klass": "fact", "valid_until": "2096-01-01"}
    server.done("remember", text="Nils has a brother.")
    with ProcessLock(server.home / "store" / "write.lock", 30.0).held():
        cancelled = server.start_call("remember", **first)
        server.done("recall", query="what does Nils collect?")  # by now the write has reached the lock
        server.notify("notifications/cancelled", requestId=cancelled)
        server.ask("tools/list")
    again = server.done("remember", **first)
    assert not again["stored"]
    assert again["notices"][0].startswith("already stored:")
    assert texts_in(server.home / "store").count(first["text"]) == 1
    assert not server.answered(cancelled)


@pytest.mark.parametrize("way", ["eof", *SIGNALS])
def test_it_ends_soon_and_keeps_what_it_acknowledged(tmp_path: Path, way: str) -> None:
    """The end of stdin and each signal end it while the model is still loading, without an error message."""
    with wire(tmp_path) as client:
        client.done("constraints")
        client.start_call("remember", text="Unacknowledged, so it may be there or not.")
        if way == "eof":
            client.close_stdin()
        else:
            client.process.send_signal(getattr(signal, way))
        assert client.ended() == (0 if way == "eof" else 128 + getattr(signal, way))
        assert client.stderr.count("\n") == 1, client.stderr


def test_it_ends_soon_before_the_handshake(tmp_path: Path) -> None:
    """A client that is gone before its first message leaves no server behind."""
    with wire(tmp_path, era="modern") as client:
        client.close_stdin()
        assert client.ended() == 0


def test_it_ends_when_its_client_disconnects(tmp_path: Path) -> None:
    """With calls in flight and both pipes closed at once, it ends and keeps what it acknowledged."""
    with wire(tmp_path) as client:
        client.done("remember", text="Priya prefers tea.")
        for number in range(20):
            client.start_call("recall", query=f"what does Priya drink at {number}?")
        client.hang_up()
        client.process.wait(SOON_S)
        assert "Traceback" not in client.stderr
    assert texts_in(tmp_path / "store") == ["Priya prefers tea."]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not report that the parent is gone")
def test_it_ends_when_its_parent_dies(tmp_path: Path) -> None:
    """The client is killed while another process keeps the pipe open; the server ends."""
    with wire(tmp_path, command=(sys.executable, "-c", LAUNCHER)) as client:
        client.process.kill()
        assert client.ended() == -signal.SIGKILL  # of the launcher; stdout ends with the server


def test_acknowledged_notes_survive_a_kill(tmp_path: Path) -> None:
    """After kill -9 they are there, for the SDK's client in the other era too."""
    with wire(tmp_path) as client:
        ids = [client.done("remember", text=f"Locker {number} is Tom's.")["id"] for number in range(5)]
        client.process.kill()
    with sdk_client(tmp_path, "modern") as after:
        assert {after.call("revoke", note_id=each, reason="emptied").is_error for each in ids} == {False}


def test_two_clients_on_one_store_see_each_others_notes(tmp_path: Path) -> None:
    """Each recalls what the other has just remembered, corrected and revoked, without a restart."""
    with wire(tmp_path) as one, sdk_client(tmp_path, "modern") as other:
        tea = one.done("remember", text="Priya drinks black tea.")["id"]
        coffee = other.done("supersede", note_ids=[tea], text="Priya drinks coffee now.")["id"]
        lead = one.done("recall", query="what does Priya drink?")["chains"][0]["lead"][0]
        assert (lead["id"], lead["text"]) == (coffee, "Priya drinks coffee now.")
        one.done("revoke", note_id=coffee, reason="it was a joke")
        assert "it was a joke" in str(other.done("recall", query="what does Priya drink?"))


def test_a_store_that_cannot_be_opened_is_reported_and_the_server_stays(tmp_path: Path) -> None:
    """The path and the remedy are on stderr at start, and in the first answer; once repaired, the next call works."""
    place = tmp_path / "store"
    place.write_text("a file in the way")
    with wire(tmp_path) as client:
        until(lambda: client.stderr.count(str(place)) >= 2)  # its location, then the problem
        said = client.refused("remember", text="Priya prefers tea.")
        assert str(place) in said
        assert "Configure a store location that is a folder" in said
        assert said in client.stderr
        place.unlink()
        assert client.done("remember", text="Priya prefers tea.")["stored"]


def test_a_store_of_another_model_is_reported_and_still_answers(tmp_path: Path) -> None:
    """Vectors of two models are never mixed: stderr and each answer say that only words are searched."""
    store = open_store(str(tmp_path / "store"))
    store.adopt(FakeEmbedder.fingerprint)
    store.close()
    with wire(tmp_path) as client:
        client.done("remember", text="Priya prefers tea.")
        found = client.done("recall", query="tea")
        assert found["degraded"]
        assert "fake-bag-of-words" in found["notices"][0]
        assert found["chains"][0]["lead"][0]["text"] == "Priya prefers tea."
        until(lambda: "fake-bag-of-words" in client.stderr)


def test_structured_content_can_be_turned_off(tmp_path: Path) -> None:
    """With `server.structured = false` an answer is only its text."""
    with wire(tmp_path, "--set", "server.structured=false") as client:
        result = client.call("remember", text="Priya prefers tea.")
        assert "structuredContent" not in result
        assert text_of(result).startswith("Remembered [")
