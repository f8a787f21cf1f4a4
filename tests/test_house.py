"""The rules of the house: who may import whom, who may read the clock, and how long anything may be.

server/ -> tools/ -> store.port -> stilltrue/ -> the standard library and numpy. Downwards only, never in a circle.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from house_rules import FRONT_DOOR, MAY_IMPORT, circular, complaints, crowded, too_long, undeclared

ROOT = Path(__file__).resolve().parent.parent

NOT_YET = (  # known breaches that are being mended
    "tests/agent_tools/test_recall.py: has over 300 lines",
    "tests/storage/test_reembed.py: has over 300 lines",
    "tests/storage/test_store_contract.py: has over 300 lines",
    "tests/storage/test_store_s3.py: has over 300 lines",
)


def _sources(*folders: str) -> dict[str, str]:
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


PRODUCT = _sources(*MAY_IMPORT)
BESIDE_IT = _sources("tests", "bench")


@pytest.mark.parametrize("file", PRODUCT)
def test_every_file_keeps_to_its_floor(file: str) -> None:
    """A file imports downwards only, reads no clock below the composition root, keeps no state, and is short."""
    assert [each for each in complaints(file, PRODUCT[file]) if f"{file}: {each}" not in NOT_YET] == []


def test_no_file_of_the_tests_and_the_benchmarks_is_too_long() -> None:
    """They are read as often as the product."""
    found = [f"{file}: {each}" for file, source in BESIDE_IT.items() for each in too_long(source)]
    assert [each for each in found if each not in NOT_YET] == []


def test_nothing_imports_itself_by_way_of_others() -> None:
    """Not between files, not between rooms, not between floors."""
    assert [each for each in circular(PRODUCT) if each not in NOT_YET] == []


def test_no_floor_is_crowded() -> None:
    """A newcomer sees at a glance what there is."""
    assert list(crowded(PRODUCT)) == []


def test_every_package_that_is_imported_is_declared() -> None:
    """What happens to be installed with something else today may be gone tomorrow."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert undeclared(PRODUCT, project) == set()


def test_every_floor_is_a_package() -> None:
    """A floor without `__init__.py` would lose to any module of that name, however late on the path."""
    assert all((ROOT / floor / "__init__.py").is_file() for floor in MAY_IMPORT)
    assert not (ROOT / "tests" / "__init__.py").exists()


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("tools/recall.py", "from store.lance import LanceStore"),
        ("tools/recall.py", "from store import lance"),
        ("tools/recall.py", "def f():\n    import store"),
        ("tools/recall.py", "import server.protocol.app"),
        ("tools/recall.py", "from mcp.server import MCPServer"),
        ("tools/recall.py", "from . import remember"),
        ("tools/support/lookup.py", "if TYPE_CHECKING:\n    from store.folder.backend import FolderBackend"),
        ("store/lance/store.py", "from tools.recall import recall"),
        ("store/lance/store.py", "def f():\n    from store.folder.backend import open_folder"),
        ("store/lance/store.py", "from store import object"),
        ("store/embed/load.py", "from store.lance.engine import Table"),
        ("server/protocol/app.py", "from server.http.gateway import gateway"),
        ("server/protocol/app.py", "from server import stdio"),
        ("server/config/load.py", "import server.wiring"),
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
        ("tools/recall.py", "def f():\n" + "    x = 1\n" * 60),
        ("tools/recall.py", "class A:\n    async def f():\n" + "        x = 1\n" * 60),
        ("tools/recall.py", "x = 1\n" * 301),
    ],
)
def test_a_breach_is_seen(file: str, source: str) -> None:
    """Each rule complains where it is broken, so that silence means something."""
    assert len(list(complaints(file, source))) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("tools/recall.py", "import store.port\nfrom store.port import Log\nfrom store import port"),
        ("server/wiring.py", "import mcp, store.lance\nat = datetime.now(UTC)"),
        ("server/cli/main.py", "print('x')"),
        (
            "store/lance/store.py",
            "import lancedb, pyarrow, time\nfrom store.files import locked\nx = time.monotonic()",
        ),
        ("store/open.py", "from store.folder.backend import open_folder"),
        ("stilltrue/note.py", "import numpy as np, hashlib\n__all__ = ['x']\nROWS = MappingProxyType({})"),
        ("tools/recall.py", "def f():\n" + "    x = 1\n" * 59 + "x = 1\n" * 240),
        (FRONT_DOOR, "import os, sys\nfrom server.cli import main"),
    ],
)
def test_what_is_allowed_is_allowed(file: str, source: str) -> None:
    """The rules leave alone what the house is built of."""
    assert list(complaints(file, source)) == []


@pytest.mark.parametrize(
    ("sources", "circle"),
    [
        (("tools/a.py: import tools.b", "tools/b.py: from tools.a import f"), "tools.a, tools.b"),
        (("tools/a.py: def f(): import tools.b", "tools/b.py: import tools.a"), "tools.a, tools.b"),
        (
            (
                "tools/a.py: if TYPE_CHECKING: from tools import b",
                "tools/b.py: import tools.c",
                "tools/c.py: import tools.a",
            ),
            "tools.a, tools.b, tools.c",
        ),
        (
            ("store/a/x.py: import store.b.x", "store/a/y.py: ", "store/b/x.py: ", "store/b/y.py: import store.a.y"),
            "store.a, store.b",
        ),
        (("store/a/x.py: import store.b", "store/a/y.py: ", "store/b.py: import store.a.y"), "store.a, store.b"),
        (
            (f"{FRONT_DOOR}: from server.cli import main", "server/cli/main.py: from stilltrue.__main__ import main"),
            "server.cli, stilltrue.__main__",
        ),
        (
            ("store/a.py: import tools.a", "tools/a.py: ", "tools/b.py: import store.c", "store/c.py: "),
            "store, tools",
        ),
    ],
)
def test_a_circle_is_seen(sources: tuple[str, ...], circle: str) -> None:
    """Between files, rooms or floors, of any length, over lazy imports and those for the type checker."""
    assert f"circle: {circle}" in list(circular(dict(each.split(": ", 1) for each in sources)))


def test_importing_downwards_is_no_circle() -> None:
    """Nor is the front door, which imports the command line, nor two paths to one module."""
    below = {
        "store/a.py": "import store.b, store.c",
        "store/b.py": "import store.c",
        "store/c.py": "import stilltrue.d",
    }
    door = {FRONT_DOOR: "import server.cli.main", "server/cli/main.py": "import stilltrue.d"}
    assert list(circular({**below, **door, "stilltrue/d.py": ""})) == []


def test_a_crowded_floor_is_seen() -> None:
    """Thirteen entries are too many; what is in a folder counts once, and `__init__.py` not at all."""
    files = ["tools/__init__.py", *(f"tools/{number}.py" for number in range(11)), "tools/a/x.py", "tools/a/y.py"]
    assert list(crowded(files)) == []
    assert [each.split(":")[0] for each in crowded([*files, "tools/z.py"])] == ["tools has 13 entries"]


def test_an_undeclared_package_is_seen() -> None:
    """A package that only the tests declare is none of the product's."""
    project = {"dependencies": ["rich>=13.9"], "optional-dependencies": {"more": ["a-b[c]>=1"], "test": ["moto"]}}
    source = "import json, rich.console, a_b\ndef f():\n    from moto import mock_aws\n    import pyarrow"
    assert undeclared({"store/a.py": source}, project) == {"moto", "pyarrow"}
