"""docs/clients.md, over HTTP: a server is called with the address and headers of each snippet on the page.

Two things are replaced: the address, by that of a server on this machine, and the placeholder of the token, by a
token of that server.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from http_server import ACCEPT, Caller, Served, served, token_of
from wire import ERAS, MODERN, PATIENCE_S, ROOT, Era, clean_env

PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"<!-- http client: ([\w-]+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL))
ADDRESS = "https://mem.example.com/mcp"
PLACEHOLDERS = {
    "claude-code": "$MEMORY_TOKEN",
    "claude-code-project": "${MEMORY_TOKEN}",
    "cursor": "${env:MEMORY_TOKEN}",
    "vscode": "${input:memory-token}",
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    home = tmp_path_factory.mktemp("guarded")
    token = token_of(home, "acme")
    with served(home) as server:
        yield server, token


def called(client: str) -> tuple[str, dict[str, str]]:
    """The address and the headers of a snippet."""
    text = SNIPPETS[client]
    if client == "claude-code":
        words = shlex.split(text)
        assert words[:3] == ["claude", "mcp", "add"]
        options = dict(zip(words[3::2], words[4::2], strict=False))
        assert options["--transport"] == "http"
        name, _, value = words[words.index("--header") + 1].partition(": ")
        return words[words.index("stilltrue") + 1], {name: value}
    servers = json.loads(text)["servers" if client == "vscode" else "mcpServers"]
    server = servers["stilltrue"]
    assert server.get("type", "http") == "http"
    return server["url"], server["headers"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("client", sorted(PLACEHOLDERS))
def test_a_client_reaches_the_server_as_its_snippet_says(guarded: tuple[Served, str], client: str, era: Era) -> None:
    """With the headers of the snippet the tools are listed; without them the call is refused."""
    server, token = guarded
    url, headers = called(client)
    assert url == ADDRESS
    assert headers == {"Authorization": f"Bearer {PLACEHOLDERS[client]}"}
    bearer = {name: value.replace(PLACEHOLDERS[client], token) for name, value in headers.items()}
    http = httpx2.Client(base_url=server.url, timeout=PATIENCE_S, headers=ACCEPT)
    caller = Caller(http, era)
    assert caller.post("tools/list", {}).status_code == 401
    http.headers.update(bearer)
    if era == "handshake":
        caller.shake_hands()
    assert "remember" in str(caller.reply("tools/list"))


def test_the_python_client_runs(guarded: tuple[Served, str], tmp_path: Path) -> None:
    """The program succeeds and prints the requirement that it stored."""
    server, token = guarded
    program = SNIPPETS["python"].replace(ADDRESS, f"{server.url}/mcp")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=clean_env(tmp_path, MEMORY_TOKEN=token),
        capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "! ALLERGY: Priya is severely allergic to peanuts." in done.stdout


def test_the_pages_cover_the_clients_and_the_port() -> None:
    """No snippet is missing, and the proxy of docs/http.md passes on to the default port."""
    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    assert set(SNIPPETS) == {*PLACEHOLDERS, "python"}
    assert MODERN in page
    assert "proxy_pass http://127.0.0.1:8765;" in page
