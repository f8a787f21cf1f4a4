"""Does a running server keep its store small and fast by itself? Thousands of single writes and recalls.

One client alternates between writing and recalling, so that maintenance never finds the store idle. Files, bytes and
waits are measured along the way. Now and then the same is done on a second server whose store stays small, so that
the machine's other load affects both. Either store has one subject per twenty notes: the store grows, and not the
amount there is to return about one subject. At the end the store is compared with a copy that is fully compacted.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from statistics import median

import anyio

from bench.report import finish, print_claims, table
from bench.stage import rows
from bench.survival.clients import WORDS_ALONE, server_on
from store.lance.engine import connect

POINTS = 20
"""How many measurements are taken along the way."""

EVERY = 25
"""One in this many writes and recalls is also made on the fresh store."""

BYTES, SLOWER = 3.0, 1.5
_HEIGHT, _PER_SUBJECT = 8, 20
_QUIET_S = 15.0
"""Maintenance runs once more after about ten idle seconds."""


@dataclass
class Point:
    """The waits in milliseconds over one part of the run, and the state of the store at its end."""

    writes: int
    files: int = 0
    kilobytes: int = 0
    write_ms: list[float] = field(default_factory=list)
    read_ms: list[float] = field(default_factory=list)
    fresh_write_ms: list[float] = field(default_factory=list)
    fresh_read_ms: list[float] = field(default_factory=list)

    @property
    def medians(self) -> tuple[float, float, float, float]:
        """The medians of writes, fresh writes, recalls and fresh recalls."""
        return (
            median(self.write_ms), median(self.fresh_write_ms), median(self.read_ms), median(self.fresh_read_ms)
        )  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Print the run as a table and plots, and the final ratios. Returns 1 if a claim is missed."""
    options = _options(argv)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        points = anyio.run(_play, store, options)
        settled, compacted = _bytes(store), _compacted(store, Path(folder) / "compacted")
    shown = [
        (each.writes, each.files, each.kilobytes, *(f"{value:.1f}" for value in each.medians)) for each in points
    ]
    print(table(("writes", "files", "KB", "write ms", "fresh", "recall ms", "fresh"), shown))
    print(_plot("KB", [each.kilobytes for each in points]))
    for name, at in (("write", 0), ("recall", 2)):
        print(_plot(f"median ms of a {name}", [each.medians[at] for each in points]))
    # The last quarter of the run: a single point only shows what the machine was doing just then.
    ends = [sum((each.medians for each in points[-POINTS // 4 :]), ())[at::4] for at in range(4)]
    write, fresh_write, read, fresh_read = map(median, ends)
    result = {
        "writes": options.writes,
        "bytes_over_compacted": round(max(points[-1].kilobytes * 1024, settled) / compacted, 2),
        "settled_over_compacted": round(settled / compacted, 2),
        "write_ratio": round(write / fresh_write, 2),
        "read_ratio": round(read / fresh_read, 2),
        "files": points[-1].files,
        "most_files": max(each.files for each in points),
    }
    claims = {
        f"the store has at most {BYTES} x the bytes of the compacted one": result["bytes_over_compacted"] <= BYTES,
        f"a write takes at most {SLOWER} x as long as on the fresh store": result["write_ratio"] <= SLOWER,
        f"a recall takes at most {SLOWER} x as long as on the fresh store": result["read_ratio"] <= SLOWER,
    }
    print()
    code = print_claims(claims)
    finish(result, options.seed)
    return code


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench growth", description=__doc__)
    parser.add_argument("--writes", type=int, default=1_000, help="writes, and as many recalls (default 1000)")
    parser.add_argument("--words-alone", action="store_true", help="without the model: faster, and smaller rows")
    parser.add_argument("--seed", type=int, default=0, help="seed for what is written about whom (default 0)")
    return parser.parse_args(argv)


async def _play(store: Path, options: argparse.Namespace) -> list[Point]:
    random = Random(options.seed)
    texts = [row["text"] for row in rows("fillers")]
    step = max(options.writes // POINTS, 1)
    points: list[Point] = []
    serving = partial(server_on, options=WORDS_ALONE if options.words_alone else ())
    async with serving(store) as client, serving(store.with_name("fresh")) as fresh:
        for each in (client, fresh):
            await each.call("recall", query="the model is loaded by the time this is answered", subjects=["nobody"])
        for number in range(options.writes):
            if number % step == 0:
                points.append(Point(number))
            point, about = points[-1], _random_subject(number, random)
            text, query = f"{random.choice(texts)} That was number {number}.", random.choice(texts)
            point.write_ms.append(await client.wait("remember", text=text, subjects=about))
            point.read_ms.append(await client.wait("recall", query=query, subjects=about))
            if number % min(EVERY, step) == 0:
                about = _random_subject(number // EVERY, random)
                point.fresh_write_ms.append(await fresh.wait("remember", text=text, subjects=about))
                point.fresh_read_ms.append(await fresh.wait("recall", query=query, subjects=about))
            if number % step == step - 1:
                point.writes = number + 1
                point.files = sum(file.is_file() for file in store.rglob("*"))
                point.kilobytes = _bytes(store) // 1024
        await anyio.sleep(_QUIET_S)
    return points


def _random_subject(notes: int, random: Random) -> list[str]:
    return [f"person {random.randrange(notes // _PER_SUBJECT + 1)}"]


def _bytes(folder: Path) -> int:
    sizes = []
    for file in folder.rglob("*"):
        try:
            sizes.append(file.stat().st_size if file.is_file() else 0)
        except FileNotFoundError:  # maintenance has just removed it
            continue
    return sum(sizes)


def _compacted(store: Path, copy: Path) -> int:
    """The bytes of a compacted copy of the store that holds one version of each table."""
    shutil.copytree(store, copy)
    database = connect(copy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about other readers, and the copy has none
        for name in database.table_names():
            database.open_table(name).optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
    return _bytes(copy)


def _plot(title: str, values: Sequence[float]) -> str:
    """A bar for each value, from zero to the maximum, which the title states."""
    most = max(values)
    marks = " ▁▂▃▄▅▆▇█"
    eighths = [round(8 * _HEIGHT * value / most) for value in values]
    lines = [
        "".join(2 * marks[min(max(each - 8 * row, 0), 8)] + " " for each in eighths).rstrip()
        for row in reversed(range(_HEIGHT))
    ]
    return "\n".join([f"\n{title}, up to {most:,.0f}", *lines])
