"""Tokens: how they are made, kept, compared and withdrawn."""

from __future__ import annotations

import hmac
import json
import os
import stat
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from http_server import data_of, reply_of, served, stilltrue, token_of
from wire import SOON_S, until

from server.http.tokens import Tokens
from stilltrue.errors import BadConfig

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "tokens.json")


def test_the_command_line_creates_lists_and_revokes_tokens(tmp_path: Path) -> None:
    """The token is printed once, on stdout only; the list names it without showing it, until it is revoked."""
    made = stilltrue(tmp_path, "token", "create", "--tenant", "acme", "--name", "laptop")
    secret = made.stdout.removesuffix("\n")
    assert len(secret) == 46
    assert secret not in made.stderr
    listed = stilltrue(tmp_path, "token", "list")
    assert listed.stdout.split("\t")[:2] == ["acme", "laptop"]
    assert secret not in listed.stdout
    assert "has been revoked" in stilltrue(tmp_path, "token", "revoke", "--tenant", "acme").stdout
    assert stilltrue(tmp_path, "token", "list").stdout == ""


def test_a_token_without_a_tenant_opens_the_memory_of_stdio(tmp_path: Path) -> None:
    """Without `--tenant` a token is for the tenant `local`, whose store stdio uses."""
    assert stilltrue(tmp_path, "token", "create").returncode == 0
    assert stilltrue(tmp_path, "token", "list").stdout.startswith("local\tdefault\t")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["create", "--tenant", "Acme"], "lower-case letters"),
        (["create", "--tenant", "../acme"], "lower-case letters"),
        (["create", "--tenant", "a/b"], "lower-case letters"),
        (["create", "--tenant=-a"], "beginning with a letter or digit"),
        (["create", "--tenant", "a" * 41], "1 to 40"),
        (["create", "--tenant", "acme\n"], "lower-case letters"),
        (["create", "--name", "a\nb"], "text of 1 to 200 characters"),
        (["revoke", "--tenant", "acme"], "Which token of tenant acme? It has none."),
        (["revoke", "--name", "phone"], "no token called 'phone'"),
    ],
)
def test_an_invalid_name_is_refused(tmp_path: Path, arguments: list[str], words: str) -> None:
    """The exit code is 2, stderr has a sentence, and no file is created."""
    refused = stilltrue(tmp_path, "token", *arguments)
    assert refused.returncode == 2
    assert words in refused.stderr
    assert not (data_of(tmp_path) / "tokens.json").exists()


def test_the_file_holds_only_hashes_and_only_its_owner_can_read_it(tokens: Tokens) -> None:
    """The file has the SHA-256 of a token and no part of the token, and its mode is 0600."""
    os.umask(0)
    secret = tokens.create("acme", "laptop", NOW)
    text = tokens.path.read_text()
    assert json.loads(text)["tokens"][0]["sha256"] == sha256(secret.encode()).hexdigest()
    assert not [part for part in (secret, secret[3:], secret[3:15]) if part in text]
    if sys.platform != "win32":
        assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert sorted(each.name for each in tokens.path.parent.iterdir()) <= ["tokens.json", "tokens.lock"]


def test_only_the_exact_token_matches(tokens: Tokens) -> None:
    """A part of it, another spelling, its hash, its id and the empty string are refused."""
    secret = tokens.create("acme", "laptop", NOW)
    found = tokens.match(secret)
    assert found
    assert (found.tenant, found.name) == ("acme", "laptop")
    wrong = ["", " ", secret[:-1], secret + "x", secret.upper(), f" {secret}", found.sha256, found.id, "\ud800", "ÿ"]
    assert not [each for each in wrong if tokens.match(each)]


def test_a_token_is_compared_with_every_hash(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of comparisons does not reveal whether or which token matched."""
    secrets = [tokens.create("acme", str(number), NOW) for number in range(5)]
    compared: list[tuple[str, str]] = []
    compare = hmac.compare_digest
    monkeypatch.setattr(
        "hmac.compare_digest", lambda one, other: compared.append((one, other)) or compare(one, other)
    )
    for secret in (secrets[0], secrets[4], "wrong"):
        tokens.match(secret)
        assert len(compared) == 5
        assert len({stored for stored, _ in compared}) == 5
        compared.clear()


def test_tokens_created_at_the_same_time_are_all_kept(tokens: Tokens) -> None:
    """Concurrent processes do not overwrite each other's tokens."""
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda number: Tokens(tokens.path).create("acme", str(number), NOW), range(24)))
    assert {token.name for token in map(tokens.match, made) if token} == {str(number) for number in range(24)}


def test_a_name_is_unique_within_a_tenant_and_revoked_alone(tokens: Tokens) -> None:
    """A duplicate name is refused; revoking one of two requires its name and affects no other tenant."""
    tokens.create("acme", "laptop", NOW)
    phone, other = tokens.create("acme", "phone", NOW), tokens.create("globex", "laptop", NOW)
    with pytest.raises(BadConfig, match="has a token called 'laptop'"):
        tokens.create("acme", "laptop", NOW)
    with pytest.raises(BadConfig, match="Which token of tenant acme\\? --name is one of 'laptop', 'phone'"):
        tokens.revoke("acme", None)
    tokens.revoke("acme", "laptop")
    assert tokens.match(phone)
    assert tokens.match(other)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2, "tokens": []}', '{"version": 1, "tokens": [{}]}'])
def test_a_damaged_file_admits_no_token(tokens: Tokens, text: str) -> None:
    """The error names its path; existing tokens are refused and no new one is created."""
    secret = tokens.create("acme", "laptop", NOW)
    assert tokens.match(secret)
    tokens.path.write_text(text)
    assert tokens.match(secret) is None
    with pytest.raises(BadConfig, match=r"tokens\.json cannot be read"):
        tokens.create("acme", "phone", NOW)
    assert tokens.path.read_text() == text


def test_a_tenant_that_is_a_path_is_refused(tokens: Tokens) -> None:
    """Even a file edited by hand cannot point to a folder elsewhere."""
    secret = tokens.create("acme", "laptop", NOW)
    tokens.path.write_text(tokens.path.read_text().replace("acme", "../local"))
    assert tokens.match(secret) is None


def test_revoking_takes_effect_without_a_restart(tmp_path: Path) -> None:
    """The token's next call gets 401 and its open stream ends; other tokens, old and new, keep working."""
    revoked, valid = token_of(tmp_path, "acme", "gone"), token_of(tmp_path, "acme", "kept")
    with served(tmp_path) as server, ThreadPoolExecutor(1) as threads:
        caller, other = server.caller(revoked), server.caller(valid)
        listening = threading.Event()

        def listen() -> None:
            with caller.http.stream("GET", "/mcp", headers=caller.session) as stream:
                listening.set()
                for _ in stream.iter_raw():
                    pass

        stream = threads.submit(listen)
        assert listening.wait(SOON_S)
        assert reply_of(caller.post("tools/list", {}))["result"]
        stilltrue(tmp_path, "token", "revoke", "--tenant", "acme", "--name", "gone")
        assert caller.post("tools/list", {}).status_code == 401
        stream.result(SOON_S)
        assert reply_of(other.post("tools/list", {}))["result"]
        assert server.caller(token_of(tmp_path, "acme", "new")).call("constraints")


def test_revoking_the_last_token_does_not_open_the_server(tmp_path: Path) -> None:
    """A running server still requires a token, and the next start is refused."""
    token_of(tmp_path, "acme")
    with served(tmp_path) as server:
        stilltrue(tmp_path, "token", "revoke", "--tenant", "acme")
        until(lambda: server.get("/mcp").status_code == 401)
    refused = stilltrue(tmp_path, "serve", "--http", "--port", "0")
    assert refused.returncode == 2
    assert "tokens.json is there, and there is none" in refused.stderr
    assert "or delete" in refused.stderr
