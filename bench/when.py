"""Is it understood what a question says about time? Phrases in nine languages, half of them traps."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.report import finish, table
from stilltrue.retrieval.temporal import NOW, Intent, read

DATA = Path(__file__).parent / "data" / "when.jsonl"
ASKED_AT = datetime(2026, 3, 4, 12, tzinfo=UTC)
"""When every phrase is asked: a Wednesday."""

_WHAT = ("recall", "precision")
GOALS = {"english": 0.90, "others": 0.75}


def main(argv: Sequence[str]) -> int:
    """Print recall and precision by family and language; 1 where the held-out half misses a goal."""
    parser = argparse.ArgumentParser(prog="python -m bench when", description=__doc__)
    parser.add_argument("--misses", action="store_true", help="list the fitted phrases that are not understood")
    options = parser.parse_args(argv)
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    shown = []
    for family in ("fitted", "held_out"):
        of_family = [row for row in rows if row["family"] == family]
        groups = ("english", "others", *sorted({row["language"] for row in of_family} - {"en"}))
        shown += [(family, group, *_figures(of_family, group)) for group in groups]
    head = ("family", "language", "phrases", "traps", "recall", "precision")
    print(table(head, [(*row[:4], f"{row[4]:.3f}", f"{row[5]:.3f}") for row in shown]))
    if options.misses:
        for row in rows:
            if row["family"] == "fitted" and not understood(row["expected"], read(row["text"], ASKED_AT)):
                print(f"\n{row['language']}: {row['text']}\n  {read(row['text'], ASKED_AT)}")
    result: dict[str, Any] = {}
    for family, group, _, _, recall, precision in shown:
        if family == "held_out" and group in GOALS:
            result |= {f"{group}_recall": round(recall, 3), f"{group}_precision": round(precision, 3)}
    finish(result | {"phrases": len(rows)})
    return 0 if all(result[f"{group}_{what}"] >= goal for group, goal in GOALS.items() for what in _WHAT) else 1


def _figures(rows: Iterable[Mapping[str, Any]], group: str) -> tuple[int, int, float, float]:
    """Phrases, traps, recall and precision of "english", of "others", or of one language by its code."""
    count: Counter[str] = Counter()
    for row in rows:
        if group not in (row["language"], "english" if row["language"] == "en" else "others"):
            continue
        intent = read(row["text"], ASKED_AT)
        right = understood(row["expected"], intent)
        count["phrases"] += 1
        count["traps"] += row["expected"] is None
        count["found"] += row["expected"] is not None and right
        count["read"] += intent != NOW
    recall = count["found"] / max(count["phrases"] - count["traps"], 1)
    return count["phrases"], count["traps"], recall, count["found"] / max(count["read"], 1)


def understood(expected: Mapping[str, Any] | None, intent: Intent) -> bool:
    """Whether the reading is the one expected; None is a phrase that says nothing about the past.

    A `span` is met to the day, one `around` a time where at least half of both together is common to both.
    """
    match expected:
        case None:
            return intent == NOW
        case {"as_of": str(day)}:
            return intent.as_of == _moment(day) - timedelta(microseconds=1)
        case {"recency": recency}:
            return intent.recency == str(recency)
        case {"history": True}:
            return intent.history and intent.span is None and intent.as_of is None
        case {"span": [start, end]}:
            if intent.span is None or intent.as_of is not None:
                return False
            opens = intent.span[0].year == 2 if start == "*" else intent.span[0] == _moment(start)
            return opens and intent.span[1] == _moment(end)
        case {"around": [start, end]}:
            if intent.span is None or intent.as_of is not None:
                return False
            bounds = sorted([*intent.span, _moment(start), _moment(end)])
            shared = min(intent.span[1], _moment(end)) - max(intent.span[0], _moment(start))
            return shared / (bounds[-1] - bounds[0]) >= 0.5
    raise ValueError(f"unknown expectation {expected}")


def _moment(said: str) -> datetime:
    return ASKED_AT if said == "now" else datetime.fromisoformat(said).replace(tzinfo=UTC)
