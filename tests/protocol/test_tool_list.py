"""The result of `tools/list`: seven tools that every client can read, in few tokens."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from in_process import in_process_client
from wire import ERAS, Era, wire

from bench.startup import list_tokens
from tools.support.results import ANSWERS

TOOLS = ["remember", "supersede", "revoke", "reinstate", "recall", "constraints", "feedback"]
TOKEN_LIMIT = 1_900

BREAKS = {  # what some client cannot read, and which
    "$ref": "Copilot drops the target",
    "$defs": "Copilot drops them",
    "$schema": "Gemini",
    "$dynamicRef": "VS Code",
    "anyOf": "Cursor",
    "oneOf": "Cursor",
    "allOf": "Cursor",
    "not": "Cursor",
    "const": "Gemini",
    "prefixItems": "Grok and Kimi",
    "exclusiveMinimum": "Gemini",
    "exclusiveMaximum": "Gemini",
    "multipleOf": "Gemini",
    "additionalProperties": "Gemini",
    "patternProperties": "Gemini",
    "format": "Gemini",
    "title": "no client, but it costs tokens",
    "nullable": "Anthropic",
}
FLAT = {"string", "number", "integer", "boolean", "array"}
NAME_LIMIT = 24


def complaints(tool: dict[str, Any]) -> Iterator[str]:
    """What some client could not read in this tool."""
    if not re.fullmatch(rf"[a-z_]{{1,{NAME_LIMIT}}}", tool["name"]):
        yield f"the name {tool['name']}"
    schema = tool["inputSchema"]
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        yield "the arguments are not an object with properties"
        return
    if unknown := set(schema) - {"type", "properties", "required"}:
        yield f"unexpected beside properties: {', '.join(sorted(unknown))}"
    for name, argument in schema["properties"].items():
        yield from (f"{name}: {problem}" for problem in _of_argument(argument))
    yield from (f"{name} is required and has a default" for name in schema.get("required", ())
                if "default" in schema["properties"].get(name, {"default": None}))  # fmt: skip


def _of_argument(argument: Any) -> Iterator[str]:
    if not isinstance(argument, dict):
        yield f"{argument!r} is not a schema"
        return
    yield from (f"{word} breaks {whom}" for word, whom in BREAKS.items() if word in argument)
    if str(argument.get("type")) not in FLAT:
        yield f"type {argument.get('type')!r}"
    if argument.get("type") == "array" and argument.get("items") != {"type": "string"}:
        yield f"a list of {argument.get('items')!r}"
    if "enum" in argument and not all(isinstance(each, str) for each in argument["enum"]):
        yield "an enum value that is not a string"
    if "default" in argument and argument["default"] is None:
        yield "a default of null"


def complaints_of_output(tool: dict[str, Any]) -> Iterator[str]:
    """What some client could not read in this tool's output schema."""
    schema = tool["outputSchema"]
    if unknown := set(schema) - {"type", "properties"}:
        yield f"unexpected beside properties: {', '.join(sorted(unknown))}"
    if schema["type"] != "object":
        yield f"an answer of type {schema['type']}"
    for name, field in schema["properties"].items():
        if set(field) != {"type"} or field["type"] not in {*FLAT, "object"}:
            yield f"{name}: {field!r}"


@pytest.fixture(scope="module", params=ERAS)
def listed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The tools as sent with each protocol version."""
    with wire(tmp_path_factory.mktemp("server"), "--ephemeral", era=request.param) as client:
        return list(client.ask("tools/list")["tools"])


def test_seven_tools_are_listed(listed: list[dict[str, Any]]) -> None:
    """In a fixed order, each with a title, a description and hints."""
    assert [tool["name"] for tool in listed] == TOOLS
    assert all(tool["title"] and tool["description"] and "readOnlyHint" in tool["annotations"] for tool in listed)


def test_every_client_can_read_the_schemas(listed: list[dict[str, Any]]) -> None:
    """Arguments are flat: no references, no unions, nothing that a known client fails on."""
    assert {tool["name"]: found for tool in listed if (found := list(complaints(tool)))} == {}


def test_every_argument_has_a_description(listed: list[dict[str, Any]]) -> None:
    """A model has nothing else to learn its purpose from."""
    arguments = [(tool["name"], *each) for tool in listed for each in tool["inputSchema"]["properties"].items()]
    assert [(tool, name) for tool, name, argument in arguments if not argument.get("description")] == []


def test_every_answer_has_a_flat_schema(listed: list[dict[str, Any]]) -> None:
    """The output schema lists each field with its type, and nothing nested that a client could fail to resolve."""
    assert {tool["name"]: found for tool in listed if (found := list(complaints_of_output(tool)))} == {}
    for tool in listed:
        fields = {each.name for each in dataclasses.fields(ANSWERS[tool["name"]])}
        assert set(tool["outputSchema"]["properties"]) == fields


@pytest.mark.parametrize("era", ERAS)
def test_without_structured_content_no_output_schema_is_published(tmp_path: Path, era: Era) -> None:
    """A client would reject an answer that lacks the structured content its schema promises."""
    with wire(tmp_path, "--ephemeral", "--set", "server.structured=false", era=era) as client:
        assert [tool for tool in client.ask("tools/list")["tools"] if "outputSchema" in tool] == []


@pytest.mark.parametrize("era", ERAS)
def test_answers_match_their_published_schema(era: Era) -> None:
    """Full, empty and repeated answers validate, both strictly here and in the SDK's client."""
    with in_process_client(era) as client:
        assert client.tools() == TOOLS
        schemas = {each.name: each.output_schema for each in client.portal.call(client.client.list_tools).tools}
        requirement = {"text": "Never force-push.", "klass": "hard_preference"}
        note = client.done("remember", **requirement)["id"]
        calls: list[tuple[str, dict[str, Any]]] = [
            ("remember", requirement),
            ("supersede", {"note_ids": [note], "text": "Never force-push to main."}),
            ("revoke", {"note_id": note, "reason": "a joke"}),
            ("reinstate", {"note_id": note}),
            ("recall", {"query": "push"}),
            ("recall", {"query": "zebra", "subjects": ["nobody"]}),
            ("constraints", {}),
            ("feedback", {"note_ids": [note], "outcome": "helped"}),
        ]
        for tool, arguments in calls:
            strict = {**schemas[tool], "additionalProperties": False}
            jsonschema.validate(client.done(tool, **arguments), strict)


def test_the_list_stays_within_its_token_limit(listed: list[dict[str, Any]]) -> None:
    """Every conversation pays for the list, so it stays under 1,900 tokens."""
    assert list_tokens(listed) < TOKEN_LIMIT


def test_hints_mark_the_tools_that_read_and_that_retire(listed: list[dict[str, Any]]) -> None:
    """Clients may run read-only tools without asking, and ask before destructive ones."""
    hints = {tool["name"]: tool["annotations"] for tool in listed}
    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == {"recall", "constraints"}
    assert {name for name, hint in hints.items() if hint.get("destructiveHint")} == {"supersede", "revoke"}


@pytest.mark.parametrize(
    "argument",
    [
        {"$ref": "#/$defs/Kind"},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": ["string", "null"]},
        {"type": "object", "properties": {}},
        {"type": "integer", "exclusiveMinimum": 0},
        {"type": "string", "title": "Text"},
        {"type": "string", "default": None},
        {"type": "array", "items": {"type": "object"}},
        {"type": "array"},
        {"type": "integer", "enum": [1, 2]},
        {"type": "string", "const": "x"},
        {"type": "string", "format": "uri"},
        True,
    ],
)
def test_the_lint_finds_each_unreadable_construct(argument: Any) -> None:
    """Otherwise its silence would prove nothing."""
    assert list(complaints({"name": "recall", "inputSchema": {"type": "object", "properties": {"x": argument}}}))
