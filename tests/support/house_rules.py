"""The rules of the house as functions from sources to complaints, so that they can be tried on made-up sources.

tests/test_house.py applies them to the product and shows each of them failing.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from import_graph import circles, floors, imported, modules, rooms

MAY_IMPORT = {  # of our own floors; a name with a dot allows that module alone
    "server": ("server", "tools", "store", "stilltrue"),
    "tools": ("tools", "store.port", "stilltrue"),
    "store": ("store", "stilltrue"),
    "stilltrue": ("stilltrue",),
}
MUST_NOT_IMPORT = {  # inside a floor; a name bars that module and all below it
    "server/protocol": ("server.http", "server.cli", "server.stdio"),
    "store/lance": ("store.folder", "store.object", "store.admin"),
    "store/embed": ("store.folder", "store.object", "store.admin", "store.lance", "store.memory"),
    "server/config": ("server.protocol", "server.http", "server.cli", "server.stdio", "server.wiring",
                      "server.runtime", "server.tenants"),
}  # fmt: skip
ONE_FLOOR_ONLY = {"lancedb": "store", "pyarrow": "store", "mcp": "server"}
PURE = (  # of the standard library: nothing here does I/O, reads the time, draws random numbers or logs
    "__future__", "bisect", "calendar", "collections", "copy", "dataclasses", "datetime", "enum", "functools",
    "hashlib", "heapq", "itertools", "json", "math", "operator", "re", "string", "textwrap", "types", "typing",
    "unicodedata",
)  # fmt: skip
CLOCKS = ("datetime.now", "datetime.utcnow", "date.today", "time.time", "time.time_ns")
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MAKES_MUTABLE = ("list", "dict", "set", "bytearray", "deque", "defaultdict", "Counter", "OrderedDict")
FRONT_DOOR = "stilltrue/__main__.py"  # the one file below the server that does I/O and that imports the server
MAY_PRINT = ("server/cli/main.py", "server/cli/demo")
MAX_LINES_OF_A_FILE = 300
MAX_LINES_OF_A_FUNCTION = 60
MAX_ENTRIES_OF_A_FLOOR = 12


def complaints(file: str, source: str) -> Iterator[str]:
    """What is wrong with a file of the product, given by its path from the root."""
    tree = ast.parse(source)
    yield from _wrong_imports(file, tree)
    yield from _impure(file, tree)
    yield from too_long(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first, last = node.lineno, node.end_lineno or node.lineno
            if last - first + 1 > MAX_LINES_OF_A_FUNCTION:
                yield f"{node.name} has over {MAX_LINES_OF_A_FUNCTION} lines"


def _wrong_imports(file: str, tree: ast.AST) -> Iterator[str]:
    floor, room = file.split("/")[0], "/".join(file.split("/")[:2])
    for name in imported(tree):
        top = name.split(".")[0]
        if top in MAY_IMPORT or not top:
            allowed = file == FRONT_DOOR or any(_is_or_is_in(name, own) for own in MAY_IMPORT[floor])
            allowed = allowed and not any(_is_or_is_in(name, barred) for barred in MUST_NOT_IMPORT.get(room, ()))
        elif floor == "stilltrue":
            allowed = top in (*PURE, "numpy") or file == FRONT_DOOR
        else:
            allowed = ONE_FLOOR_ONLY.get(top, floor) == floor
        if not allowed:
            yield f"imports {name}"


def _is_or_is_in(name: str, module: str) -> bool:
    return f"{name}.".startswith(f"{module}.")


def _impure(file: str, tree: ast.Module) -> Iterator[str]:
    floor = file.split("/")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield f"line {node.lineno}: global {', '.join(node.names)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "print" and not file.startswith(MAY_PRINT):
                yield f"line {node.lineno}: print"
            if node.func.id == "open" and floor == "stilltrue" and file != FRONT_DOOR:
                yield f"line {node.lineno}: open"
    if floor != "server":
        clocks = [*imported(tree), *(ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute))]
        yield from (
            f"reads the clock by {name}" for name in clocks if f".{name}".endswith(tuple(f".{c}" for c in CLOCKS))
        )
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        made = isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] in MAKES_MUTABLE
        if (isinstance(value, MUTABLE) or made) and "__all__" not in ast.unparse(statement):
            yield f"line {statement.lineno}: mutable state in a module"


def too_long(source: str) -> Iterator[str]:
    """A complaint where a file is too long, of the product or not."""
    if source.count("\n") > MAX_LINES_OF_A_FILE:
        yield f"has over {MAX_LINES_OF_A_FILE} lines"


def circular(sources: Mapping[str, str]) -> Iterator[str]:
    """The circles between files, between rooms and between floors.

    The front door leads from the lowest floor to the highest, so it is left out between floors. Between files and
    rooms it counts: it may import the command line as long as nothing imports it in turn.
    """
    files = modules(sources)
    beyond_the_door = modules({file: source for file, source in sources.items() if file != FRONT_DOOR})
    for graph in (files, rooms(files), floors(beyond_the_door)):
        yield from (f"circle: {', '.join(circle)}" for circle in circles(graph))


def crowded(files: Iterable[str]) -> Iterator[str]:
    """The floors with too many entries at their top: files and folders, without `__init__.py`."""
    entries: dict[str, set[str]] = {}
    for file in files:
        floor, entry, *_ = file.split("/")
        entries.setdefault(floor, set()).add(entry)
    for floor, names in entries.items():
        if len(names - {"__init__.py"}) > MAX_ENTRIES_OF_A_FLOOR:
            yield f"{floor} has {len(names - {'__init__.py'})} entries: {', '.join(sorted(names))}"


def undeclared(sources: Mapping[str, str], project: Mapping[str, Any]) -> set[str]:
    """The packages of others that the sources import and that the project declares neither itself nor in an extra."""
    extras = project.get("optional-dependencies", {})
    declared = [
        *project["dependencies"],
        *(each for name in extras if name not in {"test", "dev"} for each in extras[name]),
    ]
    known = {re.split(r"[^\w.-]", each)[0].casefold().replace("-", "_") for each in declared}
    tops = {name.split(".")[0] for source in sources.values() for name in imported(ast.parse(source))}
    return {top for top in tops if top and top not in {*MAY_IMPORT, *sys.stdlib_module_names, *known}}
