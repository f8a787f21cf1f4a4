"""Several servers on one store, each with a client that writes as fast as it can. Is every write there, once?

Every fifth write is a race: each client supersedes the last head that it knows of one common note. One of them wins;
the others are refused and get the new head.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from bench.report import finish, print_claims, table
from bench.survival.clients import WORDS_ALONE, TimedClient, server_on
from stilltrue.chain import chains
from stilltrue.event import Remembered
from store.folder.backend import open_existing

RACED = 5
_LONGEST_S = 3.0
_HEAD = re.compile(r"What holds in its chain now: \[(\w+)\]")


@dataclass
class Written:
    """What one client wrote: acknowledged texts, waits in seconds, and errors."""

    texts: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    lost_races: int = 0
    errors: list[str] = field(default_factory=list)


def main(argv: Sequence[str]) -> int:
    """Print what was lost, duplicated or refused, and the waits. Returns 1 if a claim is missed."""
    options = _options(argv)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        written = anyio.run(_play, store, options.processes, options.writes)
        events = open_existing(store).events()
    stored = Counter(event.note.text for event in events if isinstance(event, Remembered))
    acknowledged = [text for each in written for text in each.texts]
    raced = [text for text in acknowledged if text.startswith("The lead is client")]
    common = next(chain for chain in chains(events, events[-1].at) if len(chain.members) > 1)
    waits = sorted(wait * 1000 for each in written for wait in each.waits)
    errors = [error for each in written for error in each.errors]
    result = {
        "processes": options.processes,
        "acknowledged": len(acknowledged),
        "lost": len(set(acknowledged) - stored.keys()),
        "duplicates": sum(stored.values()) - len(stored),
        "errors": len(errors),
        "forks": len(common.lead) - 1,
        "races": len(raced),
        "races_lost": sum(each.lost_races for each in written),
        "p50_ms": round(waits[len(waits) // 2], 1),
        "p95_ms": round(waits[int(len(waits) * 0.95)], 1),
        "worst_ms": round(waits[-1], 1),
    }
    print("\n".join(errors[:10]))
    print(table(list(result), [list(result.values())]))
    claims = {
        "no acknowledged write is lost, duplicated or forked, and there are no errors":
            not any(result[name] for name in ("lost", "duplicates", "errors", "forks")),
        f"no wait reached {_LONGEST_S:.0f} s": result["worst_ms"] < 1000 * _LONGEST_S,
    }  # fmt: skip
    print()
    code = print_claims(claims)
    finish(result)
    return code


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench concurrency", description=__doc__)
    parser.add_argument("--processes", type=int, default=4, help="servers on the store (default 4)")
    parser.add_argument("--writes", type=int, default=250, help="writes of each client (default 250)")
    return parser.parse_args(argv)


async def _play(store: Path, processes: int, writes: int) -> list[Written]:
    async with server_on(store, WORDS_ALONE) as first:
        common, _ = await first.call("remember", text="The lead is not chosen yet.", subjects=["depot"])
        # No client begins before all are connected, so that they write at the same time.
        written = [Written() for _ in range(processes)]
        waiting = anyio.Semaphore(0)
        begin = anyio.Event()

        async def play(number: int) -> None:
            async with server_on(store, WORDS_ALONE) as client:
                waiting.release()
                await begin.wait()
                await _write(client, number, writes, common["id"], written[number])

        async with anyio.create_task_group() as group:
            for number in range(processes):
                group.start_soon(play, number)
            for _ in range(processes):
                await waiting.acquire()
            begin.set()
    return written


async def _write(client: TimedClient, number: int, writes: int, head: str, written: Written) -> None:
    for turn in range(writes):
        try:
            if turn % RACED == RACED - 1:
                text = f"The lead is client {number} since turn {turn}."
                head = await _race(client, text, head, written)
            else:
                text = f"Box {turn} of shelf {number}."
                _, waited = await client.call("remember", text=text, subjects=["depot"])
                written.waits.append(waited)
            written.texts.append(text)
        except RuntimeError as error:
            written.errors.append(str(error))


async def _race(client: TimedClient, text: str, head: str, written: Written) -> str:
    """Supersede the head of the common note, however often another client is faster. Returns the new head."""
    while True:
        try:
            done, waited = await client.call("supersede", note_ids=[head], text=text)
        except RuntimeError as refused:
            found = _HEAD.search(str(refused))
            if found is None:
                raise
            head = found.group(1)
            written.lost_races += 1
        else:
            written.waits.append(waited)
            return str(done["id"])
