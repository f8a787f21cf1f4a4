"""`stilltrue demo` shows what it claims, on a real server, and fails if the product does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.cli import demo_notes
from store.embed.load import load_embedder

ROOT = Path(__file__).resolve().parents[2]


def demo(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stilltrue", "demo", *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "160", **environ},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.slow
def test_the_demo_passes_both_scenarios_and_keeps_its_store_on_request(tmp_path: Path) -> None:
    """The exit code is 0, both results are HELD beside a plain memory that FAILED, and `status` reads the store."""
    kept = tmp_path / "kept store"
    played = demo("--keep", str(kept))
    assert played.returncode == 0, played.stderr
    assert played.stdout.count("HELD:") == 2
    assert played.stdout.count("FAILED:") == 2
    assert "DEGRADED" not in played.stdout
    status = subprocess.run(
        [sys.executable, "-m", "stilltrue", "status", "--store", str(kept)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    notes = len(demo_notes.LUNCH_NOTES) + len(demo_notes.TEST_NOTES) + 4
    assert f"notes:     {notes} in" in status.stdout


@pytest.mark.slow
def test_the_demo_fails_when_the_requirement_is_not_delivered(tmp_path: Path) -> None:
    """If allergies are ordinary notes, the first scenario fails and the exit code is 1."""
    config = tmp_path / "config.toml"
    config.write_text("[classes.allergy]\nrequirement = false\n", encoding="utf-8")
    played = demo(STILLTRUE_CONFIG=str(config))
    assert played.returncode == 1, played.stderr
    assert played.stdout.count("HELD:") == 1


def test_a_hundred_notes_are_nearer_to_the_question_than_the_allergy() -> None:
    """The demo claims at least a hundred notes, all of them more similar to the question than the allergy."""
    notes = demo_notes.LUNCH_NOTES
    assert len(notes) >= 100
    assert len(set(notes)) == len(notes)
    vectors = load_embedder().embed([demo_notes.LUNCH, demo_notes.ALLERGY, *notes])
    similarity = vectors[1:] @ vectors[0]
    assert (similarity[1:] > similarity[0]).all()
