"""`server.era = "handshake"`: for clients that probe for protocol 2026-07-28 and then do not use it."""

from __future__ import annotations

from pathlib import Path

from wire import HANDSHAKE, Wire, wire

HELLO = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "wire", "version": "0"}}


def probed(client: Wire) -> dict[str, object]:
    """The reply to `server/discover`, which a client of both protocol versions sends first."""
    client.era = "modern"
    reply = client.reply(client.send("server/discover"))
    client.era = "handshake"
    return reply


def test_by_default_a_probe_decides_the_protocol(tmp_path: Path) -> None:
    """A client whose probe was answered in the newer protocol cannot go back to the handshake."""
    with wire(tmp_path, "--ephemeral", era="modern") as client:
        assert "result" in probed(client)
        assert client.reply(client.send("initialize", **HELLO))["error"]["code"] == -32022


def test_with_the_handshake_only_a_probe_is_refused_and_the_handshake_works(tmp_path: Path) -> None:
    """The probe gets `method not found`; everything after it is as usual."""
    with wire(tmp_path, "--ephemeral", "--set", "server.era=handshake", era="modern") as client:
        assert probed(client)["error"]["code"] == -32601
        hello = client.ask("initialize", **HELLO)
        assert hello["protocolVersion"] == HANDSHAKE
        assert hello["instructions"]
        client.notify("notifications/initialized")
        assert client.done("remember", text="Priya prefers tea.")["stored"]
        client.close_stdin()
        assert client.ended() == 0


def test_with_the_handshake_only_a_client_without_a_probe_sees_no_difference(tmp_path: Path) -> None:
    """It starts, stores and ends as by default."""
    with wire(tmp_path, "--set", "server.era=handshake", "--set", "embedding.engine=none") as client:
        note = client.done("remember", text="Priya prefers tea.")["id"]
        assert note in str(client.done("recall", query="tea"))
        client.close_stdin()
        assert client.ended() == 0
