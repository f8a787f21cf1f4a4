"""A few rounds of the benchmarks `crash`, `concurrency` and `growth`: nothing acknowledged is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmark_runs import figures_of, run_bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROUNDS = 20
PATIENCE_S = 880.0


def test_twenty_kills_lose_no_acknowledged_write_and_leave_none_partial(tmp_path: Path) -> None:
    """Writers, compactions, re-embeddings and upgrades, killed at random moments."""
    done = run_bench(tmp_path, "crash", "--rounds", str(ROUNDS), timeout_s=PATIENCE_S)
    result = figures_of(done)
    wrong = {name: result[name] for name in ("lost", "partial", "check_failures")}
    assert wrong == {"lost": 0, "partial": 0, "check_failures": 0}, done.stdout
    assert result["rounds"] == ROUNDS
    assert result["acknowledged"] > 0
    assert {"write", "compact", "upgrade"} <= set(result["killed"])
    assert "reembed" in result["killed"] | result["finished"]


def test_three_servers_that_race_for_one_note_lose_no_write_and_make_no_fork(tmp_path: Path) -> None:
    """Every write is there once, each race has one winner, and the contested chain has one head."""
    done = run_bench(tmp_path, "concurrency", "--processes", "3", "--writes", "20", timeout_s=PATIENCE_S)
    result = figures_of(done)
    wrong = {name: result[name] for name in ("lost", "duplicates", "errors", "forks")}
    assert wrong == {"lost": 0, "duplicates": 0, "errors": 0, "forks": 0}, done.stdout
    assert (result["acknowledged"], result["races"]) == (60, 12)
    assert {"p50_ms", "p95_ms", "worst_ms"} <= set(result)


def test_growth_ends_with_its_ratios(tmp_path: Path) -> None:
    """A table, plots and final ratios. The claims do not apply to a store of sixty notes."""
    done = run_bench(tmp_path, "growth", "--writes", "60", "--words-alone", timeout_s=PATIENCE_S)
    result = figures_of(done)
    assert {"bytes_over_compacted", "write_ratio", "read_ratio", "files", "most_files"} <= set(result)
    assert result["writes"] == 60
    assert "median ms of a recall" in done.stdout
