"""Reads a line of JSON-RPC into messages for the SDK, or into error replies for what the SDK would silently drop."""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import TypeAdapter, ValidationError

BATCHING_VERSION = "2025-03-26"
"""The one protocol version that has batches."""

_JSON: TypeAdapter[Any] = TypeAdapter(Any)
"""The parser of the SDK, with its limits: what it reads, the SDK can read too."""
_BOM = b"\xef\xbb\xbf"
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)"
)
_REPLACEMENT = rb"\ufffd"
_TOKENS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}:,]|[^\s\[\]{}:,"]++', re.DOTALL)
_MAX_TOKENS = 200_000
_MAX_ID_LENGTH = 300
_LEGACY_ENCODINGS = ("cp932", "cp950", "gb18030")
"""Encodings in which the second byte of a character can be a backslash."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a line holds: messages to pass on, and error replies to send at once. Both are empty for a blank line.

    In a `batch`, the replies to its requests and its errors belong in one array.
    """

    messages: tuple[JSONRPCMessage, ...] = ()
    errors: tuple[dict[str, Any], ...] = ()
    batch: bool = False


def read_line(raw: bytes, *, batches: bool = False) -> Line:
    """Read one line. Never raises: a line that is not JSON-RPC yields an error reply with the request's id, if any.

    A byte-order mark is skipped. An escaped half of a surrogate pair and bytes that are not UTF-8 become U+FFFD.
    `batches` says whether the agreed protocol version has batches.
    """
    raw = raw.removeprefix(_BOM)
    text = (_ESCAPES.sub(_without_half_pairs, raw) if b"\\u" in raw else raw).decode("utf-8", "replace")
    if not text.strip():
        return Line()
    try:
        parsed = _JSON.validate_json(text)
    except ValidationError as error:
        what = error.errors()[0]["ctx"]["error"]
        encoding = "" if _is_utf8(raw) else " The line is not valid UTF-8."
        return Line(errors=(error_reply(_readable_id(raw), PARSE_ERROR, f"Parse error: {what}.{encoding}"),))
    if isinstance(parsed, list):
        return _batch(parsed) if batches else _refused_batch(parsed)
    return _single(parsed)


def error_reply(request_id: Any, code: int, message: str) -> dict[str, Any]:
    """A JSON-RPC error response. An id of null means that the request's id could not be read."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def _without_half_pairs(escape: re.Match[bytes]) -> bytes:
    return _REPLACEMENT if len(escape[0]) == len(_REPLACEMENT) else escape[0]


def _single(parsed: Any) -> Line:
    if problem := _problem(parsed):
        return Line(errors=(_invalid(parsed, problem),))
    kind = _kind(parsed)
    try:
        return Line(messages=(kind.model_validate(parsed, by_name=False),))
    except ValidationError:
        return Line(errors=(_invalid(parsed, f"this is not a valid {kind.__name__}"),))


def _batch(parsed: list[Any]) -> Line:
    if not parsed:
        return Line(errors=(_invalid(parsed, "a batch must not be empty"),))
    lines = []
    for each in parsed:
        handshake = isinstance(each, dict) and each.get("method") == "initialize"
        lines.append(
            Line(errors=(_invalid(each, "initialize must not be part of a batch"),)) if handshake else _single(each)
        )
    return Line(
        tuple(message for line in lines for message in line.messages),
        tuple(error for line in lines for error in line.errors),
        batch=True,
    )


def _refused_batch(parsed: list[Any]) -> Line:
    """An error for each request in the batch, so that no caller is left waiting; one without an id if it has none."""
    problem = "the agreed protocol version has no batches; send one message per line"
    errors = [_invalid(each, problem) for each in parsed]
    return Line(errors=tuple(each for each in errors if each["id"] is not None) or (_invalid(parsed, problem),))


def _problem(parsed: Any) -> str | None:
    """What makes a JSON value something else than a JSON-RPC message, or None."""
    if not isinstance(parsed, dict):
        return "a message has to be an object"
    if parsed.get("jsonrpc") != "2.0":
        return 'jsonrpc has to be "2.0"'
    null_id = "method" not in parsed and "error" in parsed and parsed.get("id") is None
    if "id" in parsed and not null_id and (isinstance(parsed["id"], bool) or not isinstance(parsed["id"], int | str)):
        return "id has to be a string or a whole number"
    if "method" in parsed:
        if not isinstance(parsed["method"], str):
            return "method has to be a string"
        if not isinstance(parsed.get("params"), dict | None):
            return "params has to be an object"
    elif not ("result" in parsed or "error" in parsed):
        return "a request needs a method"
    return None


def _kind(
    parsed: dict[str, Any],
) -> type[JSONRPCRequest] | type[JSONRPCNotification] | type[JSONRPCResponse] | type[JSONRPCError]:
    if "method" in parsed:
        return JSONRPCRequest if "id" in parsed else JSONRPCNotification
    return JSONRPCResponse if "result" in parsed else JSONRPCError


def _invalid(parsed: Any, problem: str) -> dict[str, Any]:
    # The id of a response is ours: sent back, the client would take the error for the answer to a call of its own.
    is_response = isinstance(parsed, dict) and "method" not in parsed and ("result" in parsed or "error" in parsed)
    request_id = parsed.get("id") if isinstance(parsed, dict) and not is_response else None
    return error_reply(request_id if _is_id(request_id) else None, INVALID_REQUEST, f"Invalid request: {problem}.")


def _is_id(value: Any) -> bool:
    """Whether a client can recognize this id in a reply. JSON-RPC allows fractions, though MCP does not."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int | str) and not isinstance(value, bool)


def _readable_id(raw: bytes) -> Any:
    """The id of a request that cannot be parsed, or None."""
    for text in _decodings(raw):
        if (found := _scanned_id(text)) is not None:
            return found
    return None


def _decodings(raw: bytes) -> Iterator[str]:
    """The text of a line, or several guesses at it if it is not UTF-8: a backslash may belong to a character."""
    if _is_utf8(raw):
        yield raw.decode()
        return
    for encoding in _LEGACY_ENCODINGS:
        with suppress(UnicodeDecodeError):
            yield raw.decode(encoding)
    yield raw.decode("utf-8", "replace").replace("\ufffd\\", "\ufffd")


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _scanned_id(text: str) -> Any:
    """The value of the outermost object's key "id", found by its tokens; None without one.

    It needs no valid JSON, so raw control characters, deep nesting and a torn end do not matter.
    """
    depth, before = 0, deque(("", "", ""), maxlen=3)
    for match in islice(_TOKENS.finditer(text), _MAX_TOKENS):
        token = match[0]
        if depth == 1 and before[0] in ("{", ",") and before[1] == '"id"' and before[2] == ":":
            return _id_of(token)
        depth += (token in ("{", "[")) - (token in ("}", "]"))
        before.append(token)
    return None


def _id_of(token: str) -> Any:
    try:
        value = json.loads(token, strict=False) if len(token) <= _MAX_ID_LENGTH else None
    except ValueError:
        return None
    return value if _is_id(value) else None
