"""How long does each tool take inside the server, and how many LanceDB queries does it make, at several store sizes?

The tools are called in process on a store in a folder, one call after another. Maintenance runs between the calls and
is not timed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import numpy as np

from bench.cache import CachedEmbedder
from bench.latency.fill import PER_SUBJECT, subject
from bench.latency.profile import profiled
from bench.report import finish, table
from bench.stage import NOW, PastNote, ReadyModel, Stage, model, rows
from stilltrue.event import Remembered
from stilltrue.ids import ENTROPY_BITS, stamp
from stilltrue.note import USER, Note
from stilltrue.retrieval.ranking import Policy
from store.files import Syncer
from store.folder.opening import open_log
from store.lance.engine import load
from store.lance.rows import arrow_of, rows_of
from store.layout import LOG
from store.open import open_store
from store.port import Entry
from tools.constraints import constraints
from tools.feedback import feedback
from tools.recall import recall
from tools.reinstate import reinstate
from tools.remember import remember
from tools.revoke import revoke
from tools.supersede import supersede
from tools.support.context import ToolContext
from tools.support.results import Remembered as Stored
from tools.support.results import Superseded

ROOT = Path(__file__).resolve().parents[2]
SIZES = (1_000, 10_000)
QUERIES, COMMITS = ("search", "count_rows", "to_arrow"), ("add",)
AFTER = ", after a write"
AMID = ", amid writes"
NO_SUBJECT = ", no subject"
RAW = "raw append and fsync"
_WARM = 4
_ANY = PastNote("A note like any other.", subjects=("nobody",))


@dataclass(slots=True)
class Timings:
    """Per call of a tool: wall-clock milliseconds, processor milliseconds of all threads, queries and commits.

    `embedded` are the milliseconds of calls whose texts had vectors already; `whole` and `processor` exclude those.
    """

    whole: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    embedded: list[float] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)


class CallRecorder:
    """Times calls and counts their LanceDB queries. Calls before `begin` are warm-up and not recorded."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self.tools: dict[str, Timings] = {}

    def begin(self) -> None:
        """Discard everything recorded so far."""
        self.tools = {}

    def __call__(self, name: str, embedded: bool, tool: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Call the tool, record it under this name, and return its answer. `embedded`: its texts have vectors."""
        before, worked = self._counts.copy(), process_time()
        began = perf_counter()
        result = tool(*arguments, **named)
        took_ms = (perf_counter() - began) * 1e3
        timings = self.tools.setdefault(name, Timings())
        if embedded:
            timings.embedded.append(took_ms)
        else:
            timings.whole.append(took_ms)
            timings.processor.append((process_time() - worked) * 1e3)
        timings.queries.append(sum(self._counts[each] - before[each] for each in QUERIES))
        timings.commits.append(sum(self._counts[each] - before[each] for each in COMMITS))
        return result


def main(argv: Sequence[str]) -> int:
    """Print the times of each tool at each size. The JSON has the largest size, and all of them under `sizes`."""
    parser = argparse.ArgumentParser(prog="python -m bench latency", description=__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=SIZES, help="store sizes (default 1000 10000)")
    parser.add_argument("--runs", type=int, default=25, help="calls of each tool (default 25)")
    parser.add_argument("--single", type=int, default=0, help="how many notes of each size are written one by one")
    parser.add_argument("--profile", action="store_true", help="also print where recall spends its time")
    parser.add_argument("--seed", type=int, default=0, help="seed for the content of the store (default 0)")
    options = parser.parse_args(argv)
    sizes = []
    for notes in sorted(options.notes):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "store"
            # In its own process, so that the reported memory excludes the filling.
            numbers = (notes, options.seed, min(options.single, notes))
            command = [sys.executable, "-m", "bench.latency.fill", str(folder), *map(str, numbers)]
            subprocess.run(command, cwd=ROOT, check=True)
            with counting() as counts:
                stage = Stage(folder, options.seed)
                record = CallRecorder(counts)
                _measure(record, stage, folder, notes, options.runs, amid=bool(options.single))
                sizes.append(_reported(record.tools, notes, options.runs))
            if options.profile:
                profiled(stage.context, queries(), _subjects(notes))
            stage.store.close()
    finish({**sizes[-1], "sizes": sizes}, options.seed)
    return 0


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Counts LanceDB's queries and commits by wrapping the table methods through which all of them go."""
    kind: Any = load().table.LanceTable
    counts: Counter[str] = Counter()

    def counted(name: str) -> Callable[..., Any]:
        plain = getattr(kind, name)

        def call(*arguments: Any, **named: Any) -> Any:
            counts[name] += 1
            return plain(*arguments, **named)

        return call

    with ExitStack() as stack:
        for name in (*QUERIES, *COMMITS):
            stack.enter_context(patch.object(kind, name, counted(name)))
        yield counts


def _measure(record: CallRecorder, stage: Stage, folder: Path, notes: int, runs: int, *, amid: bool) -> None:
    """Time reads of a store at rest; then the life of a note through every tool, and reads after each write.

    With `amid`, first time reads of the store as single writes without a pause left it, before maintenance runs.
    """
    asked, named = cycle(queries()), cycle(_subjects(notes))
    cached = CachedEmbedder(model())
    cached.encode([*queries(), *(text for run in range(-_WARM, runs) for text in _texts(run, "cached"))])
    contexts = ((False, stage.context), (True, stage.with_policy(Policy(), embedding=ReadyModel(cached))))
    read: dict[str, Timings] = {}
    for when in (AMID, "") if amid else ("",):
        for run in range(-_WARM, runs):
            if run == 0:
                record.begin()
            for embedded, context in contexts:
                query, about = next(asked), next(named)
                record(f"recall{when}", embedded, recall, context, query, subjects=[about])
                record(f"recall{NO_SUBJECT}{when}", embedded, recall, context, query)
            record(f"constraints{when}", False, constraints, stage.context, [next(named)])
        stage.store.maintain()
        read |= record.tools
    bare = open_store(str(folder / "bare"))
    bare.adopt(cached.fingerprint)
    raw = _raw_appender(folder / "bare")
    for run in range(-_WARM, runs):
        if run == 0:
            record.begin()
        for embedded, context in contexts:
            _life_of_a_note(record, context, run, next(named), embedded)
        record(RAW, False, raw)
        record(f"constraints{AFTER}", False, constraints, stage.context, [next(named)])
        stage.fill([_ANY])
        record(f"recall{AFTER}", False, recall, stage.context, next(asked), subjects=[next(named)])
        stage.fill([_ANY])
        record(f"recall{NO_SUBJECT}{AFTER}", False, recall, stage.context, next(asked))
        stage.store.maintain()
        bare.maintain()
    record.tools = read | record.tools


def _life_of_a_note(record: CallRecorder, context: ToolContext, run: int, about: str, embedded: bool) -> None:
    """Time the life of a note: each tool works on what the one before it wrote."""
    first, second, reason = _texts(run, "cached" if embedded else "new")
    stored = record("remember", embedded, remember, context, first, subjects=[about]).data
    assert isinstance(stored, Stored)
    newer = record("supersede", embedded, supersede, context, [stored.id], second).data
    assert isinstance(newer, Superseded)
    record("revoke", embedded, revoke, context, newer.id, reason)
    if not embedded:
        record("reinstate", False, reinstate, context, newer.id)
        record("feedback", False, feedback, context, [newer.id], "helped")


def _raw_appender(folder: Path) -> Callable[[], None]:
    """Append one row to a separate log and sync it, by LanceDB and fsync alone: no write can be faster."""
    _, log = open_log(folder)
    syncer, random = Syncer(folder / f"{LOG}.lance"), Random(1)
    (row,) = model().encode([_ANY.text])

    def append() -> None:
        made = stamp(NOW, random.getrandbits(ENTROPY_BITS), None)
        note = Note(made.id, _ANY.text, _ANY.subjects, _ANY.klass, USER, made.at)
        entry = Entry(Remembered(note), made.id, (), note.subjects, (note.klass,), None, row.vector, row.sketch)
        syncer.sync(int(log.add(arrow_of(rows_of([entry], ()), len(row.vector))).version))

    return append


def _reported(tools: dict[str, Timings], notes: int, runs: int) -> dict[str, Any]:
    """Print the table of one size, and return its part of the JSON."""
    print(
        f"{notes} notes of {len(_subjects(notes))} subjects, {runs} calls of each; milliseconds and counts per call\n"
    )
    head = ("tool", "p50", "p95", "processor", "embedded before: p50", "p95", "queries", "commits")
    figures = {tool: _figures(timings) for tool, timings in sorted(tools.items())}
    print(table(head, [(tool, *(row.get(name, "") for name in _COLUMNS)) for tool, row in figures.items()]))
    rss_mb = _rss_mb()
    print(f"\nresident memory: {rss_mb:.0f} MB\n")
    return {
        "notes": notes,
        "requirements_p95_ms": figures[f"constraints{AFTER}"]["p95_ms"],
        "recall_p50_ms": figures["recall"]["p50_ms"],
        "recall_p95_ms": figures["recall"]["p95_ms"],
        "remember_p50_ms": figures["remember"]["p50_ms"],
        "raw_append_fsync_p50_ms": figures[RAW]["p50_ms"],
        "lancedb_queries_per_recall": figures["recall"]["queries"],
        "lancedb_queries_per_recall_after_a_write": figures[f"recall{AFTER}"]["queries"],
        "rss_mb": round(rss_mb),
        "verbs": figures,
    }


_COLUMNS = ("p50_ms", "p95_ms", "processor_p50_ms", "embedded_p50_ms", "embedded_p95_ms", "queries", "commits")


def _figures(timings: Timings) -> dict[str, float]:
    figures = {"p50_ms": _percentile(timings.whole, 50), "p95_ms": _percentile(timings.whole, 95)}
    figures |= {"processor_p50_ms": _percentile(timings.processor, 50)}
    if timings.embedded:
        figures |= {"embedded_p50_ms": _percentile(timings.embedded, 50)}
        figures |= {"embedded_p95_ms": _percentile(timings.embedded, 95)}
    for name, values in (("queries", timings.queries), ("commits", timings.commits)):
        figures[name] = round(sum(values) / len(values), 1)
    return figures


def _percentile(times: Sequence[float], which: float) -> float:
    return round(float(np.percentile(times, which)), 1)


def queries() -> list[str]:
    """The queries of the bundled sets, for the real model."""
    return [row["query"] for name in ("probe", "cues", "requirements") for row in rows(name)]


def _subjects(notes: int) -> list[str]:
    return [subject(number) for number in range(max(notes // PER_SUBJECT, 1))]


def _texts(run: int, mark: str) -> tuple[str, str, str]:
    """The text of a note of this run, the text that replaces it, and the reason of the revocation."""
    key = f"the spare key of locker {mark} {run + _WARM}"
    return f"Tom keeps {key} in his desk.", f"Tom gave {key} to Priya.", f"It was not {key}, he says."


def _rss_mb() -> float:
    """The resident memory of this process in MB; 0 if the system has no /proc."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else ()
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmRSS:")), 0.0)
