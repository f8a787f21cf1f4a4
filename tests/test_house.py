"""The floors of the house: who may import whom, who may know the time, and what no file may do.

server/ -> tools/ -> store.port -> stilltrue/ -> the standard library and numpy. Downwards only, never in a circle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

MAY_IMPORT = {  # of our own rooms; a name with a dot allows that module alone
    "server": ("server", "tools", "store", "stilltrue"),
    "tools": ("tools", "store.port", "stilltrue"),
    "store": ("store", "stilltrue"),
    "stilltrue": ("stilltrue",),
}
LIVES_IN = {"lancedb": "store", "pyarrow": "store", "mcp": "server"}
PURE = (  # of the standard library: nothing here does I/O, asks the time, throws dice or logs
    "__future__", "bisect", "calendar", "collections", "copy", "dataclasses", "datetime", "enum", "functools",
    "hashlib", "heapq", "itertools", "json", "math", "operator", "re", "string", "textwrap", "types", "typing",
    "unicodedata",
)  # fmt: skip
CLOCKS = ("datetime.now", "datetime.utcnow", "date.today", "time.time", "time.time_ns")
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MAKES_MUTABLE = ("list", "dict", "set", "bytearray", "deque", "defaultdict", "Counter", "OrderedDict")
FRONT_DOOR = "stilltrue/__main__.py"  # the one file below the server that does I/O: it runs before all rooms
MAY_PRINT = ("server/cli/main.py", "server/cli/demo")
MOST_LINES = 300


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere in a file, as `module.name` where a name is taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def complaints(file: str, source: str) -> Iterator[str]:
    """What is wrong with a file of a room, by its path from the root."""
    room, tree = file.split("/")[0], ast.parse(source)
    for name in imported(tree):
        top = name.split(".")[0]
        if top in MAY_IMPORT or not top:
            allowed = file == FRONT_DOOR or any(f"{name}.".startswith(f"{own}.") for own in MAY_IMPORT[room])
        elif room == "stilltrue":
            allowed = top in (*PURE, "numpy") or file == FRONT_DOOR
        else:
            allowed = LIVES_IN.get(top, room) == room
        if not allowed:
            yield f"imports {name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield f"line {node.lineno}: global {', '.join(node.names)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "print" and not file.startswith(MAY_PRINT):
                yield f"line {node.lineno}: print"
            if node.func.id == "open" and room == "stilltrue" and file != FRONT_DOOR:
                yield f"line {node.lineno}: open"
    if room != "server":
        clocks = [*imported(tree), *(ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute))]
        yield from (
            f"reads the clock by {name}" for name in clocks if f".{name}".endswith(tuple(f".{c}" for c in CLOCKS))
        )
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        made = isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] in MAKES_MUTABLE
        if (isinstance(value, MUTABLE) or made) and "__all__" not in ast.unparse(node):
            yield f"line {node.lineno}: a module keeps something that can change"
    if (lines := source.count("\n")) > MOST_LINES:
        yield f"has {lines} lines"


FILES = sorted(path.relative_to(ROOT).as_posix() for room in MAY_IMPORT for path in (ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("file", FILES)
def test_every_file_keeps_to_its_floor(file: str) -> None:
    """A file imports downwards only, tells no time below the composition root, keeps no state, and is short."""
    assert list(complaints(file, (ROOT / file).read_text(encoding="utf-8"))) == []


def test_every_room_is_a_package() -> None:
    """A room without `__init__.py` would lose to any module of that name, however late on the path."""
    assert all((ROOT / room / "__init__.py").is_file() for room in MAY_IMPORT)
    assert not (ROOT / "tests" / "__init__.py").exists()


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("tools/recall.py", "from store.lance import LanceStore"),
        ("tools/recall.py", "from store import lance"),
        ("tools/recall.py", "def f():\n    import store"),
        ("tools/recall.py", "import server.app"),
        ("tools/recall.py", "from mcp.server import MCPServer"),
        ("tools/recall.py", "from . import near"),
        ("store/lance/store.py", "from tools.recall import recall"),
        ("server/protocol/app.py", "import pyarrow as pa"),
        ("server/protocol/app.py", "import lancedb.index"),
        ("stilltrue/note.py", "from store.port import Log"),
        ("stilltrue/note.py", "import pydantic"),
        ("stilltrue/note.py", "from os import path"),
        ("stilltrue/note.py", "import random"),
        ("stilltrue/note.py", "text = open('x').read()"),
        ("store/lance/store.py", "at = datetime.now(UTC)"),
        ("store/lance/store.py", "clock: object = datetime.datetime.utcnow"),
        ("tools/recall.py", "from time import time"),
        ("tools/recall.py", "print('x')"),
        ("tools/recall.py", "SEEN = {}"),
        ("tools/recall.py", "SEEN: dict[str, int] = dict()"),
        ("tools/recall.py", "SEEN = collections.defaultdict(int)"),
        ("tools/recall.py", "def f():\n    global seen\n    seen = 1"),
        ("tools/recall.py", "x = 1\n" * 301),
    ],
)
def test_a_breach_is_seen(file: str, source: str) -> None:
    """Each rule complains where it is broken, so that silence means something."""
    assert list(complaints(file, source))


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("tools/recall.py", "import store.port\nfrom store.port import Log\nfrom store import port"),
        ("server/wiring.py", "import mcp, store.lance\nat = datetime.now(UTC)"),
        ("server/cli/main.py", "print('x')"),
        ("store/lance/store.py", "import lancedb, pyarrow, time\nbegun = time.monotonic()"),
        ("stilltrue/note.py", "import numpy as np, hashlib\n__all__ = ['x']\nROWS = MappingProxyType({})"),
        (FRONT_DOOR, "import os, sys\nfrom server.cli import main"),
    ],
)
def test_what_is_allowed_is_allowed(file: str, source: str) -> None:
    """The rules leave alone what the house is built of."""
    assert list(complaints(file, source)) == []
