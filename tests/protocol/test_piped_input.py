"""Requests piped in with the end of stdin right behind them, as `printf ... | stilltrue serve` sends them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp.types import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR
from seeded_store import texts_in
from wire import FRONT_DOOR, HANDSHAKE, MODERN_META, PATIENCE_S, clean_env, wire

from server.protocol.json_rpc import BATCHING_VERSION
from store.files import ProcessLock

WORDS_ALONE = ("--set", "embedding.engine=none")


def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def remember(number: Any, text: str, **more: Any) -> dict[str, Any]:
    return request(number, "tools/call", name="remember", arguments={"text": text}, **more)


def handshake(version: str = HANDSHAKE) -> list[dict[str, Any]]:
    client = {"name": "printf", "version": "0"}
    hello = request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)
    return [hello, {"jsonrpc": "2.0", "method": "notifications/initialized"}]


def piped(home: Path, messages: list[Any], *arguments: str) -> list[Any]:
    """What a server writes to stdout for these messages, or raw lines, and the end of its stdin."""
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in messages]
    ran = subprocess.run(
        [*FRONT_DOOR, "serve", "--store", home / "store", *arguments], input=b"\n".join([*lines, b""]),
        cwd=home, env=clean_env(home), capture_output=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert b"Traceback" not in ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.parametrize("arguments", [(), WORDS_ALONE, (*WORDS_ALONE, "--set", "server.era=handshake")])
def test_what_is_piped_in_is_answered_and_stored(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """With the default model too, which is loaded by the first call."""
    replies = piped(tmp_path, [*handshake(), remember(1, "Priya prefers tea.")], *arguments)
    assert [each["id"] for each in replies] == [0, 1]
    assert replies[1]["result"]["structuredContent"]["stored"]
    assert texts_in(tmp_path / "store") == ["Priya prefers tea."]


@pytest.mark.slow
def test_many_calls_without_a_handshake_are_all_stored(tmp_path: Path) -> None:
    """In the stateless protocol version, and with a long queue at the end of stdin."""
    replies = piped(
        tmp_path, [remember(number, f"Box {number}.", _meta=MODERN_META) for number in range(60)], *WORDS_ALONE
    )
    assert sorted(each["id"] for each in replies) == list(range(60))
    assert sorted(texts_in(tmp_path / "store")) == sorted(f"Box {number}." for number in range(60))


def test_unreadable_lines_between_the_others_are_answered(tmp_path: Path) -> None:
    """A byte-order mark before the first message is skipped, and no line costs another its answer."""
    hello, ready = handshake()
    replies = piped(
        tmp_path,
        [
            b"\xef\xbb\xbf" + json.dumps(hello).encode(),
            ready,
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"' + "\u529f".encode("big5") + b'"}}',
            b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
            [request(2, "ping"), request(3, "ping")],
            remember(4, "Priya prefers tea."),
        ],
        *WORDS_ALONE,
    )
    by_id = {each["id"]: each.get("error", {}).get("code") for each in replies}
    assert by_id == {0: None, 1: PARSE_ERROR, 1.5: INVALID_REQUEST, 2: INVALID_REQUEST, 3: INVALID_REQUEST, 4: None}


def test_a_batch_is_answered_with_an_array_where_the_protocol_has_batches(tmp_path: Path) -> None:
    """All replies to a batch come together; a batch of notifications gets none."""
    hello, ready = handshake(BATCHING_VERSION)
    batch = [remember("a", "Priya prefers tea."), ready, {"id": 5}, request("b", "ping"), request("c", "no/such")]
    first, together, last = piped(tmp_path, [hello, [ready], batch, request(9, "ping")], *WORDS_ALONE)
    if isinstance(last, list):
        together, last = last, together
    assert (first["id"], last["id"]) == (0, 9)
    assert {each["id"]: each.get("error", {}).get("code") for each in together} == {
        "a": None, "b": None, "c": -32601, 5: INVALID_REQUEST,
    }  # fmt: skip
    assert texts_in(tmp_path / "store") == ["Priya prefers tea."]


@pytest.mark.slow
def test_a_call_that_cannot_be_finished_is_answered_with_an_error(tmp_path: Path) -> None:
    """After ten seconds behind another writer the server gives up, says so, and ends."""
    with wire(tmp_path, *WORDS_ALONE) as client:
        client.done("remember", text="Acknowledged.")
        with ProcessLock(tmp_path / "store" / "write.lock", 30.0).held():
            waiting = client.start_call("remember", text="Lost.")
            client.close_stdin()
            error = client.reply(waiting)["error"]
            client.ended()
    assert error["code"] == INTERNAL_ERROR
    assert "repeating the same call is safe" in error["message"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="Windows does not tell that a pipe has no reader")
def test_a_call_for_nobody_is_not_waited_for(tmp_path: Path) -> None:
    """If the client closed both pipes, the server ends although another process holds the lock all the while."""
    with wire(tmp_path, *WORDS_ALONE) as client:
        client.done("remember", text="Acknowledged.")
        with ProcessLock(tmp_path / "store" / "write.lock", 30.0).held():
            client.start_call("remember", text="Lost.")
            client.hang_up()
            client.process.wait(PATIENCE_S)
    assert texts_in(tmp_path / "store") == ["Acknowledged."]


def test_it_ends_if_nobody_reads_its_answers(tmp_path: Path) -> None:
    """The client closed only its end of stdout: an answer that cannot be written ends the server."""
    with wire(tmp_path, *WORDS_ALONE) as client:
        assert client.process.stdout
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, client.process.stdout.fileno())
        os.close(nothing)
        client.send("ping")  # this answer still reaches the read that was blocked on the pipe
        client.read()
        client.send("ping")
        assert client.process.wait(PATIENCE_S) == 0
        assert "Traceback" not in client.stderr
