"""Arguments as clients really send them: lists as text, blanks for what is not set, numbers as strings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError


def tidied(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with blanks of optional ones dropped and a lone value where a list is wanted made a list.

    `schema` is the tool's input schema. What it does not name is passed on, to be refused by name.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    tidy: dict[str, Any] = {}
    for name, value in arguments.items():
        wanted = properties.get(name, {}).get("type")
        if name not in required and (value is None or value == [] or (isinstance(value, str) and not value.strip())):
            continue
        tidy[name] = _as_list(value) if wanted == "array" else value
    return tidy


def _as_list(value: Any) -> Any:
    """A list sent as JSON text, as words between commas, or as a lone word: the list it stands for."""
    if not isinstance(value, str):
        return value if isinstance(value, list) else [value]
    if value.lstrip().startswith("["):
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = None
        if isinstance(parsed, list):
            return parsed
    return [word.strip() for word in value.strip().strip("[]").split(",")]


def explained(error: ValidationError, tool: str, schema: Mapping[str, Any]) -> str:
    """What was wrong with the arguments, each in a sentence, and what the tool takes."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    said = []
    for each in error.errors():
        name = str(each["loc"][0]) if each["loc"] else "arguments"
        wanted = properties.get(str(each["loc"][0]), {}) if each["loc"] else {}
        kind = " or ".join(wanted["enum"]) if "enum" in wanted else wanted.get("type", "")
        if each["type"] == "missing":
            said.append(f"{name} is missing; it is {_article(kind)}.")
        else:
            given = repr(each["input"])
            given = given if len(given) <= 60 else f"{given[:57]}..."
            is_or_holds = "holds" if len(each["loc"]) > 1 else "is"
            said.append(f"{name} {is_or_holds} {given}; it has to be {_article(kind)}.")
    takes = ", ".join(name if name in schema.get("required", ()) else f"{name} (optional)" for name in properties)
    return f"{' '.join(said)} {tool} takes: {takes}. Nothing was written."


def unknown(arguments: Mapping[str, Any], tool: str, schema: Mapping[str, Any]) -> str | None:
    """A sentence about arguments that the tool does not have, or None. They are never silently ignored."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    strange = [name for name in arguments if name not in properties]
    if not strange:
        return None
    return f"{tool} has no argument {', '.join(strange)}. It takes: {', '.join(properties)}. Nothing was written."


def damaged(arguments: Mapping[str, Any]) -> str | None:
    """A sentence about the first argument in which a character was lost on the way, or None.

    The transport puts U+FFFD where there is no character: bytes that are no UTF-8, half of a surrogate pair.
    """
    for name, value in arguments.items():
        values = value if isinstance(value, list) else [value]
        if any(isinstance(each, str) and "\ufffd" in each for each in values):
            return (
                f"{name} holds U+FFFD, in place of a character that was lost on the way (half of a surrogate pair, "
                "or bytes that are no UTF-8). Send it as valid Unicode, or say it without that character. "
                "Nothing was written."
            )
    return None


def _article(kind: str) -> str:
    return {
        "array": "a list of strings",
        "string": "a text",
        "number": "a number",
        "integer": "a whole number",
        "boolean": "true or false",
    }.get(kind, kind or "something else")
