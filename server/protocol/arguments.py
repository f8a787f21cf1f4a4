"""Reads tool arguments as clients send them: under other names, as other types, or filled in although unset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from server.protocol.list_arguments import is_nothing, read_id, read_ids, read_list, read_subjects
from stilltrue.errors import Refused

ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "text": ("content", "note", "memory", "fact", "statement"),
        "note_id": ("id", "ids", "note", "note_ids", "memory_id"),
        "note_ids": ("id", "ids", "note", "notes", "note_id", "memory_id", "memory_ids", "old_id", "replaces"),
        "query": ("q", "question", "text", "search", "search_query"),
        "klass": ("class", "kind", "type", "category"),
        "subjects": ("subject", "about", "tags", "entities", "user", "user_id"),
        "budget_tokens": ("budget", "max_tokens", "token_budget", "tokens"),
        "as_of": ("date", "at", "when"),
        "include_retired": ("include_history", "include_old", "history"),
        "session": ("session_id", "conversation", "conversation_id", "thread_id"),
        "reason": ("why", "because"),
        "source": ("said_by", "author", "origin"),
        "cues": ("cue", "situations", "triggers"),
        "importance": ("priority", "salience"),
        "attribute": ("slot", "key"),
        "valid_from": ("from", "since", "start", "start_date"),
        "valid_until": ("until", "to", "end", "end_date", "expires", "expires_at"),
        "refines": ("adds_to", "extends"),
        "relation": ("link", "relationship"),
        "outcome": ("rating", "result"),
        "request_id": ("idempotency_key", "client_id"),
    }
)
"""The names that models guess for each argument. A name that the tool itself has is never an alias."""

COUNTS = frozenset({"limit", "k", "n", "top_k", "count", "max_results", "num_results", "n_results"})
"""What models call the maximum number of results of a search."""

MIN_REQUEST_ID = 8
"""A shorter request id is ignored: models that fill in every argument send "1" with each call."""

_NOW = frozenset({"now", "today", "present", "current", "currently"})
_FROM_NOW = frozenset({"valid_from", "as_of"})
"""Arguments whose default means now."""
_ZERO_IS_UNSET = frozenset({"importance", "budget_tokens"})


def renamed(arguments: Mapping[str, Any], tool: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the names of the tool's schema. An unknown name is kept.

    An alias is accepted if the argument that it stands for is absent or blank. Raises Refused if both are given and
    differ.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    kept = {name: value for name, value in arguments.items() if name in properties and _canonical(name) not in COUNTS}
    for name, value in arguments.items():
        if name in kept:
            continue
        real = _argument_of(name, kept, properties)
        if real is None:
            kept[name] = value
        elif _blank(kept.get(real)):
            kept[real] = value
        elif not _blank(value) and _texts(kept[real]) != _texts(value):
            raise Refused(
                "two_names",
                f"{real} is {_shown(kept[real])}, and {name}, another name for it, is {_shown(value)}.",
                f"Send only {real}. {tool} has written nothing.",
            )
    return kept


def _argument_of(name: str, given: Mapping[str, Any], properties: Mapping[str, Any]) -> str | None:
    """The argument that a name stands for; None if there is none, or if it could be either of two missing ones."""
    canonical = _canonical(name)
    if canonical in COUNTS and "limit" in properties:
        return "limit"
    if canonical in properties:
        return canonical
    candidates = [real for real, aliases in ALIASES.items() if canonical in aliases and real in properties]
    missing = [real for real in candidates if _blank(given.get(real))]
    if len(missing) > 1:
        return None
    return next(iter(missing or candidates), None)


def _canonical(name: str) -> str:
    """`noteId`, `note-id` and `Note_ID` in the spelling of the table."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")


def _blank(value: Any) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def tidied(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those that are unset, and with lists and ids read as `list_arguments` describes.

    Models in strict mode have to send every argument, so these count as unset where an argument is optional: blanks,
    empty lists, "null", "None" and "undefined"; 0 for `importance` and `budget_tokens`; "now" and "today" for
    `valid_from` and `as_of`; and a `request_id` of less than MIN_REQUEST_ID characters.

    `schema` is the tool's input schema. Unknown names are kept. Raises Refused if a number is true or false.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    tidy: dict[str, Any] = {}
    for name, value in arguments.items():
        kind = properties.get(name, {}).get("type")
        read = _read(name, value, kind)
        unset = _is_unset(name, read) if name in properties else _blank(value)
        if name in required or not unset:
            tidy[name] = read
    return tidy


def _read(name: str, value: Any, kind: str | None) -> Any:
    """The value of an argument, with lists and ids taken out of what surrounds them."""
    if name == "subjects" and kind == "array":
        return read_subjects(value)
    if name == "note_ids" and kind == "array":
        return read_ids(value)
    if kind == "array":
        return read_list(value)
    if name in ("note_id", "refines"):
        return read_id(value)
    if name == "request_id" and isinstance(value, int):
        return str(value)
    if kind in ("number", "integer") and isinstance(value, bool):
        raise Refused(
            f"bad_{name}",
            f"{name} is {str(value).lower()}; it has to be {_article(kind)}.",
            f"Send a number, or leave {name} out. Nothing was written.",
        )
    return value


def _is_unset(name: str, value: Any) -> bool:
    """Whether this value of an optional argument means that it is not set."""
    if is_nothing(value):
        return True
    text = value.strip().casefold() if isinstance(value, str) else None
    if name == "request_id":
        return text is not None and len(text) < MIN_REQUEST_ID
    if name in _ZERO_IS_UNSET:
        return value == 0 or text in ("0", "0.0")
    return name in _FROM_NOW and text in _NOW


def explained(error: ValidationError, tool: str, schema: Mapping[str, Any]) -> str:
    """A sentence for each wrong argument, and what the tool takes."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    sentences = []
    for each in error.errors():
        name = str(each["loc"][0]) if each["loc"] else "arguments"
        expected = properties.get(name, {})
        kind = " or ".join(expected["enum"]) if "enum" in expected else expected.get("type", "")
        if each["type"] == "missing":
            sentences.append(f"{name} is missing; it is {_article(kind)}.")
        else:
            verb = "holds" if len(each["loc"]) > 1 else "is"
            sentences.append(f"{name} {verb} {_shown(each['input'])}; it has to be {_article(kind)}.")
    takes = ", ".join(name if name in schema.get("required", ()) else f"{name} (optional)" for name in properties)
    return f"{' '.join(sentences)} {tool} takes: {takes}. Nothing was written."


def unknown(arguments: Mapping[str, Any], tool: str, schema: Mapping[str, Any]) -> str | None:
    """A sentence about arguments that the tool does not have, or None. They are never silently ignored."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    names = [name for name in arguments if name not in properties]
    if not names:
        return None
    return f"{tool} has no argument {', '.join(names)}. It takes: {', '.join(properties)}. Nothing was written."


def damaged(arguments: Mapping[str, Any]) -> str | None:
    """A sentence about the first argument in which a character was lost in transit, or None.

    The transport puts U+FFFD in place of bytes that are not UTF-8 and of half a surrogate pair.
    """
    for name, value in arguments.items():
        values = value if isinstance(value, list) else [value]
        if any(isinstance(each, str) and "\ufffd" in each for each in values):
            return (
                f"{name} holds U+FFFD, in place of a character that was lost in transit (half of a surrogate pair, "
                "or bytes that are not UTF-8). Send it as valid Unicode, or leave that character out. "
                "Nothing was written."
            )
    return None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _article(kind: str) -> str:
    return {
        "array": "a list of strings",
        "string": "a text",
        "number": "a number",
        "integer": "a whole number",
        "boolean": "true or false",
    }.get(kind, kind or "something else")
