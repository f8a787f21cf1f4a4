"""From the spawn of a process to its answers: our server beside a bare one with one tool, taking turns in one run."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import IO, Any

from bench.report import finish, table
from stilltrue.text.budget import estimate_tokens

ROOT = Path(__file__).resolve().parent.parent
BARE = """\
from mcp.server import MCPServer

app = MCPServer("bare")

@app.tool()
async def add(a: int, b: int) -> int:
    return a + b

app.run()
"""
LIMIT = 1.15
NOTES = 50


@dataclass
class Process:
    """A server that was just spawned, and how many milliseconds after that each thing was answered."""

    command: Sequence[str]
    folder: Path
    at: dict[str, float] = field(default_factory=dict)
    _number: int = 0

    def __post_init__(self) -> None:
        path = {"PYTHONPATH": str(ROOT)}
        env = {name: value for name, value in os.environ.items() if not name.startswith(("STILLTRUE_", "PYTHON"))}
        self._began = perf_counter()
        self._process = subprocess.Popen(
            self.command, cwd=self.folder, env=env | path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self._process.stdin
        assert self._process.stdout
        self._to: IO[bytes] = self._process.stdin
        self._back: IO[bytes] = self._process.stdout
        client = {"name": "bench", "version": "0"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self.mark("initialize")
        self._send(method="notifications/initialized")

    def mark(self, name: str) -> None:
        self.at[name] = (perf_counter() - self._began) * 1e3

    def _send(self, **message: Any) -> None:
        self._to.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._to.flush()

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a request."""
        self._number += 1
        self._send(id=self._number, method=method, params=params)
        while line := self._back.readline():
            message = json.loads(line)
            if message.get("id") == self._number:
                return message["result"]
        raise RuntimeError(f"{' '.join(self.command)} ended before it answered {method}")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a tool's answer."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return dict(result["structuredContent"])

    def rss_mb(self) -> float:
        """The resident memory of the process, in MB; 0 where the system has no /proc."""
        status = Path(f"/proc/{self._process.pid}/status")
        if not status.exists():
            return 0.0
        [line] = [each for each in status.read_text().splitlines() if each.startswith("VmRSS:")]
        return int(line.split()[1]) / 1e3

    def end(self) -> None:
        self._to.close()
        self._process.wait(30)


def main(argv: Sequence[str]) -> int:
    """Print the medians and ratios; 1 where ours is more than 1.15 times as slow to answer `initialize`."""
    parser = argparse.ArgumentParser(prog="python -m bench startup", description=__doc__)
    parser.add_argument("--runs", type=int, default=9, help="of each server, taking turns (default 9)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        ours = [sys.executable, "-m", "stilltrue", "serve", "--store", str(folder / "store")]
        _seed(ours, folder)
        runs: dict[str, list[Process]] = {"bare": [], "ours": []}
        memory: list[tuple[float, float]] = []
        listed: list[Any] = []
        for turn in range(options.runs):
            # Who goes second finds warmer caches, so they take turns at that too.
            for name in ("bare", "ours") if turn % 2 else ("ours", "bare"):
                process = Process([sys.executable, "-c", BARE] if name == "bare" else ours, folder)
                tools = process.ask("tools/list")["tools"]
                process.mark("tools/list")
                if name == "ours":
                    listed = tools
                    light = process.rss_mb()
                    process.call("recall", query="who keeps the key of locker 7?")
                    process.mark("first recall by full text")
                    while process.call("recall", query="who keeps the key of locker 7?").get("degraded"):
                        pass
                    process.mark("first recall with vectors")
                    memory.append((light, process.rss_mb()))
                process.end()
                runs[name].append(process)
    result = _result(runs, memory, listed)
    finish(result)
    return 0 if result["ratio"] <= LIMIT else 1


def list_tokens(tools: Sequence[Any]) -> int:
    """About how many tokens a model's tokenizer makes of the tools as they are sent, rather too many than too few.

    A row of JSON's marks is one token in the vocabularies of models, where the estimate for prose takes each for
    one. Where this says 1,896, cl100k_base makes 1,626 of the same list and o200k_base 1,685.
    """
    sent = json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
    return estimate_tokens(re.sub(r'[{}\[\]:,"]{2,4}', '"', sent))


def _seed(command: Sequence[str], folder: Path) -> None:
    """A store with 50 notes, so that a first recall has something to open; and caches as warm as they will be."""
    Process([sys.executable, "-c", BARE], folder).end()
    process = Process(command, folder)
    for number in range(NOTES):
        process.call("remember", text=f"Tom keeps the key of locker {number}.", subjects=["tom"])
    process.end()


def _result(runs: dict[str, list[Process]], memory: list[tuple[float, float]], listed: list[Any]) -> dict[str, Any]:
    def middle(name: str, what: str) -> float:
        return median(process.at[what] for process in runs[name])

    # Runs that stood side by side are compared with each other: the load of a machine changes within minutes.
    pairs = [(a.at, b.at) for a, b in zip(runs["ours"], runs["bare"], strict=True)]
    ratios = {what: median(a[what] / b[what] for a, b in pairs) for what in ("initialize", "tools/list")}
    rows = []
    for what in runs["ours"][0].at:
        own = [process.at[what] for process in runs["ours"]]
        bare = f"{middle('bare', what):.0f}" if what in ratios else ""
        ratio = f"{ratios[what]:.3f}" if what in ratios else ""
        rows.append((what, f"{median(own):.0f}", f"{min(own):.0f}", f"{max(own):.0f}", bare, ratio))
    print(f"Milliseconds from the spawn to the answer, medians of {len(pairs)} runs of each, taking turns:\n")
    print(table(("answer", "ours", "least", "most", "bare", "ratio"), rows))
    light, full = (median(each) for each in zip(*memory, strict=True))
    print(f"\nresident memory: {light:.0f} MB at tools/list, {full:.0f} MB after the first recall with vectors")
    tokens = list_tokens(listed)
    print(f"tools/list: about {tokens} tokens, by an estimate from above")
    return {
        "initialize_ms": round(middle("ours", "initialize")),
        "bare_initialize_ms": round(middle("bare", "initialize")),
        "ratio": round(ratios["initialize"], 3),
        "tools_list_ms": round(middle("ours", "tools/list")),
        "tools_list_tokens": tokens,
        "first_fulltext_recall_ms": round(middle("ours", "first recall by full text")),
        "first_vector_recall_ms": round(middle("ours", "first recall with vectors")),
        "rss_mb": round(full),
    }
