"""What `tools/list` sends: seven tools that every client can read, in few tokens."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from in_process import inside
from wire import ERAS, Era, wire

from bench.startup import list_tokens
from tools.support.results import ANSWERS

TOOLS = ["remember", "supersede", "revoke", "reinstate", "recall", "constraints", "feedback"]
MOST_TOKENS = 1_900

BREAKS = {  # what a client cannot read, and one of those that break over it
    "$ref": "Copilot drops what it points to",
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
    "title": "nobody, and it costs tokens",
    "nullable": "Anthropic",
}
FLAT = {"string", "number", "integer", "boolean", "array"}
LONGEST_NAME = 24


def complaints(tool: dict[str, Any]) -> Iterator[str]:
    """What some client could not read in a tool."""
    if not re.fullmatch(rf"[a-z_]{{1,{LONGEST_NAME}}}", tool["name"]):
        yield f"the name {tool['name']}"
    schema = tool["inputSchema"]
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        yield "the arguments are no object with properties"
        return
    if unknown := set(schema) - {"type", "properties", "required"}:
        yield f"beside the properties: {', '.join(sorted(unknown))}"
    for name, argument in schema["properties"].items():
        yield from (f"{name}: {said}" for said in _of_argument(argument))
    yield from (f"{name} is required and has a default" for name in schema.get("required", ())
                if "default" in schema["properties"].get(name, {"default": None}))  # fmt: skip


def _of_argument(argument: Any) -> Iterator[str]:
    if not isinstance(argument, dict):
        yield f"{argument!r} is no schema"
        return
    yield from (f"{word} breaks {whom}" for word, whom in BREAKS.items() if word in argument)
    if str(argument.get("type")) not in FLAT:
        yield f"type {argument.get('type')!r}"
    if argument.get("type") == "array" and argument.get("items") != {"type": "string"}:
        yield f"a list of {argument.get('items')!r}"
    if "enum" in argument and not all(isinstance(each, str) for each in argument["enum"]):
        yield "a choice that is no text"
    if "default" in argument and argument["default"] is None:
        yield "null as the default"


def complaints_of_output(tool: dict[str, Any]) -> Iterator[str]:
    """What some client could not read in the schema of a tool's answer."""
    schema = tool["outputSchema"]
    if unknown := set(schema) - {"type", "properties"}:
        yield f"beside the properties: {', '.join(sorted(unknown))}"
    if schema["type"] != "object":
        yield f"an answer of type {schema['type']}"
    for name, field in schema["properties"].items():
        if set(field) != {"type"} or field["type"] not in {*FLAT, "object"}:
            yield f"{name}: {field!r}"


@pytest.fixture(scope="module", params=ERAS)
def listed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The tools as they are sent, in each era."""
    with wire(tmp_path_factory.mktemp("server"), "--ephemeral", era=request.param) as client:
        return list(client.ask("tools/list")["tools"])


def test_seven_tools_are_listed(listed: list[dict[str, Any]]) -> None:
    """The seven verbs, in the order in which they are thought of, each with a title and hints."""
    assert [tool["name"] for tool in listed] == TOOLS
    assert all(tool["title"] and tool["description"] and "readOnlyHint" in tool["annotations"] for tool in listed)


def test_every_client_can_read_the_schemas(listed: list[dict[str, Any]]) -> None:
    """All arguments are flat: no references, no unions, nothing that a known client chokes on."""
    assert {tool["name"]: found for tool in listed if (found := list(complaints(tool)))} == {}


def test_every_argument_is_explained(listed: list[dict[str, Any]]) -> None:
    """An argument says what it is for, in its description."""
    arguments = [(tool["name"], *each) for tool in listed for each in tool["inputSchema"]["properties"].items()]
    assert [(tool, name) for tool, name, argument in arguments if not argument.get("description")] == []


def test_every_answer_has_a_schema_of_one_level(listed: list[dict[str, Any]]) -> None:
    """Each field of an answer is there with its type, and nothing below it that a client could fail to resolve."""
    assert {tool["name"]: found for tool in listed if (found := list(complaints_of_output(tool)))} == {}
    for tool in listed:
        fields = {each.name for each in dataclasses.fields(ANSWERS[tool["name"]])}
        assert set(tool["outputSchema"]["properties"]) == fields


@pytest.mark.parametrize("era", ERAS)
def test_without_structured_content_there_is_no_schema_of_it(tmp_path: Path, era: Era) -> None:
    """A client that was promised structured content and gets none would refuse the answer."""
    with wire(tmp_path, "--ephemeral", "--set", "server.structured=false", era=era) as client:
        assert [tool for tool in client.ask("tools/list")["tools"] if "outputSchema" in tool] == []


@pytest.mark.parametrize("era", ERAS)
def test_what_is_sent_is_valid_by_the_schema(era: Era) -> None:
    """The SDK's client holds each answer to the schema that was published, full, empty and repeated ones alike."""
    with inside(era) as client:
        assert client.tools() == TOOLS
        schemas = {each.name: each.output_schema for each in client.portal.call(client.client.list_tools).tools}
        rule = {"text": "Never force-push.", "klass": "hard_preference"}
        note = client.done("remember", **rule)["id"]
        calls: list[tuple[str, dict[str, Any]]] = [
            ("remember", rule),
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


def test_the_list_costs_few_tokens(listed: list[dict[str, Any]]) -> None:
    """The whole list, as it is sent, stays under 1,900 tokens: every conversation pays for it."""
    assert list_tokens(listed) < MOST_TOKENS


def test_what_only_reads_says_so(listed: list[dict[str, Any]]) -> None:
    """A client may run the two that read without asking, and asks before the two that retire."""
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
def test_a_breach_is_seen(argument: Any) -> None:
    """The lint complains of each construct that it is there for, so that its silence means something."""
    assert list(complaints({"name": "recall", "inputSchema": {"type": "object", "properties": {"x": argument}}}))
