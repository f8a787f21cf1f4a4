"""Several server processes on one store, and processes that are killed: no acknowledged write is lost."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sdk_client import sdk_client
from seeded_store import texts_in
from wire import Wire, wire

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PROCESSES, NOTES, AT_ONCE = 4, 250, 8
KILLS = 20
WORDS_ALONE = ("--set", "embedding.engine=none")
"""Durability does not depend on the model, and loading four of them is slow on a small machine."""


def test_four_processes_writing_at_once_lose_nothing(tmp_path: Path) -> None:
    """Four servers, each with one client and several concurrent calls, write 250 notes each at the same time."""
    together = threading.Barrier(PROCESSES)

    def write(process: int) -> list[str]:
        arguments = ["serve", "--store", tmp_path / "store", *WORDS_ALONE]
        notes = [{"text": f"Box {number} of shelf {process}.", "subjects": ["depot"]} for number in range(NOTES)]
        with sdk_client(tmp_path / str(process), arguments=arguments) as client:
            together.wait(120)
            results = client.calls("remember", notes)
        assert not [each.content for each in results if each.is_error]
        return [each.structured_content["id"] for each in results if each.structured_content]

    with ThreadPoolExecutor(PROCESSES) as clients:
        written = [note_id for ids in clients.map(write, range(PROCESSES)) for note_id in ids]
    expected = {f"Box {number} of shelf {process}." for process in range(PROCESSES) for number in range(NOTES)}
    assert len(set(written)) == len(expected) == PROCESSES * NOTES
    assert sorted(texts_in(tmp_path / "store")) == sorted(expected)
    with sdk_client(tmp_path, arguments=["serve", "--store", tmp_path / "store", *WORDS_ALONE]) as fifth:
        for note_id in (written[0], written[-1]):
            assert not fifth.call("feedback", note_ids=[note_id], outcome="helped").is_error
        asked = [{"query": f"box {number} of shelf {process}"} for number in (0, 249) for process in range(PROCESSES)]
        for sent, found in zip(asked, fifth.calls("recall", asked), strict=True):
            assert f"{sent['query'].capitalize()}." in str(found.structured_content)


def test_killing_a_server_in_mid_write_loses_no_acknowledged_write(tmp_path: Path) -> None:
    """In each of 20 bursts of writes the server is killed after some answers. All acknowledged notes survive."""

    def lane(number: int) -> dict[str, str]:
        rng, acknowledged = random.Random(number), {}
        for turn in range(KILLS // 2):
            with wire(tmp_path / str(number), "--store", tmp_path / "store", *WORDS_ALONE) as client:
                assert not client.call("constraints").get("isError"), client.stderr
                acknowledged |= burst(client, f"{number}/{turn}", rng.randint(1, 12))
        return acknowledged

    with ThreadPoolExecutor(2) as lanes:
        one, other = lanes.map(lane, (1, 2))
    stored = texts_in(tmp_path / "store")
    assert len(stored) == len(set(stored))
    assert {*one.values(), *other.values()} <= set(stored)
    with wire(tmp_path, *WORDS_ALONE) as client:
        ids = [*one, *other]
        for some in (ids[start : start + 50] for start in range(0, len(ids), 50)):
            assert client.done("feedback", note_ids=some, outcome="helped")["ids"] == some


def burst(client: Wire, turn: str, answers: int) -> dict[str, str]:
    """Send 16 writes, kill the server after some answers, and return the acknowledged texts by id."""
    sent, acknowledged = {}, {}
    for number in range(16):
        text = f"Parcel {number} of round {turn}."
        cues = [f"looking for parcel {number}"] if number % 3 == 0 else []
        sent[client.start_call("remember", text=text, cues=cues)] = text
    messages = [client.read() for _ in range(answers)]
    client.process.kill()
    client.process.wait()
    messages += client.unread()  # answers already in the pipe count as acknowledged
    for message in messages:
        acknowledged[message["result"]["structuredContent"]["id"]] = sent[message["id"]]
    return acknowledged
