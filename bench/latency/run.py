"""How long each verb takes inside the server, and how many queries of LanceDB it makes, at a number of notes.

Called in process on a store in a folder, one call after the other; upkeep runs between the calls and is not timed.
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

from bench.cache import Kept
from bench.latency.fill import PER_SUBJECT, subject
from bench.latency.profile import profiled
from bench.report import finish, table
from bench.stage import NOW, AtHand, Said, Stage, model, rows
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
EVERYBODY = ", no subject"
RAW = "raw append and fsync"
_WARM = 4
_ANY = Said("A note like any other.", subjects=("nobody",))


@dataclass(slots=True)
class Timed:
    """The milliseconds of each call of a verb, those of the processor (all threads), and its queries and commits.

    `embedded` are the milliseconds of those calls whose texts had vectors already; they are not among the others.
    """

    whole: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    embedded: list[float] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)


class Watch:
    """Times calls and counts what they ask of LanceDB. What it sees before `begin` is left out, as warming up."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self.verbs: dict[str, Timed] = {}

    def begin(self) -> None:
        """Forget what was seen so far."""
        self.verbs = {}

    def __call__(self, name: str, embedded: bool, verb: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """What the verb answers, timed under this name. `embedded` where its texts have vectors already."""
        before, worked = self._counts.copy(), process_time()
        began = perf_counter()
        result = verb(*arguments, **named)
        took_ms = (perf_counter() - began) * 1e3
        timed = self.verbs.setdefault(name, Timed())
        if embedded:
            timed.embedded.append(took_ms)
        else:
            timed.whole.append(took_ms)
            timed.processor.append((process_time() - worked) * 1e3)
        timed.queries.append(sum(self._counts[each] - before[each] for each in QUERIES))
        timed.commits.append(sum(self._counts[each] - before[each] for each in COMMITS))
        return result


def main(argv: Sequence[str]) -> int:
    """Print the times of each verb at each size. The last line tells the largest, with all of them under `sizes`."""
    parser = argparse.ArgumentParser(prog="python -m bench latency", description=__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=SIZES, help="sizes of the store (default 1000 10000)")
    parser.add_argument("--runs", type=int, default=25, help="calls of each verb (default 25)")
    parser.add_argument("--single", type=int, default=0, help="notes of each size that are written one by one")
    parser.add_argument("--profile", action="store_true", help="and where the time of recall goes")
    parser.add_argument("--seed", type=int, default=0, help="for what the store holds (default 0)")
    options = parser.parse_args(argv)
    sizes = []
    for notes in sorted(options.notes):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "store"
            # In a process of its own, so that what filling takes is not in the memory that is reported.
            numbers = (notes, options.seed, min(options.single, notes))
            command = [sys.executable, "-m", "bench.latency.fill", str(folder), *map(str, numbers)]
            subprocess.run(command, cwd=ROOT, check=True)
            with counting() as counts:
                stage = Stage(folder, options.seed)
                watch = Watch(counts)
                _measure(watch, stage, folder, notes, options.runs, amid=bool(options.single))
                sizes.append(_told(watch.verbs, notes, options.runs))
            if options.profile:
                profiled(stage.context, queries(), _subjects(notes))
            stage.store.close()
    finish({**sizes[-1], "sizes": sizes}, options.seed)
    return 0


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Counts the queries and commits of LanceDB, by wrapping those methods of its tables through which all go."""
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


def _measure(watch: Watch, stage: Stage, folder: Path, notes: int, runs: int, *, amid: bool) -> None:
    """Reads of a store at rest; then the life of a note by every verb, and reads after it.

    With `amid`, reads of the store as single writes without a pause left it come first, before upkeep had its turn.
    """
    asked, named = cycle(queries()), cycle(_subjects(notes))
    kept = Kept(model())
    kept.encode([*queries(), *(text for run in range(-_WARM, runs) for text in _texts(run, "kept"))])
    contexts = ((False, stage.context), (True, stage.with_policy(Policy(), embedding=AtHand(kept))))
    read: dict[str, Timed] = {}
    for when in (AMID, "") if amid else ("",):
        for run in range(-_WARM, runs):
            if run == 0:
                watch.begin()
            for embedded, context in contexts:
                query, about = next(asked), next(named)
                watch(f"recall{when}", embedded, recall, context, query, subjects=[about])
                watch(f"recall{EVERYBODY}{when}", embedded, recall, context, query)
            watch(f"constraints{when}", False, constraints, stage.context, [next(named)])
        stage.store.maintain()
        read |= watch.verbs
    bare = open_store(str(folder / "bare"))
    bare.adopt(kept.fingerprint)
    raw = _raw_append(folder / "bare")
    for run in range(-_WARM, runs):
        if run == 0:
            watch.begin()
        for embedded, context in contexts:
            _live(watch, context, run, next(named), embedded)
        watch(RAW, False, raw)
        watch(f"constraints{AFTER}", False, constraints, stage.context, [next(named)])
        stage.fill([_ANY])
        watch(f"recall{AFTER}", False, recall, stage.context, next(asked), subjects=[next(named)])
        stage.fill([_ANY])
        watch(f"recall{EVERYBODY}{AFTER}", False, recall, stage.context, next(asked))
        stage.store.maintain()
        bare.maintain()
    watch.verbs = read | watch.verbs


def _live(watch: Watch, context: ToolContext, run: int, about: str, embedded: bool) -> None:
    """A note's life: each verb on what the one before it wrote."""
    first, second, reason = _texts(run, "kept" if embedded else "new")
    stored = watch("remember", embedded, remember, context, first, subjects=[about]).data
    assert isinstance(stored, Stored)
    newer = watch("supersede", embedded, supersede, context, [stored.id], second).data
    assert isinstance(newer, Superseded)
    watch("revoke", embedded, revoke, context, newer.id, reason)
    if not embedded:
        watch("reinstate", False, reinstate, context, newer.id)
        watch("feedback", False, feedback, context, [newer.id], "helped")


def _raw_append(folder: Path) -> Callable[[], None]:
    """One row into a log of its own and onto the disk, by LanceDB and fsync alone: no write can be quicker."""
    _, log = open_log(folder)
    syncer, random = Syncer(folder / f"{LOG}.lance"), Random(1)
    (row,) = model().encode([_ANY.text])

    def append() -> None:
        made = stamp(NOW, random.getrandbits(ENTROPY_BITS), None)
        note = Note(made.id, _ANY.text, _ANY.subjects, _ANY.klass, USER, made.at)
        entry = Entry(Remembered(note), made.id, (), note.subjects, (note.klass,), None, row.vector, row.sketch)
        syncer.sync(int(log.add(arrow_of(rows_of([entry], ()), len(row.vector))).version))

    return append


def _told(verbs: dict[str, Timed], notes: int, runs: int) -> dict[str, Any]:
    print(f"{notes} notes of {len(_subjects(notes))} subjects, {runs} calls of each; milliseconds, and per call\n")
    head = ("verb", "p50", "p95", "processor", "embedded before: p50", "p95", "queries", "commits")
    figures = {verb: _figures(timed) for verb, timed in sorted(verbs.items())}
    print(table(head, [(verb, *(row.get(name, "") for name in _COLUMNS)) for verb, row in figures.items()]))
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


def _figures(timed: Timed) -> dict[str, float]:
    told = {"p50_ms": _percentile(timed.whole, 50), "p95_ms": _percentile(timed.whole, 95)}
    told |= {"processor_p50_ms": _percentile(timed.processor, 50)}
    if timed.embedded:
        told |= {"embedded_p50_ms": _percentile(timed.embedded, 50)}
        told |= {"embedded_p95_ms": _percentile(timed.embedded, 95)}
    for name, values in (("queries", timed.queries), ("commits", timed.commits)):
        told[name] = round(sum(values) / len(values), 1)
    return told


def _percentile(times: Sequence[float], which: float) -> float:
    return round(float(np.percentile(times, which)), 1)


def queries() -> list[str]:
    """Queries of the bundled sets, for the real model."""
    return [row["query"] for name in ("probe", "cues", "requirements") for row in rows(name)]


def _subjects(notes: int) -> list[str]:
    return [subject(number) for number in range(max(notes // PER_SUBJECT, 1))]


def _texts(run: int, mark: str) -> tuple[str, str, str]:
    """What a note of this run says, what replaces it, and why that is withdrawn."""
    key = f"the spare key of locker {mark} {run + _WARM}"
    return f"Tom keeps {key} in his desk.", f"Tom gave {key} to Priya.", f"It was not {key}, he says."


def _rss_mb() -> float:
    """The resident memory of this process in MB; 0 where the system has no /proc."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else ()
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmRSS:")), 0.0)
