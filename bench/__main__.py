"""`python -m bench NAME [options]`: runs bench/NAME.py, which ends with one line of JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path


def main(argv: Sequence[str]) -> int:
    """Run the benchmark that the first argument names, on the rest. 2 where there is none of that name."""
    known = names()
    if not argv or argv[0] not in known:
        wanted = f"There is no benchmark {argv[0]!r}. " if argv and argv[0] not in {"-h", "--help"} else ""
        print(f"{wanted}python -m bench NAME [options], NAME being one of: {', '.join(known)}", file=sys.stderr)
        return 2
    return int(import_module(f"bench.{argv[0]}").main(list(argv[1:])))


def names() -> list[str]:
    """The benchmarks: the files here that define `main(argv)`."""
    files = [file for file in Path(__file__).parent.glob("*.py") if not file.stem.startswith("_")]
    return sorted(file.stem for file in files if "\ndef main(" in file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
