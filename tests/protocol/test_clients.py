"""Start the server from each client snippet in README.md and docs/clients.md.

Three placeholders are replaced, and nothing else: the command (`COMMANDS`) by this interpreter's `-m stilltrue`;
`claude mcp add NAME ... --`, which stores the rest of its line, by that rest; `${workspaceFolder}` by the test's
folder, which is the working directory too.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sdk_client import sdk_client
from seeded_store import texts_in
from wire import FRONT_DOOR, PATIENCE_S, ROOT, clean_env

from stilltrue import __version__

PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"<!-- client: ([\w-]+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL))
SNIPPETS["readme"] = re.findall(r"```json\n(.*?)```", README, re.DOTALL)[0]
FROM_A_CHECKOUT = "/path/to/stilltrue/.venv/bin/stilltrue"
COMMANDS = {FROM_A_CHECKOUT, "stilltrue"}
"""What a snippet runs: the program in a checkout's environment, or the one on the PATH."""


@dataclass(frozen=True)
class Start:
    """What a client runs: a command, its arguments, and what it adds to the environment."""

    command: str
    args: list[str]
    env: Mapping[str, str] = field(default_factory=dict)


def started(client: str, workspace: Path) -> Start:
    """What this client runs in `workspace`, according to its snippet."""
    text = SNIPPETS[client]
    if client == "claude-code":
        words = shlex.split(text)
        assert words[:3] == ["claude", "mcp", "add"]
        options, (command, *args) = words[3 : words.index("--")], words[words.index("--") + 1 :]
        assert options[:3] == ["--scope", "user", "stilltrue"]  # the name first: --env takes all words after it
        assert options[3] == "--env"
        settings = options[4:]
        return Start(command, args, dict(each.split("=", 1) for each in settings))
    servers = json.loads(text)["servers" if client == "vscode" else "mcpServers"]
    server = servers["stilltrue"]
    assert server.pop("type", "stdio") == "stdio"
    args = [each.replace("${workspaceFolder}", str(workspace)) for each in server.pop("args")]
    return Start(server.pop("command"), args, server.pop("env", {}))


@pytest.mark.parametrize("client", sorted(set(SNIPPETS) - {"python"}))
def test_a_client_starts_the_server_as_its_snippet_says(client: str, tmp_path: Path) -> None:
    """The tools are listed, a note is stored, and the store is where the snippet puts it."""
    start = started(client, tmp_path)
    assert start.command in COMMANDS
    with sdk_client(tmp_path, command=FRONT_DOOR, arguments=start.args, env=start.env) as server:
        assert "remember" in server.tools()
        note = server.done("remember", text="Priya prefers tea.", valid_from="2026-06-01T12:00:00")["note"]
    zone = "+02:00" if "STILLTRUE_MEMORY_ZONE" in start.env else "+00:00"
    assert note["valid_from"] == f"2026-06-01T12:00:00{zone}"
    own = tmp_path / ".stilltrue"
    assert texts_in(own if "--store" in start.args else next(tmp_path.rglob("stilltrue/local"))) == [note["text"]]


def test_the_python_client_runs(tmp_path: Path) -> None:
    """The program succeeds and prints the requirement, which its question did not mention."""
    program = SNIPPETS["python"].replace(
        f'command="{FROM_A_CHECKOUT}", args=[', f"command={sys.executable!r}, args=['-m', 'stilltrue', "
    )
    program = program.replace('"serve"]', f'"serve"], env={clean_env(tmp_path)!r}')
    assert FROM_A_CHECKOUT not in program
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=clean_env(tmp_path), capture_output=True, text=True,
        timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "! ALLERGY: Priya is severely allergic to peanuts." in done.stdout


def test_the_page_covers_the_clients_and_names_this_version() -> None:
    """Every client has a snippet, and no text asks for a version other than this one."""
    clients = {"claude-desktop", "claude-code", "claude-code-project", "cursor", "vscode", "python"}
    assert set(SNIPPETS) == clients | {"readme"}
    assert set(re.findall(r"stilltrue@([\w.]+)", PAGE)) == {__version__}
