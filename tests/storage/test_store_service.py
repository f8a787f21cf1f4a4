"""A store in LanceDB's service, as far as it can be seen from here: the requests that are made, and what is said."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyarrow as pa
import pytest

from stilltrue.errors import StoreTrouble
from store.open import open_store

KEY = "a-key-of-the-tests"
PRIMARY_KEY = "lance-schema:unenforced-primary-key:position"


class Service(ThreadingHTTPServer):
    """Answers the first requests of LanceDB's remote client; with `forgets` it keeps no metadata of columns."""

    def __init__(self, *, forgets: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.forgets = forgets
        self.tables: dict[str, pa.Schema] = {}
        self.requests: list[tuple[str, Any]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """The status and the content of the answer to a request of somebody who has the key."""
        _, _, table, *verb = path.strip("/").split("/")
        match verb:
            case ["create"]:
                self.tables[table] = pa.ipc.open_stream(body).schema
            case ["describe"] if table not in self.tables:
                return 404, {}
            case ["describe"]:
                fields = [self.described(field) for field in self.tables[table]]
                metadata = _text(self.tables[table].metadata)
                return 200, {"table": table, "version": 1, "schema": {"fields": fields, "metadata": metadata}}
            case ["index", "list"]:
                return 200, {"indexes": []}
        return 200, {}

    def described(self, field: pa.Field) -> dict[str, Any]:
        metadata = {} if self.forgets else _text(field.metadata)
        return {"name": field.name, "nullable": field.nullable, "type": _kind(field.type), "metadata": metadata}


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Service

    def do_POST(self) -> None:
        body = b""
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.split("?")[0]
        self.server.requests.append((path, self.headers))
        status, said = self.server.answer(path, body) if self.headers["x-api-key"] == KEY else (401, {})
        content = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


def _text(metadata: dict[bytes, bytes] | None) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in (metadata or {}).items()}


def _kind(kind: pa.DataType) -> dict[str, Any]:
    if pa.types.is_list(kind):
        return {"type": "list", "fields": [{"name": "item", "nullable": True, "type": _kind(kind.value_type)}]}
    return {"type": "timestamp:us:UTC" if pa.types.is_timestamp(kind) else str(kind)}


@contextmanager
def serving(*, forgets: bool = False) -> Iterator[Service]:
    with Service(forgets=forgets) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        yield service
        service.shutdown()


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANCEDB_API_KEY", KEY)


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("forgets", [False, True])
def test_the_log_is_made_with_its_key_and_a_service_that_keeps_none_is_told_of(
    caplog: pytest.LogCaptureFixture, forgets: bool
) -> None:
    """The key to the service is sent and not said; where turns have no primary key, what is lacking is said."""
    with serving(forgets=forgets) as service, caplog.at_level(logging.ERROR):
        store = open_store("db://memories", endpoint=service.endpoint)
    assert store.fingerprint is None
    assert {headers["x-lancedb-database"] for _, headers in service.requests} == {"memories"}
    assert _text(service.tables["log"].field("turn").metadata)[PRIMARY_KEY] == "1"
    assert [path for path, _ in service.requests if path.endswith("/create_index/")]
    assert ("keeps no primary key" in caplog.text) is forgets
    assert KEY not in caplog.text


def test_a_missing_key_is_told_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked of the service without one."""
    monkeypatch.delenv("LANCEDB_API_KEY", raising=False)
    with pytest.raises(StoreTrouble, match=r"there is no key to it\. Set LANCEDB_API_KEY"):
        open_store("db://memories", endpoint="http://127.0.0.1:9")


def test_a_key_that_is_not_accepted_is_told_and_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the service refuses is no bug of ours and no empty store."""
    monkeypatch.setenv("LANCEDB_API_KEY", "another-key")
    with serving() as service, pytest.raises(StoreTrouble, match="the keys were not accepted") as told:
        open_store("db://memories", endpoint=service.endpoint)
    assert "another-key" not in str(told.value)


@pytest.mark.usefixtures("key")
def test_a_service_that_cannot_be_reached_is_told() -> None:
    """With the setting that says where it is."""
    with pytest.raises(StoreTrouble, match=r"it cannot be reached\. Check store\.endpoint"):
        open_store("db://memories", endpoint="http://127.0.0.1:9")
