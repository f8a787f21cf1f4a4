"""Loads flags, environment variables and a TOML file into one frozen `Config`; the rest are defaults.

This module is cheap to import, since every process does so first.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from server.config.settings import (
    CLASS_KEYS,
    KEYS,
    PREFIX,
    SECTIONS,
    EmbeddingSection,
    HttpSection,
    Key,
    MemorySection,
    RecallSection,
    RequirementsSection,
    ServerSection,
    StoreSection,
    toml,
)
from server.config.validators import CLASS_NAME
from stilltrue.classes import DEFAULT_CLASSES, Classes, MemoryClass
from stilltrue.errors import BadConfig

FILE_VARIABLE = f"{PREFIX}CONFIG"
"""The environment variable that names the file."""

_VARIABLE = "environment variable"
_SWITCHES = MappingProxyType(
    dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(("false", "0", "no", "off"), False)
)


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of a process. `file` is the configuration file that was read, or None."""

    store: StoreSection = field(default_factory=StoreSection)
    embedding: EmbeddingSection = field(default_factory=EmbeddingSection)
    memory: MemorySection = field(default_factory=MemorySection)
    recall: RecallSection = field(default_factory=RecallSection)
    requirements: RequirementsSection = field(default_factory=RequirementsSection)
    server: ServerSection = field(default_factory=ServerSection)
    http: HttpSection = field(default_factory=HttpSection)
    classes: Classes = field(default_factory=Classes)
    file: Path | None = field(default=None, compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """Sentences about what was ignored, for stderr."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A value that was set, and where."""

    value: Any
    where: str


def load(
    flags: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    file: str | Path | None = None,
) -> Config:
    """The settings of this process. Flags override environment variables, which override the file.

    `flags` maps "section.key" to text; `environ` defaults to `os.environ`. The file is `file` (from `--config`), or
    the one in STILLTRUE_CONFIG, or `config.toml` in the user's configuration folder if it exists. Every value is
    checked, even if another source overrides it. An environment variable with our prefix that is not a setting is
    ignored with a warning: other programs may have set it, for us or for a client. Raises BadConfig with one line
    that names the key, where it is set, and what was expected.
    """
    environ = os.environ if environ is None else environ
    ours = {name: environ[name] for name in environ if name.startswith(PREFIX) and name != FILE_VARIABLE}
    path, tables = _read_file(file, environ)
    classes = Classes(_classes(tables.pop("classes", {}), path))
    given = dict(_from_tables(tables, path))
    variables = {key.variable: key for key in KEYS}
    given |= _from_texts({name: ours[name] for name in ours if name in variables}, variables, _VARIABLE)
    given |= _from_texts(flags or {}, {key.dotted: key for key in KEYS}, "flag")
    _agree(given, classes)
    sections: dict[str, Any] = {}
    for section, kind in SECTIONS:
        own = [key for key in KEYS if key.section == section and key.dotted in given]
        sections[section] = kind(**{key.name: given[key.dotted].value for key in own})
    warnings = [_unknown(name, variables, f"{_VARIABLE} {name}").message for name in ours if name not in variables]
    return Config(
        **sections, classes=classes, file=path, warnings=tuple(f"{each} It is ignored." for each in warnings)
    )


def _read_file(named: str | Path | None, environ: Mapping[str, str]) -> tuple[Path | None, dict[str, Any]]:
    by = "--config" if named is not None else FILE_VARIABLE
    named = environ.get(FILE_VARIABLE) or None if named is None else named
    try:
        path = _default_file() if named is None else Path(named).expanduser()
        # Editors on Windows begin a file with a byte order mark, which TOML does not allow.
        return path, tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError) as error:
        if named is None:
            return None, {}
        raise _bad(by, f"there is no file {named}", "Name an existing file, or none.") from error
    except tomllib.TOMLDecodeError as error:
        raise _bad(str(path), f"not valid TOML: {error}", "See config.example.toml for the format.") from error
    except UnicodeDecodeError as error:
        raise _bad(str(path), "not valid UTF-8", "Save the file as UTF-8.") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise _bad(by, f"the file cannot be read: {error}", "Name a readable file.") from error


def _default_file() -> Path:
    import platformdirs

    return platformdirs.user_config_path("stilltrue", appauthor=False) / "config.toml"


def _from_tables(tables: Mapping[str, Any], path: Path | None) -> Iterator[tuple[str, _Given]]:
    known = {key.dotted: key for key in KEYS}
    names = [section for section, _ in SECTIONS]
    for section, table in tables.items():
        if not isinstance(table, dict):
            raise _unknown(section, names if section in names else known, f"{path}, above the sections")
        if section not in names:
            raise _unknown(f"[{section}]", [f"[{name}]" for name in [*names, "classes.NAME"]], str(path))
        where = f"{path}, section [{section}]"
        for name, value in table.items():
            if (dotted := f"{section}.{name}") not in known:
                raise _unknown(dotted, known, where)
            yield dotted, _Given(_checked(dotted, known[dotted], value, where), where)


def _from_texts(texts: Mapping[str, str], known: Mapping[str, Key], what: str) -> Iterator[tuple[str, _Given]]:
    for name, text in texts.items():
        where = f"{what} {name}"
        if name not in known:
            raise _unknown(name, known, where)
        yield known[name].dotted, _Given(_read_text(known[name], text, where), where)


def _classes(tables: Any, path: Path | None) -> Iterable[MemoryClass]:
    by_name = {klass.name: klass for klass in DEFAULT_CLASSES}
    known = {key.name: key for key in CLASS_KEYS}
    if not isinstance(tables, dict):
        raise _bad(str(path), "classes is not a table", "Write a class as [classes.NAME].")
    for name, table in tables.items():
        where = f"{path}, section [classes.{name}]"
        if not isinstance(table, dict):
            raise _bad(where, f"classes.{name} is not a table", "Write a class as [classes.NAME].")
        if not CLASS_NAME.holds(name):
            raise _bad(where, f"a class name has to be {CLASS_NAME.wanted}, not {name!r}", "Rename the class.")
        changed = {}
        for key, value in table.items():
            if key not in known:
                raise _unknown(f"classes.{name}.{key}", [f"classes.{name}.{each}" for each in known], where)
            changed[key] = _checked(f"classes.{name}.{key}", known[key], value, where)
        if changed.get("half_life_days") == float("inf"):
            changed["half_life_days"] = None
        by_name[name] = replace(by_name.get(name) or MemoryClass(name), **changed)
    return by_name.values()


def _agree(given: Mapping[str, _Given], classes: Classes) -> None:
    """Check settings that have to agree with each other."""
    chosen = given.get("memory.default_class")
    if chosen and chosen.value not in classes:
        raise _unknown(chosen.value, classes, f"memory.default_class ({chosen.where})", "class")
    weights = {key.dotted: key.default for key in KEYS if key.name.startswith("weight_")}
    weights |= {name: given[name].value for name in weights if name in given}
    if not any(weights.values()):
        where = "; ".join(given[name].where for name in weights)
        raise _bad(where, f"{', '.join(weights)} are all 0", "Set at least one of them above 0.")


def _read_text(key: Key, text: str, where: str) -> Any:
    kind = key.check.kind
    try:
        value = _SWITCHES.get(text.strip().lower(), text) if kind is bool else kind(text)
    except ValueError:
        value = text
    return _checked(key.dotted, key, value, where)


def _checked(name: str, key: Key, value: Any, where: str) -> Any:
    check = key.check
    try:
        typed = float(value) if check.kind is float and type(value) is int else value
        typed = check.tidy(typed) if type(typed) is check.kind else typed
        if type(typed) is check.kind and check.holds(typed):
            return typed
    except OverflowError:  # an integer too large for a float
        pass
    shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."
    raise _bad(where, f"{name} has to be {check.wanted}, not {shown}", f"The default is {toml(key.default)}.")


def _unknown(name: str, known: Iterable[str], where: str, what: str = "setting") -> BadConfig:
    from difflib import get_close_matches

    known = list(known)
    near = get_close_matches(name, known, 1, 0.5)
    closest = f"the closest name is {near[0]}" if near else f"the known names are {', '.join(known)}"
    return _bad(where, f"unknown {what} {name}; {closest}", "Correct or remove it.")


def _bad(where: str, what: str, hint: str) -> BadConfig:
    """The error as a single line, even if a name or value contains line breaks."""
    return BadConfig(" ".join(f"{where}: {what}.".split()), hint)
