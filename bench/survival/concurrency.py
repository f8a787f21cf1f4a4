"""Several servers on one store, each with a client that writes as fast as it is answered. Is all of it there, once?

Every fifth write is one that all of them race for: each supersedes what it last knew to hold of one common note. One
of them wins each round; the others are refused and told the new head, or else one state would hide another.
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

from bench.report import finish, table
from bench.survival.clients import WORDS_ALONE, Caller, served
from stilltrue.chain import chains
from stilltrue.event import Remembered
from store.folder.backend import open_existing

RACED = 5
_LONGEST_S = 3.0
_HEAD = re.compile(r"What holds in its chain now: \[(\w+)\]")


@dataclass
class Written:
    """What one client wrote: the texts that were acknowledged, the waits in seconds, and what went wrong."""

    texts: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    lost_races: int = 0
    errors: list[str] = field(default_factory=list)


def main(argv: Sequence[str]) -> int:
    """Print what was lost, doubled or refused, and the waits. 1 where a claim is missed."""
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
        "nothing that was acknowledged is lost, doubled or forked, and there is no error":
            not any(result[name] for name in ("lost", "duplicates", "errors", "forks")),
        f"nobody waited {_LONGEST_S:.0f} s": result["worst_ms"] < 1000 * _LONGEST_S,
    }  # fmt: skip
    print("\n" + "\n".join(f"{'met   ' if met else 'MISSED'}  {claim}" for claim, met in claims.items()))
    finish(result)
    return 0 if all(claims.values()) else 1


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench concurrency", description=__doc__)
    parser.add_argument("--processes", type=int, default=4, help="servers on the store (default 4)")
    parser.add_argument("--writes", type=int, default=250, help="of each client (default 250)")
    return parser.parse_args(argv)


async def _play(store: Path, processes: int, writes: int) -> list[Written]:
    async with served(store, WORDS_ALONE) as first:
        common, _ = await first.call("remember", text="The lead is not chosen yet.", subjects=["depot"])
        # Each client is entered before any begins, so that they write at the same time.
        written = [Written() for _ in range(processes)]
        waiting = anyio.Semaphore(0)
        begin = anyio.Event()

        async def play(number: int) -> None:
            async with served(store, WORDS_ALONE) as caller:
                waiting.release()
                await begin.wait()
                await _write(caller, number, writes, common["id"], written[number])

        async with anyio.create_task_group() as group:
            for number in range(processes):
                group.start_soon(play, number)
            for _ in range(processes):
                await waiting.acquire()
            begin.set()
    return written


async def _write(caller: Caller, number: int, writes: int, head: str, written: Written) -> None:
    for turn in range(writes):
        try:
            if turn % RACED == RACED - 1:
                text = f"The lead is client {number} since turn {turn}."
                head = await _race(caller, text, head, written)
            else:
                text = f"Box {turn} of shelf {number}."
                _, waited = await caller.call("remember", text=text, subjects=["depot"])
                written.waits.append(waited)
            written.texts.append(text)
        except RuntimeError as error:
            written.errors.append(str(error))


async def _race(caller: Caller, text: str, head: str, written: Written) -> str:
    """Supersede what holds of the common note, however often another was quicker; the new head."""
    while True:
        try:
            done, waited = await caller.call("supersede", note_ids=[head], text=text)
        except RuntimeError as refused:
            told = _HEAD.search(str(refused))
            if told is None:
                raise
            head = told.group(1)
            written.lost_races += 1
        else:
            written.waits.append(waited)
            return str(done["id"])
