"""Documentation of the settings: the text of config.example.toml and the tables of docs/configuration.md."""

from __future__ import annotations

from typing import Any

from server.config.settings import CLASS_KEYS, KEYS, SECTIONS, Key, toml
from stilltrue.classes import DEFAULT_CLASSES, MemoryClass


def example() -> str:
    """The text of config.example.toml: every key with its default, and the default classes."""
    lines = [
        "# Every setting of stilltrue with its default. Put your changes in a file of your own: config.toml in the",
        "# user's configuration folder, or the file named by --config or STILLTRUE_CONFIG. An environment variable",
        "# (STILLTRUE_RECALL_BUDGET_TOKENS=800) overrides the file, and a flag overrides both. See",
        "# docs/configuration.md.",
    ]
    for section, kind in SECTIONS:
        lines += ["", "", f"[{section}]", f"# {kind.__doc__}"]
        for key in (key for key in KEYS if key.section == section):
            lines += ["", f"# {key.doc}", f"{key.name} = {toml(key.default)}"]
    lines += [
        "",
        "",
        "[classes]",
        "# The classes of notes. A default class can be changed key by key; any other name adds a class.",
    ]
    lines += [f"# {key.name}: {key.doc}" for key in CLASS_KEYS]
    lines += [""]
    for klass in DEFAULT_CLASSES:
        values = ", ".join(f"{key.name} = {toml(_of_class(klass, key))}" for key in CLASS_KEYS)
        lines.append(f"{klass.name} = {{ {values} }}")
    return "\n".join(lines) + "\n"


def reference() -> str:
    """The tables of docs/configuration.md: every key."""
    lines: list[str] = []
    for section, kind in SECTIONS:
        lines += [f"### `[{section}]`", "", f"{kind.__doc__}", ""]
        lines += ["| key | variable | default | valid values | what it does |", "|---|---|---|---|---|"]
        lines += [
            f"| `{key.name}` | `{key.variable}` | `{toml(key.default)}` | {key.check.wanted} | {key.doc} |"
            for key in KEYS
            if key.section == section
        ]
        lines.append("")
    lines += ["### `[classes.NAME]`", "", "The classes of notes, and how each ages. Only in the file.", ""]
    lines += ["| key | default | valid values | what it does |", "|---|---|---|---|"]
    lines += [f"| `{k.name}` | `{toml(k.default)}` | {k.check.wanted} | {k.doc} |" for k in CLASS_KEYS]
    lines += ["", f"| class | {' | '.join(key.name for key in CLASS_KEYS)} |", "|---|---|---|---|"]
    for klass in DEFAULT_CLASSES:
        cells = " | ".join(f"`{toml(_of_class(klass, key))}`" for key in CLASS_KEYS)
        lines.append(f"| `{klass.name}` | {cells} |")
    return "\n".join(lines) + "\n"


def _of_class(klass: MemoryClass, key: Key) -> Any:
    value = getattr(klass, key.name)
    return key.default if value is None else value
