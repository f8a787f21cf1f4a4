"""`python -m bench latency`, on a store that is small enough for a test."""

from __future__ import annotations

from typing import Any

import pytest
from benchmark_runs import figures_of, run_bench

KEYS = {
    "notes", "requirements_p95_ms", "recall_p50_ms", "recall_p95_ms", "remember_p50_ms", "raw_append_fsync_p50_ms",
    "lancedb_queries_per_recall", "rss_mb",
}  # fmt: skip
TOOLS = {"remember", "supersede", "revoke", "reinstate", "recall", "constraints", "feedback"}


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The figures of a small run."""
    done = run_bench(tmp_path_factory.mktemp("home"), "latency", "--notes", "200", "--runs", "3")
    assert done.returncode == 0, done.stderr
    return figures_of(done)


@pytest.mark.slow
def test_latency_ends_with_the_figures_of_every_tool(figures: dict[str, Any]) -> None:
    """Every key is there and every tool was timed. The times are not judged here."""
    assert set(figures) >= KEYS
    assert figures["notes"] == 200
    assert set(figures["verbs"]) >= TOOLS
    assert all(tool["p50_ms"] <= tool["p95_ms"] for tool in figures["verbs"].values())


@pytest.mark.slow
def test_a_read_costs_a_bounded_number_of_queries_and_a_write_one_commit(figures: dict[str, Any]) -> None:
    """A recall right after a write makes at most seven queries and no commit. A tool that writes commits once."""
    tools = figures["verbs"]
    assert 0 < tools["recall"]["queries"] <= tools["recall, after a write"]["queries"] <= 7
    assert {name: tools[name]["commits"] for name in TOOLS} == {
        **dict.fromkeys(TOOLS, 1.0),
        "recall": 0.0,
        "constraints": 0.0,
    }
