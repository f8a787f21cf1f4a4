"""`python -m bench separation` on a few users: the effect of closure is asserted, its cost is only reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmark_runs import figures_of, run_bench

KEYS = {
    "store", "k", "channel", "diversity", "closure", "separated", "separated_given_retired", "successor_dropped",
    "predecessor_dropped", "head_first", "tokens_added",
}  # fmt: skip
OPTIONS = ("--stores", "20,40", "--users", "2", "--resamples", "100")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The last line of a small run, as JSON."""
    done = run_bench(tmp_path_factory.mktemp("home"), "separation", *OPTIONS)
    assert done.returncode in {0, 1}, done.stderr
    return figures_of(done)


def test_every_condition_is_reported_once(result: dict[str, Any]) -> None:
    """Two stores, two kinds of change, three k, three channels, four passes, with and without closure."""
    cells = result["cells"]
    assert all(set(cell) >= KEYS for cell in cells)
    named = ("store", "change", "k", "channel", "diversity", "closure")
    assert len({tuple(cell[name] for name in named) for cell in cells}) == len(cells) == 2 * 2 * 3 * 3 * 4 * 2


def test_with_closure_no_retired_note_is_returned_without_what_ended_it(result: dict[str, Any]) -> None:
    """In every cell with closure, in the k chains of recall, and under the budget; and the current state leads."""
    closed = [cell for cell in result["cells"] if cell["closure"]]
    assert result["separated_with_closure"] == 0
    for cell in closed:
        assert not any((cell["separated"], cell["separated_any"], cell["successor_dropped"]))
        assert not any((cell["k_chains"]["separated"], cell["k_chains"]["successor_dropped"]))
        assert cell["head_first"] in {None, 1.0}
    assert not any(each["separated_any"] for each in result["budget"])


def test_without_closure_retired_notes_are_separated(result: dict[str, Any]) -> None:
    """The same requests on the same texts separate notes, and a diversity pass separates more: the set is hard."""
    cells = [cell for cell in result["cells"] if not cell["closure"] and cell["channel"] == "dense"]
    plain, mmr = ([cell for cell in cells if cell["diversity"] == name] for name in ("plain", "MMR 0.5"))
    assert 0 < sum(cell["separated"] for cell in plain) < sum(cell["separated"] for cell in mmr)
    assert all(cell["head_first"] < 1 for cell in plain)


def test_a_fixed_budget_is_never_exceeded(result: dict[str, Any]) -> None:
    """0 % over the budget. Closure displaces other chains, and their number is reported."""
    assert len(result["budget"]) == 2 * 2 * 3
    for each in result["budget"]:
        assert (each["over"], each["budget"]) == (0, 1_200)
        assert each["tokens"] <= each["budget"]
        assert each["chains_alone"] - each["chains"] <= each["displaced"] + 0.001


def test_a_folder_without_the_set_is_refused(tmp_path: Path) -> None:
    """Exit code 2, nothing on stdout, and the name of the missing file."""
    done = run_bench(tmp_path, "separation", "--data", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "carmem.jsonl" in done.stderr
