"""`python -m bench NAME [options]`: run a benchmark. Its last line of output is one JSON object."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path


def main(argv: Sequence[str]) -> int:
    """Run the benchmark named by the first argument with the other arguments. Returns 2 if the name is unknown."""
    known = names()
    if not argv or argv[0] not in known:
        unknown = f"There is no benchmark {argv[0]!r}. " if argv and argv[0] not in {"-h", "--help"} else ""
        print(f"{unknown}python -m bench NAME [options], where NAME is one of: {', '.join(known)}", file=sys.stderr)
        return 2
    return int(import_module(known[argv[0]]).main(list(argv[1:])))


def names() -> dict[str, str]:
    """Modules that define `main(argv)`, by benchmark name: the file's name, or its folder's for `run.py`."""
    here = Path(__file__).parent
    found = {}
    for file in sorted(here.rglob("*.py")):
        if not file.stem.startswith("_") and "\ndef main(" in file.read_text(encoding="utf-8"):
            parts = file.relative_to(here).with_suffix("").parts
            found[parts[-2] if parts[-1] == "run" else parts[-1]] = ".".join(("bench", *parts))
    return dict(sorted(found.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
