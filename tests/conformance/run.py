"""The MCP Inspector and the official conformance suite against a real server, and the bundle: `make conformance`.

All are Node programs. npm installs them with a Node of the right age into a folder of their own: that of the one
argument, or one that is gone afterwards. Exits with 0 where all was tried and went well, with 1 where something
failed, and with 75 where it was not run, because there is no npm or it could not install them. No test of pytest,
since nothing else here needs Node.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "support")]

from http_server import WORDS_ALONE, served, token_of  # noqa: E402
from wire import FRONT_DOOR, ROOT  # noqa: E402

PACKAGES = (
    "node@22", "@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@anthropic-ai/mcpb@2.1.2",
)  # fmt: skip
PATIENCE = ("--connect-timeout", "60000")
ERAS = ("legacy", "modern")
# Those that need no tools, resources or prompts made for the suite: all others call such as `test_image_content`.
# Also left out: what passes on any server (`tools-call-simple-text`, `tools-call-error`), and tasks, an extension.
SCENARIOS = {
    "": (
        "server-initialize", "ping", "logging-set-level", "completion-complete", "tools-list", "resources-list",
        "resources-subscribe", "resources-unsubscribe", "prompts-list", "server-sse-multiple-streams",
        "dns-rebinding-protection", "server-session-lifecycle",
    ),
    "2026-07-28": (
        "server-stateless", "completion-complete", "tools-list", "resources-list", "prompts-list", "caching",
        "server-sse-multiple-streams", "http-header-validation", "sep-2164-resource-not-found",
        "dns-rebinding-protection",
    ),
}  # fmt: skip
EXPECTED = HERE / "expected-failures.yml"
NOT_RUN = 75
"""The exit code of a failure that is none of the product."""


class NotInstalled(Exception):
    """The programs are not to be had here; the message says why in one line."""


def installed(folder: Path) -> dict[str, str]:
    """The environment in which the programs and their Node are found, installed where they are not."""
    programs = folder / "node_modules" / ".bin"
    env = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    if not (programs / "conformance").exists():
        if not shutil.which("npm"):
            raise NotInstalled("there is no npm")
        folder.mkdir(parents=True, exist_ok=True)
        options = ["--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"]
        try:
            subprocess.run(
                ["npm", "install", "--prefix", folder, *options, *PACKAGES], check=True, timeout=600,
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise NotInstalled(f"npm could not install them ({type(error).__name__})") from error
    try:
        run(env, str(programs / "node"), "--version").check_returncode()
    except (OSError, subprocess.SubprocessError) as error:
        raise NotInstalled("npm installed no Node that runs") from error
    return env


def run(env: dict[str, str], *command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run one of the programs to its end."""
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def inspected(env: dict[str, str], *target: str) -> Iterator[tuple[str, bool, str]]:
    """Every tool, listed and called by the Inspector: what was done, whether it went well, and what was said."""

    def inspect(*arguments: str) -> dict[str, Any]:
        done = run(env, "mcp-inspector", "--cli", *target, *PATIENCE, "--format", "json", *arguments)
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return dict(json.loads(done.stdout))

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        words = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        return dict(inspect(*words)["result"]["structuredContent"])

    try:
        listed = inspect("--method", "tools/list", "--strict")
        names = [tool["name"] for tool in listed.get("result", listed)["tools"]]
        yield "tools/list --strict", True, ", ".join(names)
        old = call("remember", text="The api tests run with tox.", subjects=["repo:api"])["id"]
        new = call("supersede", note_ids=[old], text="The api tests run with nox.", relation="correction")["id"]
        call("revoke", note_id=new, reason="the CI moved")
        call("reinstate", note_id=new)
        found = call("recall", query="How do I run the api tests?", budget_tokens=400)
        call("constraints")
        call("feedback", note_ids=[new], outcome="helped")
        yield f"tools/call of {len(names)} tools", len(names) == 7 and new in json.dumps(found), ""
    except (RuntimeError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
        yield "the Inspector", False, f"{type(error).__name__}: {error}"


def conformed(env: dict[str, str], url: str) -> Iterator[tuple[str, bool, str]]:
    """Each scenario of the suite."""
    for version, scenarios in SCENARIOS.items():
        for scenario in scenarios:
            options = ["--spec-version", version] if version else []
            options += ["--expected-failures", str(EXPECTED)]
            done = run(env, "conformance", "server", "--url", url, "--scenario", scenario, *options)
            yield f"{scenario} {version}".strip(), done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def bundled(env: dict[str, str]) -> Iterator[tuple[str, bool, str]]:
    """The manifest of the bundle for Claude Desktop."""
    done = run(env, "mcpb", "validate", str(ROOT / "packaging" / "mcpb" / "manifest.json"))
    yield "mcpb validate", done.returncode == 0, done.stdout + done.stderr


def documented(env: dict[str, str], programs: Path, home: Path) -> Iterator[tuple[str, bool, str]]:
    """The block of docs/clients.md, as it stands; `stilltrue`, which it calls by name, is that of this checkout."""
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- inspector -->\n```sh\n(.*?)```", page, re.DOTALL)
    if not found:
        yield "the block of docs/clients.md", False, "there is none"
        return
    command = home / "bin" / "stilltrue"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.join(FRONT_DOOR)} "$@"\n')
    command.chmod(0o755)
    env = env | {"PATH": f"{command.parent}{os.pathsep}{env['PATH']}"}
    # In the folder of the programs npx finds the Inspector of that version and does not fetch it again.
    done = run(env, "bash", "-euo", "pipefail", "-c", found[1], folder=programs)
    well = done.returncode == 0 and done.stdout.count('"structuredContent"') == 7  # two more are read by the block
    yield "the block of docs/clients.md", well, done.stdout[-1000:] + done.stderr[-1000:]


def main(folder: str | None = None) -> int:
    """Print a line for each thing that was tried."""
    failed = 0

    def told(results: Iterator[tuple[str, bool, str]], where: str) -> None:
        nonlocal failed
        for what, well, words in results:
            failed += not well
            print(f"{'ok    ' if well else 'FAILED'} {where}: {what}", *([] if well else [words]), flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        programs = Path(folder).resolve() if folder else home / "node"
        try:
            env = installed(programs)
        except NotInstalled as why:
            print(f"NOT RUN: the MCP Inspector, the conformance suite, mcpb validate: {why}.", flush=True)
            return NOT_RUN
        told(bundled(env), "packaging")
        told(documented(env, programs, home), "stdio")
        for era in ERAS:
            command = [*FRONT_DOOR, "serve", "--store", str(home / era), *WORDS_ALONE]
            environment = ["-e", f"PYTHONPATH={ROOT}"]
            told(inspected(env, *command, *environment, "--protocol-era", era), f"stdio, {era}")
        with served(home / "open") as server:
            told(conformed(env, server.url + "/mcp"), "HTTP")
            for era in ERAS:
                target = [server.url + "/mcp", "--transport", "http", "--protocol-era", era]
                told(inspected(env, *target), f"HTTP, {era}")
        token = token_of(home / "guarded", "acme")
        with served(home / "guarded") as server:
            target = [server.url + "/mcp", "--transport", "http", "--stored-auth-only"]
            for era in ERAS:
                bearer = ["--protocol-era", era, "--header", f"Authorization: Bearer {token}"]
                told(inspected(env, *target, *bearer), f"HTTP with a token, {era}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
