"""How soon after its spawn does a server answer? Ours next to a bare one with one tool, alternating in one run."""

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
    """A server process, and the milliseconds from its spawn to each answer."""

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
        """Record the milliseconds since the spawn under this name."""
        self.at[name] = (perf_counter() - self._began) * 1e3

    def _send(self, **message: Any) -> None:
        self._to.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._to.flush()

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return its result."""
        self._number += 1
        self._send(id=self._number, method=method, params=params)
        while line := self._back.readline():
            message = json.loads(line)
            if message.get("id") == self._number:
                return message["result"]
        raise RuntimeError(f"{' '.join(self.command)} ended before answering {method}")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the structured content of its answer."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return dict(result["structuredContent"])

    def rss_mb(self) -> float:
        """The resident memory of the process in MB; 0 if the system has no /proc."""
        status = Path(f"/proc/{self._process.pid}/status")
        if not status.exists():
            return 0.0
        [line] = [each for each in status.read_text().splitlines() if each.startswith("VmRSS:")]
        return int(line.split()[1]) / 1e3

    def end(self) -> None:
        """Close the process's input and wait for it to end."""
        self._to.close()
        self._process.wait(30)


def main(argv: Sequence[str]) -> int:
    """Print medians and ratios. Returns 1 if our `initialize` takes more than 1.15 times as long as the bare one."""
    parser = argparse.ArgumentParser(prog="python -m bench startup", description=__doc__)
    parser.add_argument("--runs", type=int, default=9, help="runs of each server, alternating (default 9)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        ours = [sys.executable, "-m", "stilltrue", "serve", "--store", str(folder / "store")]
        _seed(ours, folder)
        runs: dict[str, list[Process]] = {"bare": [], "ours": []}
        memory: list[tuple[float, float]] = []
        listed: list[Any] = []
        for turn in range(options.runs):
            # The second one finds warmer caches, so the order alternates too.
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
    """Estimate how many tokens the tool list costs as it is sent. The estimate errs on the high side.

    A run of JSON punctuation is one token in model vocabularies, while the estimate for prose counts each mark. Where
    this returns 1,896, cl100k_base has 1,626 tokens for the same list and o200k_base 1,685.
    """
    sent = json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
    return estimate_tokens(re.sub(r'[{}\[\]:,"]{2,4}', '"', sent))


def _seed(command: Sequence[str], folder: Path) -> None:
    """Create a store with 50 notes, so that a first recall has something to open, and warm the caches."""
    Process([sys.executable, "-c", BARE], folder).end()
    process = Process(command, folder)
    for number in range(NOTES):
        process.call("remember", text=f"Tom keeps the key of locker {number}.", subjects=["tom"])
    process.end()


def _result(runs: dict[str, list[Process]], memory: list[tuple[float, float]], listed: list[Any]) -> dict[str, Any]:
    def middle(name: str, what: str) -> float:
        return median(process.at[what] for process in runs[name])

    # Compare runs that were next to each other: the load of a machine changes within minutes.
    pairs = [(a.at, b.at) for a, b in zip(runs["ours"], runs["bare"], strict=True)]
    ratios = {what: median(a[what] / b[what] for a, b in pairs) for what in ("initialize", "tools/list")}
    rows = []
    for what in runs["ours"][0].at:
        own = [process.at[what] for process in runs["ours"]]
        bare = f"{middle('bare', what):.0f}" if what in ratios else ""
        ratio = f"{ratios[what]:.3f}" if what in ratios else ""
        rows.append((what, f"{median(own):.0f}", f"{min(own):.0f}", f"{max(own):.0f}", bare, ratio))
    print(f"Milliseconds from spawn to answer, medians of {len(pairs)} alternating runs of each:\n")
    print(table(("answer", "ours", "min", "max", "bare", "ratio"), rows))
    light, full = (median(each) for each in zip(*memory, strict=True))
    print(f"\nresident memory: {light:.0f} MB at tools/list, {full:.0f} MB after the first recall with vectors")
    tokens = list_tokens(listed)
    print(f"tools/list: about {tokens} tokens, by an estimate that errs on the high side")
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
