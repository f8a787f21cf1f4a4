"""Where recall spends its time."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.report import table
from tools.recall import recall
from tools.support.context import ToolContext

_WARM = 4
_CALLS = 50
_SHOWN = 30


def profiled(context: ToolContext, queries: Sequence[str], subjects: Sequence[str]) -> None:
    """Print the functions in which recall spends most time, callees included, as measured by cProfile.

    LanceDB works on its own threads: its time shows up in those of our functions that wait for it.
    """
    for scoped in (True, False):
        asked, named = cycle(queries), cycle(subjects)
        profile = cProfile.Profile()
        for run in range(-_WARM, _CALLS):
            query, about = next(asked), [next(named)] if scoped else None
            if run == 0:
                profile.enable()
            recall(context, query, subjects=about)
        profile.disable()
        stats: Any = pstats.Stats(profile)
        rows = [
            (f"{Path(file).parent.name}/{Path(file).name} {name}", total, own, calls)
            for (file, _, name), (_, calls, own, total, _) in stats.stats.items()
        ]
        rows.sort(key=lambda row: -row[1])
        shown = [
            (name, *(f"{1e3 * seconds / _CALLS:.2f}" for seconds in times), f"{calls / _CALLS:.1f}")
            for name, *times, calls in rows[:_SHOWN]
        ]
        print(f"recall of {'one subject' if scoped else 'no subject'}, {_CALLS} calls; milliseconds per call\n")
        print(table(("function", "cumulative", "own", "calls"), shown), end="\n\n")
