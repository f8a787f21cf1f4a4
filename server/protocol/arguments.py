"""Arguments as clients really send them: lists as text, blanks for what is not set, numbers as strings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

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
"""By the name of an argument, the names that models guess for it. One that a tool has itself is never an alias."""

COUNTS = frozenset({"limit", "k", "n", "top_k", "count", "max_results", "num_results", "n_results"})
"""What models call the most that a search may return: results where it is small, tokens where it is not."""

LEAST_TOKENS = 50
"""Below this a `limit` is a number of results: no chain has so few tokens, and no answer so many results."""


def renamed(arguments: Mapping[str, Any], tool: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the names that the tool has for them; what is none of its aliases keeps its name.

    An alias stands in for a name that is absent or blank. Raises Refused where both are given and differ.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    kept = {name: value for name, value in arguments.items() if name in properties and _canonical(name) not in COUNTS}
    for name, value in arguments.items():
        if name in kept:
            continue
        real = _meant(name, value, kept, properties)
        if real is None:
            kept[name] = value
        elif _blank(kept.get(real)):
            kept[real] = value
        elif not _blank(value) and _words(kept[real]) != _words(value):
            raise Refused(
                "two_names",
                f"{real} is {_shown(kept[real])}, and {name}, another name for it, is {_shown(value)}.",
                f"Send {real} alone. {tool} has written nothing.",
            )
    return kept


def _meant(name: str, value: Any, given: Mapping[str, Any], properties: Mapping[str, Any]) -> str | None:
    """The argument that is meant by a name, None where it is none or one of several that are missing."""
    canonical = _canonical(name)
    if canonical in COUNTS and "limit" in properties:
        return "budget_tokens" if (_number(value) or 0) >= LEAST_TOKENS else "limit"
    if canonical in properties:
        return canonical
    meant = [real for real, aliases in ALIASES.items() if canonical in aliases and real in properties]
    missing = [real for real in meant if _blank(given.get(real))]
    if len(missing) > 1:
        return None
    return next(iter(missing or meant), None)


def _canonical(name: str) -> str:
    """`noteId`, `note-id` and `Note_ID` as the table spells it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _blank(value: Any) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _words(value: Any) -> Any:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def tidied(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with blanks of optional ones dropped and a lone value where a list is wanted made a list.

    `schema` is the tool's input schema. What it does not name is passed on, to be refused by name.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    tidy: dict[str, Any] = {}
    for name, value in arguments.items():
        wanted = properties.get(name, {}).get("type")
        if name not in required and _blank(value):
            continue
        lone = name == "note_id" and isinstance(value, list) and len(value) == 1
        tidy[name] = _as_list(value) if wanted == "array" else value[0] if lone else value
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
        except RecursionError:  # brackets in brackets, thousands deep: no list of ours
            return [value]
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
            is_or_holds = "holds" if len(each["loc"]) > 1 else "is"
            said.append(f"{name} {is_or_holds} {_shown(each['input'])}; it has to be {_article(kind)}.")
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


def _shown(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."


def _article(kind: str) -> str:
    return {
        "array": "a list of strings",
        "string": "a text",
        "number": "a number",
        "integer": "a whole number",
        "boolean": "true or false",
    }.get(kind, kind or "something else")
