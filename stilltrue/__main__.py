"""The front door of `stilltrue` and `python -m stilltrue`: find our own rooms, keep stdout clean, run the command.

Two things have to be right before the first import of a room. `server`, `tools` and `store` are names that the
project around us may use as well, so ours stand first on the path. And stdout is the wire of the protocol: a
word that some library writes there while it loads would be the first line that a client reads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


def main() -> int:
    """Run the command line and return its exit code; 2 where something else goes by the name of a room."""
    parent = os.getppid()  # before anything is imported: a server has to notice that it died meanwhile
    package = Path(__file__).resolve().parent
    home = package / "rooms" if (package / "rooms").is_dir() else package.parent  # a wheel, or a checkout
    sys.path.insert(0, str(home))
    with quiet_stdout():  # also around the search for the rooms: whatever hooks into imports may speak in it
        for room in ("server", "tools", "store"):
            place = _place(room)
            if place is None or not Path(place).resolve().is_relative_to(home):
                sys.stderr.write(
                    f"stilltrue: the module {room!r} is {place or 'elsewhere'}, it has to be in {home}. Something "
                    "that this Python loads at start took the name (a .pth file, a sitecustomize). Install stilltrue "
                    "in an environment of its own.\n"
                )
                return 2
        from server.cli.main import main as run
    return run(parent=parent)


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Send to stderr what anything writes to stdout in this block, native code and child processes included."""
    wire = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()  # not before: what a sitecustomize printed must not become the first line of the wire either
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(wire, 1)
        os.close(wire)


def _place(module: str) -> str | None:
    """The file that a module was or would be loaded from, None where it is of none."""
    try:
        spec = find_spec(module)
    except ValueError:  # it was loaded, and made by hand
        return None
    return spec.origin if spec else None


if __name__ == "__main__":
    # `python -m` looks first where one happens to stand, and a project there may have an `mcp/` of its own.
    if sys.path[0] in ("", os.getcwd()) and not sys.flags.safe_path:
        del sys.path[0]
    sys.exit(main())
