"""`python -m bench retrieval` on the bundled sets."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from benchmark_runs import figures_of, run_bench

KEYS = {"recall_at_5", "recall_at_10", "recall_at_20", "mrr"}
CHANNELS = {"full_text", "vectors", "rrf", "fusion", "late", "recall"}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """A run on some questions of the bundled sets."""
    return run_bench(tmp_path_factory.mktemp("home"), "retrieval", "--only", "probe", "cues", "--questions", "20")


@pytest.fixture(scope="module")
def figures(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The figures of that run."""
    return figures_of(done)


@pytest.mark.slow
def test_retrieval_ends_with_recall_and_rank_of_every_channel(figures: dict[str, Any]) -> None:
    """Each bundled set has the figures of each channel, all between 0 and 1."""
    assert set(figures) >= {"probe", "cues_100", "cues_all", "cues_100_without", "cues_all_without"}
    for channels in figures.values():
        assert set(channels) >= CHANNELS
        assert all(set(row) >= KEYS and all(0 <= value <= 1 for value in row.values()) for row in channels.values())


@pytest.mark.slow
def test_across_the_lexical_gap_the_product_finds_what_vectors_alone_find(figures: dict[str, Any]) -> None:
    """Within two points at 10, with and without late interaction, although full text finds nothing."""
    probe = figures["probe"]
    assert probe["full_text"]["recall_at_20"] == 0
    least = probe["vectors"]["recall_at_10"] - 0.02
    assert {name: probe[name]["recall_at_10"] >= least for name in ("fusion", "late", "recall")} == {
        "fusion": True,
        "late": True,
        "recall": True,
    }


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["cues_100", "cues_all"])
def test_cues_at_least_double_the_recall_of_implicit_needs(figures: dict[str, Any], pool: str) -> None:
    """recall@6 of the tool, over 100 notes and over all."""
    met, without = (figures[name]["recall"]["recall_at_6"] for name in (pool, f"{pool}_without"))
    assert met >= 2 * without
    assert met > 0.4


@pytest.mark.slow
def test_retrieval_says_which_claims_it_meets(done: subprocess.CompletedProcess[str]) -> None:
    """Exit code 0 only if every claim about the sets that were run is met."""
    assert done.returncode == 0, done.stdout
    assert "met     probe" in done.stdout
    assert "MISSED" not in done.stdout


def test_a_folder_without_the_sets_is_refused(tmp_path: Path) -> None:
    """Exit code 2 and the name of the missing file; --tune without --data is refused too."""
    done = run_bench(tmp_path, "retrieval", "--data", str(tmp_path))
    untuned = run_bench(tmp_path, "retrieval", "--tune")
    assert (done.returncode, untuned.returncode) == (2, 2)
    assert "no locomo_turns.jsonl" in done.stderr
    assert "--tune needs --data" in untuned.stderr
