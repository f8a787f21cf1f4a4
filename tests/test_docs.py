"""The documentation covers the product: every argument, field, event, class and command. What it names exists."""

from __future__ import annotations

import dataclasses
import inspect
import re
import tomllib
from pathlib import Path

import pytest

from bench.__main__ import names as benchmark_names
from server.cli.main import _parser
from server.config.load import load
from server.config.settings import KEYS
from server.protocol.arguments import ALIASES, COUNTS
from server.protocol.dispatch import Dispatcher, memory_tools
from server.protocol.prompts import listed
from server.protocol.resources import SESSION, STATUS, templates
from server.runtime import StoreRuntime
from stilltrue.classes import DEFAULT_CLASSES
from stilltrue.event import KINDS
from tools.admin.views import Retrieved, State
from tools.support import results

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
FILE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.(?:py|md|toml|yml|jsonl))`")
MODULE = re.compile(r"`((?:server|tools|store|stilltrue|bench)(?:\.(?!json\b)\w+)+)(?:\(\))?`")


def page(name: str) -> str:
    """The text of a file, by its path from the root."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_tool_and_argument_is_documented() -> None:
    """docs/tools.md names each tool in a heading and each of its arguments in backticks."""
    text = page("docs/tools.md")
    headings = " ".join(line for line in text.splitlines() if line.startswith("## "))
    for tool in memory_tools(Dispatcher(StoreRuntime(load(environ={})))):
        assert tool.name in headings
        missing = [name for name in tool.parameters["properties"] if not re.search(rf"\b{name}\b", text)]
        assert not missing, f"{tool.name} takes {missing}, which docs/tools.md does not mention"


def test_every_argument_alias_is_documented() -> None:
    """docs/tools.md has the same table of aliases as the code."""
    text = page("docs/tools.md")
    rows = [f"| `{name}` | {', '.join(f'`{alias}`' for alias in aliases)} |" for name, aliases in ALIASES.items()]
    assert [row for row in rows if row not in text] == []
    assert [name for name in sorted(COUNTS) if f"`{name}`" not in text] == []


def test_every_resource_and_prompt_is_documented() -> None:
    """docs/tools.md names each resource and prompt, with its fields and arguments."""
    text = page("docs/tools.md")
    known = [each.uri_template for each in templates()] + [SESSION, STATUS] + [each.name for each in listed()]
    known += [argument.name for each in listed() for argument in each.arguments or ()]
    known += [field.name for kind in (Retrieved, State) for field in dataclasses.fields(kind)]
    assert [name for name in known if f"`{name}`" not in text] == []


def test_every_field_of_an_answer_is_documented() -> None:
    """docs/tools.md explains each field of the structured content."""
    text = page("docs/tools.md")
    views = [kind for _, kind in inspect.getmembers(results, dataclasses.is_dataclass) if kind is not results.Answer]
    own = [kind for kind in views if kind.__module__ == "tools.support.results"]
    fields = {field.name for kind in own for field in dataclasses.fields(kind)}
    assert "retrieved_session" in fields
    assert not [name for name in sorted(fields) if not re.search(rf"\b{name}\b", text)]


def test_every_kind_of_event_and_every_class_is_documented() -> None:
    """The glossary lists the kinds of event, and the example configuration lists the classes."""
    assert not [kind for kind in KINDS if f"`{kind}`" not in page("docs/glossary.md")]
    named = tomllib.loads(page("config.example.toml"))["classes"]
    assert [klass.name for klass in DEFAULT_CLASSES] == list(named)


def test_every_command_is_in_the_readme_or_the_docs() -> None:
    """Each command of the command line is shown somewhere."""
    everything = page("README.md") + "".join(
        each.read_text(encoding="utf-8") for each in (ROOT / "docs").glob("*.md")
    )
    commands = next(action for action in _parser()._actions if action.dest == "command").choices or {}
    assert set(commands) >= {"serve", "demo", "status"}
    assert not [name for name in commands if f"stilltrue {name}" not in everything and f'"{name}"' not in everything]


def test_every_local_link_leads_somewhere() -> None:
    """Each relative link points at an existing file, and each anchor at a heading of it."""
    broken = []
    for each in PAGES:
        for target, anchor in re.findall(r"\]\((?!https?://)([^)#]*)#?([^)]*)\)", each.read_text(encoding="utf-8")):
            file = each.parent / target if target else each
            if not file.exists() or (anchor and anchor not in anchors(file)):
                broken.append(f"{each.relative_to(ROOT)} -> {target}#{anchor}")
    assert not broken


def anchors(file: Path) -> set[str]:
    """The anchors of a page's headings, spelled as on GitHub."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("file", PAGES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_file_and_module_that_a_page_names_exists(file: Path) -> None:
    """A path in backticks is a file of this repository, and a dotted name is a module or one of its members."""
    text = file.read_text(encoding="utf-8")
    unknown = [path for path in FILE.findall(text) if not (ROOT / path).is_file() and not path.startswith(".")]
    assert unknown + [name for name in MODULE.findall(text) if not is_ours(name)] == []


def is_ours(name: str) -> bool:
    """Whether `a.b.c` is a key of the configuration, or leads to a module, which has `c` where it is not one."""
    if name in {key.dotted for key in KEYS}:
        return True
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        path = ROOT.joinpath(*parts[:length])
        if path.is_dir():
            return length == len(parts)
        if path.with_suffix(".py").is_file():
            source = path.with_suffix(".py").read_text(encoding="utf-8")
            return all(
                re.search(rf"^\s*(?:def |class |)?{member}\b", source, re.MULTILINE) for member in parts[length:]
            )
    return False


def test_every_benchmark_that_a_page_names_exists() -> None:
    """`python -m bench NAME` in the documentation is a benchmark, and each benchmark is in docs/benchmarks.md."""
    named = {name for each in PAGES for name in re.findall(r"-m bench ([a-z]\w*)", each.read_text(encoding="utf-8"))}
    assert named <= set(benchmark_names())
    assert [name for name in benchmark_names() if f"`{name}`" not in page("docs/benchmarks.md")] == []


def test_the_readme_is_short() -> None:
    """The README sells and teaches in under 150 lines; docs/ holds the rest."""
    assert len(page("README.md").splitlines()) < 150
