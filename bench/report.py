"""How a benchmark reports: a table for people, the machine it ran on, and one line of JSON for programs."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = ("stilltrue", "mcp", "lancedb", "onnxruntime", "numpy")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A text table with a heading for each column; numbers are right-aligned."""
    cells = [[str(each) for each in row] for row in rows]
    widths = [max(len(row[column]) for row in [list(head), *cells]) for column in range(len(head))]
    first = [f"{name:<{width}}" for name, width in zip(head, widths, strict=True)]
    lines = ["  ".join(first), "  ".join("-" * width for width in widths)]
    lines += ["  ".join(_aligned(cell, width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(lines)


def print_claims(claims: Mapping[str, bool]) -> int:
    """Print each claim as met or missed. Returns the exit code: 1 if any was missed."""
    print("\n".join(f"{'met   ' if met else 'MISSED'}  {claim}" for claim, met in claims.items()))
    return 0 if all(claims.values()) else 1


def finish(result: Mapping[str, Any], seed: int | None = None) -> None:
    """Print versions and machine, then the result as one line of JSON."""
    packages = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    seeded = seed if seed is not None else "none, nothing is random"
    print(f"\nseed {seeded}; Python {platform.python_version()}, {packages}")
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors{load}")
    print(json.dumps(result), flush=True)


def _aligned(cell: str, width: int) -> str:
    number = cell.replace(".", "").replace(",", "").replace("-", "").replace("%", "").replace("x", "").strip()
    return f"{cell:>{width}}" if number.isdigit() else f"{cell:<{width}}"


def _version(package: str) -> str:
    if package == "stilltrue":
        from stilltrue import __version__

        return __version__
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
