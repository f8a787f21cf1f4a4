"""Clients that cancel, disconnect in mid-call, or call fifty times at once, over Streamable HTTP."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from http_server import Served, data_of, served
from seeded_store import texts_in
from wire import ERAS, ONE_ERA_AND_LATER_BOTH, SOON_S, Era

from store.files import ProcessLock


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("http")) as server:
        yield server


def received(wire: socket.socket) -> bytes:
    """What the server still sends until it ends the response or the connection."""
    wire.settimeout(SOON_S)
    data = b""
    while not data.endswith(b"0\r\n\r\n") and (more := wire.recv(65536)):
        data += more
    return data


@pytest.mark.parametrize(
    ("era", "way"), [("handshake", "cancelled"), ("handshake", "disconnected"), ("modern", "disconnected")]
)
def test_a_write_that_is_cut_off_is_stored_once(server: Served, era: Era, way: str) -> None:
    """The client cancels or disconnects while the write waits for another writer, and then repeats it.

    In the protocol of 2026-07-28 a client cancels by disconnecting.
    """
    folder = data_of(server.home) / "local"
    caller, other = server.caller(era=era), server.caller(era=era)
    first = {"text": f"Nils plays {era} {way} tunes.", "cues": [f"a present, {era} {way}"], "request_id": era + way}
    other.done("remember", text="Nils has a sister.")
    with ProcessLock(folder / "write.lock", 30.0).held():
        wire = caller.begin("tools/call", name="remember", arguments=first)
        other.done("recall", query="what does Nils play?")  # meanwhile the write reaches the lock, or comes later
        if way == "cancelled":
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
            assert caller.http.post("/mcp", json=cancel, headers=caller.session).status_code == 202
        else:
            wire.close()
        other.done("constraints")
    again = other.done("remember", **first)
    assert texts_in(folder).count(first["text"]) == 1
    assert again["id"] in str(other.done("recall", query=f"a present, {era} {way}"))
    if way == "cancelled":
        assert again["id"].encode() not in received(wire)
    assert "Traceback" not in server.stderr


@pytest.mark.parametrize("era", ERAS)
def test_a_disconnect_with_calls_in_flight_does_not_affect_others(tmp_path: Path, era: Era) -> None:
    """After twenty calls on closed sockets, acknowledged notes are there and other clients are answered."""
    with served(tmp_path) as server:
        caller = server.caller(era=era)
        caller.done("remember", text="Priya prefers tea.")
        for number in range(20):
            caller.begin("tools/call", name="recall", arguments={"query": f"what at {number}?"}).close()
        assert server.caller(era=era).done("recall", query="what does Priya drink?")["chains"]
        assert "Traceback" not in server.stderr
    assert texts_in(data_of(tmp_path) / "local") == ["Priya prefers tea."]


@pytest.mark.parametrize("era", ONE_ERA_AND_LATER_BOTH)
def test_50_calls_at_once_of_one_client_are_all_stored(server: Served, era: Era) -> None:
    """All are sent before an answer is read; none is lost, refused, or stored twice."""
    texts = [f"Locker {number} of {era} is Nils's." for number in range(50)]
    caller = server.caller(era=era)
    wires = [caller.begin("tools/call", name="remember", arguments={"text": text}) for text in texts]
    assert all(b'"stored":true' in received(wire) for wire in wires)
    assert sorted(text for text in texts_in(data_of(server.home) / "local") if text in texts) == sorted(texts)
