"""Lines of JSON-RPC as clients send them: read, or answered with the error and the id that belong to them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from server.protocol.json_rpc import read_line

ID_FIRST = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":9,"text":"%s"}}'
ID_LAST = b'{"method":"tools/call","params":{"text":"%s","id":9},"jsonrpc":"2.0","id":7}'
BOTH_ORDERS = pytest.mark.parametrize("template", [ID_FIRST, ID_LAST])

UNPARSABLE = {
    "Big5, a backslash inside": "\u529f\u80fd".encode("big5"),
    "Big5, a backslash at the end": "\u6210\u529f".encode("big5"),
    "Shift-JIS, a backslash inside": "\u8868\u793a".encode("cp932"),
    "Shift-JIS, a backslash at the end": "\u4e88\u5b9a\u8868".encode("cp932"),
    "GBK, a backslash at the end": b"\x95\\",
    "a raw tab": b"a\tb",
    "a raw control character": b"a\x01b",
    "an escape that does not exist": rb"\q",
    "an integer of 5,000 digits": b'","n":' + b"1" * 5000 + b',"m":"',
    "brackets 300 deep": b'","n":' + b"[" * 300 + b"]" * 300 + b',"m":"',
    "brackets 5,000 deep": b'","n":' + b"[" * 5000 + b"]" * 5000 + b',"m":"',
}


def error(line: bytes, *, batches: bool = False) -> tuple[Any, int]:
    """The id and the code of the only reply to a line that holds no message."""
    read = read_line(line, batches=batches)
    assert not read.messages
    (reply,) = read.errors
    return reply["id"], reply["error"]["code"]


@BOTH_ORDERS
@pytest.mark.parametrize("text", UNPARSABLE.values(), ids=UNPARSABLE)
def test_a_line_that_cannot_be_parsed_is_answered_under_its_id(template: bytes, text: bytes) -> None:
    """The id is that of the request, not one inside its arguments, wherever the client puts it."""
    assert error(template % text) == (7, PARSE_ERROR)


@BOTH_ORDERS
def test_a_byte_order_mark_is_skipped(template: bytes) -> None:
    """The message behind it is read as if it were not there."""
    (message,) = read_line(b"\xef\xbb\xbf" + template % b"x").messages
    assert isinstance(message, JSONRPCRequest)
    assert message.id == 7


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"garbage", (None, PARSE_ERROR)),
        (b"{", (None, PARSE_ERROR)),
        (b"[" * 100_000, (None, PARSE_ERROR)),
        (ID_FIRST[:40], (7, PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":"a\\"b","method":"x"', ('a"b', PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":' + b"1" * 5000 + b',"method":"x"}', (None, PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', (1.5, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":2.0,"method":"x"}', (2.0, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"x"}', (None, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":null,"method":"x"}', (None, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":true,"method":"x"}', (None, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":[1],"method":"x"}', (None, INVALID_REQUEST)),
        (b'{"id":3,"method":"x"}', (3, INVALID_REQUEST)),
        (b'{"jsonrpc":"1.0","id":3,"method":"x"}', (3, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":3,"method":"x","params":5}', (3, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":3,"method":"x","params":[5]}', (3, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":3,"method":5}', (3, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":3}', (3, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","method":"x","params":5}', (None, INVALID_REQUEST)),
        (b"5", (None, INVALID_REQUEST)),
        (b"[]", (None, INVALID_REQUEST)),
        (b"[1,2]", (None, INVALID_REQUEST)),
    ],
)
def test_a_line_that_is_not_a_message_is_answered(line: bytes, expected: tuple[Any, int]) -> None:
    """The reply carries the id if the client can recognize it, and null otherwise."""
    assert error(line) == expected


def test_an_invalid_response_is_not_answered_under_its_id() -> None:
    """That id is the server's: the client would take the error for the answer to a call of its own."""
    assert error(b'{"jsonrpc":"2.0","id":3,"result":5}') == (None, INVALID_REQUEST)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"jsonrpc":"2.0","id":"a","method":"x","params":null}\r\n', JSONRPCRequest),
        (b'{"jsonrpc":"2.0","method":"x"}', JSONRPCNotification),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', JSONRPCResponse),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"\xa5 \\ud83d \\ud83d\\ude00"}}', JSONRPCRequest),
    ],
)
def test_a_message_is_passed_on(line: bytes, kind: type) -> None:
    """Characters that were lost on the way arrive as U+FFFD, for the tool to refuse in words."""
    (message,) = read_line(line).messages
    assert isinstance(message, kind)
    if "\ufffd" in str(message):
        assert message.params == {"t": "\ufffd \ufffd \U0001f600"}


@pytest.mark.parametrize("line", [b"", b"\n", b" \r\n", b"\xef\xbb\xbf\n"])
def test_a_blank_line_is_no_message(line: bytes) -> None:
    """Nothing is sent in reply."""
    read = read_line(line)
    assert (read.messages, read.errors) == ((), ())


CALL = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_a_batch_without_an_agreement_is_refused_request_by_request() -> None:
    """No caller in it is left waiting."""
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    read = read_line(json.dumps([CALL, notice, {**CALL, "id": "b"}]).encode())
    assert not read.messages
    assert [(each["id"], each["error"]["code"]) for each in read.errors] == [
        (1, INVALID_REQUEST),
        ("b", INVALID_REQUEST),
    ]


def test_a_batch_is_read_where_the_protocol_version_has_batches() -> None:
    """Its good messages are passed on, its bad ones answered, and all replies belong together."""
    read = read_line(json.dumps([CALL, 5, {**CALL, "id": 2, "method": "initialize"}]).encode(), batches=True)
    assert [message.id for message in read.messages] == [1]  # type: ignore[union-attr]
    assert [each["id"] for each in read.errors] == [None, 2]
    assert read.batch


@given(st.binary(max_size=200) | st.text(alphabet='{}[]:,"\\id7 \t', max_size=80).map(str.encode))
def test_any_line_is_read_or_answered(line: bytes) -> None:
    """Nothing raises, and only a blank line yields nothing."""
    read = read_line(line)
    blank = not line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").strip()
    assert bool(read.messages or read.errors) is not blank
    json.dumps(read.errors, allow_nan=False)
