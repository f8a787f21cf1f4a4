"""The documentation says what the product has: every argument, field, event, class, command and file."""

from __future__ import annotations

import dataclasses
import inspect
import re
import tomllib
from pathlib import Path

from server.cli.main import _parser
from server.config.load import load
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


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_tool_and_argument_is_documented() -> None:
    """docs/tools.md names each tool in a heading and each of its arguments in backticks."""
    text = page("docs/tools.md")
    headings = " ".join(line for line in text.splitlines() if line.startswith("## "))
    for tool in memory_tools(Dispatcher(StoreRuntime(load(environ={})))):
        assert tool.name in headings
        missing = [name for name in tool.parameters["properties"] if not re.search(rf"\b{name}\b", text)]
        assert not missing, f"{tool.name} takes {missing}, which docs/tools.md does not mention"


def test_every_guessed_name_is_documented() -> None:
    """docs/tools.md lists what is taken for each argument, as the table of the code has it."""
    text = page("docs/tools.md")
    rows = [f"| `{name}` | {', '.join(f'`{alias}`' for alias in aliases)} |" for name, aliases in ALIASES.items()]
    assert [row for row in rows if row not in text] == []
    assert [name for name in sorted(COUNTS) if f"`{name}`" not in text] == []


def test_every_resource_and_prompt_is_documented() -> None:
    """Each that can be read or called up stands in docs/tools.md, with the fields and arguments it has."""
    text = page("docs/tools.md")
    known = [each.uri_template for each in templates()] + [SESSION, STATUS] + [each.name for each in listed()]
    known += [argument.name for each in listed() for argument in each.arguments or ()]
    known += [field.name for kind in (Retrieved, State) for field in dataclasses.fields(kind)]
    assert [name for name in known if f"`{name}`" not in text] == []


def test_every_field_of_an_answer_is_documented() -> None:
    """Whoever reads the structured content finds each of its fields explained."""
    text = page("docs/tools.md")
    views = [kind for _, kind in inspect.getmembers(results, dataclasses.is_dataclass) if kind is not results.Answer]
    fields = {
        field.name
        for kind in views
        if kind.__module__ == "tools.support.results"
        for field in dataclasses.fields(kind)
    }
    assert "retrieved_session" in fields
    assert not [name for name in sorted(fields) if not re.search(rf"\b{name}\b", text)]


def test_every_kind_of_event_and_every_class_is_documented() -> None:
    """The glossary lists the kinds of event; the example configuration the classes."""
    assert not [kind for kind in KINDS if f"`{kind}`" not in page("docs/glossary.md")]
    named = tomllib.loads(page("config.example.toml"))["classes"]
    assert [klass.name for klass in DEFAULT_CLASSES] == list(named)


def test_every_command_is_in_the_readme_or_the_docs() -> None:
    """A command nobody can find is a command nobody has."""
    everything = page("README.md") + "".join(
        each.read_text(encoding="utf-8") for each in (ROOT / "docs").glob("*.md")
    )
    commands = next(action for action in _parser()._actions if action.dest == "command").choices or {}
    assert set(commands) >= {"serve", "demo", "status"}
    assert not [name for name in commands if f"stilltrue {name}" not in everything and f'"{name}"' not in everything]


def test_every_local_link_leads_somewhere() -> None:
    """No page points at a file that is not there."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{each.relative_to(ROOT)} -> {target}"
        for each in pages
        for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", each.read_text(encoding="utf-8"))
        if not (each.parent / target).exists()
    ]
    assert not broken


def test_the_readme_is_short() -> None:
    """It sells and teaches in under 150 lines; docs/ holds the rest."""
    assert len(page("README.md").splitlines()) < 150
