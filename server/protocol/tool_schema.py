"""Tool schemas that every client can read: flat, without references, titles, or unions with null."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any, get_origin, get_type_hints

_NOISE = frozenset({"title", "$defs", "$schema"})


def portable(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with references inlined and null branches, null defaults and titles dropped.

    Some clients drop the whole tool list because of one `$ref` or one union with null; see docs/clients.md. An
    optional argument is simply not required; the server still accepts null for it.
    """
    plain: dict[str, Any] = _plain(schema, schema.get("$defs", {}))
    return plain


_JSON = MappingProxyType({str: "string", bool: "boolean", int: "integer", float: "number"})


def answer_schema(kind: type) -> dict[str, Any]:
    """The schema of an answer from its dataclass: each field with its type; nested values are just objects or arrays.

    No field is required, because empty fields are often left out, and the schema has to stay short.
    """
    hints = get_type_hints(kind)
    return {"type": "object", "properties": {each.name: _field_schema(hints[each.name]) for each in fields(kind)}}


def _field_schema(hint: Any) -> dict[str, Any]:
    if get_origin(hint) is tuple:
        return {"type": "array"}
    return {"type": "object" if is_dataclass(hint) else _JSON[hint]}


def _plain(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_plain(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = definitions[schema["$ref"].rsplit("/", 1)[-1]]
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    if "anyOf" in schema:
        branches = [branch for branch in schema["anyOf"] if branch.get("type") != "null"]
        if len(branches) == 1:
            schema = {**branches[0], **{key: value for key, value in schema.items() if key != "anyOf"}}
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NOISE or (key == "default" and value is None):
            continue
        if key == "properties":
            plain[key] = {name: _plain(inner, definitions) for name, inner in value.items()}
        else:
            plain[key] = _plain(value, definitions)
    return plain
