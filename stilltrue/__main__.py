"""The entry point of `stilltrue` and `python -m stilltrue`: find our packages, keep stdout clean, run the command.

Two things have to be settled before `server`, `tools` or `store` is imported. A project around us may use these names
too, so ours have to come first on the path. And stdout carries the protocol: anything that a library prints there
while it loads would be the first line that a client reads.
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
    parent = os.getppid()  # before any import, so that a server notices if the parent dies meanwhile
    package = Path(__file__).resolve().parent
    home = package / "rooms" if (package / "rooms").is_dir() else package.parent  # wheel or checkout
    sys.path.insert(0, str(home))
    with quiet_stdout():  # also during the search: import hooks may print
        for name in ("server", "tools", "store"):
            origin = _origin(name)
            if origin is None or not Path(origin).resolve().is_relative_to(home):
                sys.stderr.write(
                    f"stilltrue: the module {name!r} is loaded from {origin or 'elsewhere'} instead of {home}. "
                    "Something that this Python loads at startup has taken the name (a .pth file, a sitecustomize). "
                    "Install stilltrue in an environment of its own.\n"
                )
                return 2
        from server.cli.main import main as run
    return run(parent=parent, quiet=quiet_stdout)


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Redirect stdout to stderr within this block, for native code and child processes too."""
    wire = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()  # now that it goes to stderr: this may be what a sitecustomize printed
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
    except ValueError:  # it is already loaded and has no spec
        return None
    return spec.origin if spec else None


if __name__ == "__main__":
    # `python -m` searches the working folder first, and a project there may have its own `mcp/`.
    if sys.path[0] in ("", os.getcwd()) and not sys.flags.safe_path:
        del sys.path[0]
    sys.exit(main())
