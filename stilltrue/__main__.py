"""The entry point of `stilltrue` and `python -m stilltrue`: find our packages, keep stdout clean, run the command.

Two things have to be right before anything of ours is imported. `server`, `tools` and `store` are names that the
surrounding project may use as well, so our folder goes first on the path. And stdout carries the protocol: anything
that a library prints while it loads would be the first line that a client reads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


def main() -> int:
    """Run the command line and return its exit code; 2 if another module has the name of one of our packages."""
    parent = os.getppid()  # before anything is imported: a server has to notice if it dies meanwhile
    package = Path(__file__).resolve().parent
    home = package / "rooms" if (package / "rooms").is_dir() else package.parent  # a wheel, or a checkout
    sys.path.insert(0, str(home))
    with quiet_stdout():  # around the search as well: an import hook may print
        for room in ("server", "tools", "store"):
            origin = _origin(room)
            if origin is None or not Path(origin).resolve().is_relative_to(home):
                sys.stderr.write(
                    f"stilltrue: the module {room!r} is {origin or 'elsewhere'}, but it has to be in {home}. "
                    "Something that this Python loads at startup took the name (a .pth file, a sitecustomize). "
                    "Install stilltrue in an environment of its own.\n"
                )
                return 2
        from server.cli.main import main as run
    return run(parent=parent)


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Redirect stdout to stderr in this block, for native code and child processes too."""
    wire = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()  # after the redirect, so that what a sitecustomize printed goes to stderr too
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(wire, 1)
        os.close(wire)


def _origin(module: str) -> str | None:
    """The file that a module was or would be loaded from; None if there is none."""
    try:
        spec = find_spec(module)
    except ValueError:  # loaded already, and created without a spec
        return None
    return spec.origin if spec else None


if __name__ == "__main__":
    # `python -m` puts the current directory first on the path, and a project there may have an `mcp/` of its own.
    if sys.path[0] in ("", os.getcwd()) and not sys.flags.safe_path:
        del sys.path[0]
    sys.exit(main())
