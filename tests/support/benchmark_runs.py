"""Runs of `python -m bench` for the tests of the benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wire import ROOT, clean_env


def run_bench(
    home: Path, *arguments: str, path: Sequence[Path] = (), timeout_s: float = 280, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run `python -m bench` with these arguments and the user folders in `home`; `path` precedes the checkout."""
    command = [sys.executable, "-m", "bench", *arguments]
    environ = clean_env(home, path, **env)
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=timeout_s)


def figures_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON object in the last line of a benchmark's output."""
    assert done.stdout, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures
