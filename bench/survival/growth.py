"""Does a running server keep its store small and quick, without anyone's help? Single writes and recalls, thousands.

One client writes and recalls in turns, so that upkeep has no rest but what it takes. Files, bytes and waits are
measured on the way. Now and then the same is done on a second server, whose store stays fresh: what else the machine
does bears on both. There is a subject for every twenty notes, in either store: it is the store that grows, and not
what there is to tell of somebody. At the end the store is set against a copy that is compacted as far as LanceDB can.
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

from bench.report import finish, table
from bench.stage import rows
from bench.survival.clients import WORDS_ALONE, served
from store.lance.engine import connect

POINTS = 20
"""How often on the way it is measured."""

EVERY = 25
"""One in so many writes and recalls is made on the fresh store as well."""

BYTES, SLOWER = 3.0, 1.5
_HEIGHT, _PER_SUBJECT = 8, 20
_QUIET_S = 15.0
"""Maintenance comes once more when it has been quiet for some ten seconds."""


@dataclass
class Point:
    """What was measured over one part of the way, and how the store lay at its end. Waits in milliseconds."""

    writes: int
    files: int = 0
    kilobytes: int = 0
    write_ms: list[float] = field(default_factory=list)
    read_ms: list[float] = field(default_factory=list)
    fresh_write_ms: list[float] = field(default_factory=list)
    fresh_read_ms: list[float] = field(default_factory=list)

    @property
    def medians(self) -> tuple[float, float, float, float]:
        """Of the writes, those on the fresh store, the recalls, and those on the fresh store."""
        return (
            median(self.write_ms), median(self.fresh_write_ms), median(self.read_ms), median(self.fresh_read_ms)
        )  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Print the way as a table and a plot, and the ratios at its end. 1 where a claim is missed."""
    options = _options(argv)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        points = anyio.run(_play, store, options)
        settled, compacted = _bytes(store), _compacted(store, Path(folder) / "compacted")
    told = [(each.writes, each.files, each.kilobytes, *(f"{value:.1f}" for value in each.medians)) for each in points]
    print(table(("writes", "files", "KB", "write ms", "fresh", "recall ms", "fresh"), told))
    print(_plot("KB", [each.kilobytes for each in points]))
    for name, at in (("write", 0), ("recall", 2)):
        print(_plot(f"median ms of a {name}", [each.medians[at] for each in points]))
    # Of the last quarter of the way: one point alone says what the machine did just then.
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
        f"bytes are at most {BYTES} x those of the compacted store": result["bytes_over_compacted"] <= BYTES,
        f"a write takes at most {SLOWER} x the fresh one": result["write_ratio"] <= SLOWER,
        f"a recall takes at most {SLOWER} x the fresh one": result["read_ratio"] <= SLOWER,
    }
    print("\n" + "\n".join(f"{'met   ' if met else 'MISSED'}  {claim}" for claim, met in claims.items()))
    finish(result, options.seed)
    return 0 if all(claims.values()) else 1


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench growth", description=__doc__)
    parser.add_argument("--writes", type=int, default=1_000, help="and as many recalls (default 1000)")
    parser.add_argument("--words-alone", action="store_true", help="without the model: quicker, and smaller rows")
    parser.add_argument("--seed", type=int, default=0, help="of what is written about whom (default 0)")
    return parser.parse_args(argv)


async def _play(store: Path, options: argparse.Namespace) -> list[Point]:
    random = Random(options.seed)
    texts = [row["text"] for row in rows("fillers")]
    step = max(options.writes // POINTS, 1)
    points: list[Point] = []
    serving = partial(served, options=WORDS_ALONE if options.words_alone else ())
    async with serving(store) as caller, serving(store.with_name("fresh")) as fresh:
        for each in (caller, fresh):
            await each.call("recall", query="the model is loaded by the time this is answered", subjects=["nobody"])
        for number in range(options.writes):
            if number % step == 0:
                points.append(Point(number))
            point, about = points[-1], _somebody(number, random)
            said, asked = f"{random.choice(texts)} That was number {number}.", random.choice(texts)
            point.write_ms.append(await caller.wait("remember", text=said, subjects=about))
            point.read_ms.append(await caller.wait("recall", query=asked, subjects=about))
            if number % min(EVERY, step) == 0:
                about = _somebody(number // EVERY, random)
                point.fresh_write_ms.append(await fresh.wait("remember", text=said, subjects=about))
                point.fresh_read_ms.append(await fresh.wait("recall", query=asked, subjects=about))
            if number % step == step - 1:
                point.writes = number + 1
                point.files = sum(file.is_file() for file in store.rglob("*"))
                point.kilobytes = _bytes(store) // 1024
        await anyio.sleep(_QUIET_S)
    return points


def _somebody(notes: int, random: Random) -> list[str]:
    return [f"person {random.randrange(notes // _PER_SUBJECT + 1)}"]


def _bytes(folder: Path) -> int:
    sizes = []
    for file in folder.rglob("*"):
        try:
            sizes.append(file.stat().st_size if file.is_file() else 0)
        except FileNotFoundError:  # upkeep has just removed it
            continue
    return sum(sizes)


def _compacted(store: Path, copy: Path) -> int:
    """The bytes of a copy of the store that holds one version of each table, compacted."""
    shutil.copytree(store, copy)
    database = connect(copy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of other readers, and of the copy there are none
        for name in database.table_names():
            database.open_table(name).optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
    return _bytes(copy)


def _plot(title: str, values: Sequence[float]) -> str:
    """A column for each value, from zero to the largest, which is named."""
    most = max(values)
    marks = " ▁▂▃▄▅▆▇█"
    eighths = [round(8 * _HEIGHT * value / most) for value in values]
    lines = [
        "".join(2 * marks[min(max(each - 8 * row, 0), 8)] + " " for each in eighths).rstrip()
        for row in reversed(range(_HEIGHT))
    ]
    return "\n".join([f"\n{title}, up to {most:,.0f}", *lines])
