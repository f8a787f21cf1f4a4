"""Benchmarks are run by name, and each ends with one line of JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmark_runs import run_bench

KEYS = {
    "initialize_ms", "bare_initialize_ms", "ratio", "tools_list_ms", "tools_list_tokens", "first_fulltext_recall_ms",
    "first_vector_recall_ms", "rss_mb",
}  # fmt: skip


def test_an_unknown_benchmark_is_refused_with_the_known_names(tmp_path: Path) -> None:
    """Exit code 2, nothing on stdout, and the known names on stderr."""
    done = run_bench(tmp_path, "startupp")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no benchmark 'startupp'" in done.stderr
    assert "startup" in done.stderr.split("one of:")[1]


@pytest.mark.slow
def test_startup_ends_with_its_figures(tmp_path: Path) -> None:
    """A table, the versions and the machine, and one JSON object with every figure; values are not judged."""
    done = run_bench(tmp_path, "startup", "--runs", "1")
    assert done.returncode in {0, 1}, done.stderr
    *_, versions, machine, last = done.stdout.splitlines()
    assert "seed" in versions
    assert "processors" in machine
    figures = json.loads(last)
    assert set(figures) == KEYS
    assert all(figures.values())
