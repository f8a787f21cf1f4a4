"""config.example.toml and docs/configuration.md agree with the settings in the code."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from server.config.load import Config, load
from server.config.reference import example
from server.config.settings import CLASS_KEYS, KEYS
from stilltrue.errors import BadConfig

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "config.example.toml"
DOCS = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_the_example_file_shows_every_key_with_its_default() -> None:
    """config.example.toml matches the table of keys, and loading it gives the defaults."""
    committed = EXAMPLE.read_text(encoding="utf-8")
    assert committed == example(), "run `make docs`"
    assert load(environ={}, file=EXAMPLE) == Config()
    assert all(re.search(rf"^{key.name} = ", committed, re.MULTILINE) for key in KEYS)


def test_every_key_is_documented() -> None:
    """docs/configuration.md has each key with its variable, default and valid values, as in the table of keys."""
    block = runpy.run_path(str(ROOT / "docs" / "build.py"))
    assert block["block"](DOCS).strip() == block["reference"]().strip(), "run `make docs`"
    assert all(f"| `{key.name}` | `{key.variable}` |" in DOCS for key in KEYS)
    assert all(f"| `{key.name}` |" in DOCS for key in CLASS_KEYS)


def test_the_examples_in_the_docs_are_real(tmp_path: Path) -> None:
    """The file in docs/configuration.md loads, and its error messages are those of the code."""
    shown = dict(re.findall(r"```(\w+)\n(.*?)```", DOCS, re.DOTALL))
    file = tmp_path / "config.toml"
    file.write_text(shown["toml"], encoding="utf-8")
    config = load(environ={}, file=file)
    assert (config.memory.zone, config.classes["medication"].requirement) == ("Europe/Berlin", True)
    unknown, invalid = shown["text"].splitlines()
    file.write_text("[recall]\nbudget = 5", encoding="utf-8")
    with pytest.raises(BadConfig) as refused:
        load(environ={}, file=file)
    assert unknown.split("config.toml")[1] == refused.value.message.split("config.toml")[1]
    with pytest.raises(BadConfig) as refused:
        load(environ={"STILLTRUE_RECALL_MMR_LAMBDA": "nan"})
    assert invalid == refused.value.message
