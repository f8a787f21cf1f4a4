"""The settings as people read them: the text of config.example.toml and the tables of docs/configuration.md."""

from __future__ import annotations

from typing import Any

from server.config.settings import CLASS_KEYS, KEYS, SECTIONS, Key, toml
from stilltrue.classes import DEFAULT_CLASSES, MemoryClass


def example() -> str:
    """The text of config.example.toml: every key at its default, the classes included."""
    lines = [
        "# Every setting of stilltrue at its default. What you change belongs in a file of your own: config.toml",
        "# in the user's configuration folder, or the one that --config or STILLTRUE_CONFIG names. A variable",
        "# (STILLTRUE_RECALL_BUDGET_TOKENS=800) wins over the file, a flag over both. See docs/configuration.md.",
    ]
    for section, kind in SECTIONS:
        lines += ["", "", f"[{section}]", f"# {kind.__doc__}"]
        for key in (key for key in KEYS if key.section == section):
            lines += ["", f"# {key.doc}", f"{key.name} = {toml(key.default)}"]
    lines += [
        "",
        "",
        "[classes]",
        "# What a note can be. A class of this name is changed key by key, any other is added.",
    ]
    lines += [f"# {key.name}: {key.doc}" for key in CLASS_KEYS]
    lines += [""]
    for klass in DEFAULT_CLASSES:
        values = ", ".join(f"{key.name} = {toml(_of_class(klass, key))}" for key in CLASS_KEYS)
        lines.append(f"{klass.name} = {{ {values} }}")
    return "\n".join(lines) + "\n"


def reference() -> str:
    """Every key as the tables of docs/configuration.md."""
    lines: list[str] = []
    for section, kind in SECTIONS:
        lines += [f"### `[{section}]`", "", f"{kind.__doc__}", ""]
        lines += ["| key | variable | default | has to be | what it does |", "|---|---|---|---|---|"]
        lines += [
            f"| `{key.name}` | `{key.variable}` | `{toml(key.default)}` | {key.check.wanted} | {key.doc} |"
            for key in KEYS
            if key.section == section
        ]
        lines.append("")
    lines += ["### `[classes.NAME]`", "", "What a note can be, and how it ages. In the file only.", ""]
    lines += ["| key | default | has to be | what it does |", "|---|---|---|---|"]
    lines += [f"| `{k.name}` | `{toml(k.default)}` | {k.check.wanted} | {k.doc} |" for k in CLASS_KEYS]
    lines += ["", f"| class | {' | '.join(key.name for key in CLASS_KEYS)} |", "|---|---|---|---|"]
    for klass in DEFAULT_CLASSES:
        cells = " | ".join(f"`{toml(_of_class(klass, key))}`" for key in CLASS_KEYS)
        lines.append(f"| `{klass.name}` | {cells} |")
    return "\n".join(lines) + "\n"


def _of_class(klass: MemoryClass, key: Key) -> Any:
    value = getattr(klass, key.name)
    return key.default if value is None else value
