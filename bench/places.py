"""How long do writes and reads take in a folder and on object storage, by one process and by three at once?

The object storage is moto's S3 on this machine, which answers one request after another. Its milliseconds are
those of a Python program, not of a network; the number of requests, which is counted, carries over to a real one.
There is no embedding model, since that costs the same in every place.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.report import finish, table
from server.config.load import load
from server.runtime import StoreRuntime
from tools.constraints import constraints
from tools.recall import recall
from tools.remember import remember

_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing"}
_TOOLS = ("remember", "recall", "constraints")
_OBJECTS = """
import logging
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
logging.getLogger("werkzeug").setLevel(logging.ERROR)
inner, seen = DomainDispatcherApplication(create_backend_app), [0]
def counting(environ, start):
    if environ["PATH_INFO"] == "/requests-so-far":
        start("200 OK", [("Content-Type", "text/plain")])
        return [str(seen[0]).encode()]
    seen[0] += 1
    return inner(environ, start)
server = make_server("127.0.0.1", 0, counting)
print(server.port, flush=True)
server.serve_forever()
"""


@dataclass(frozen=True)
class Row:
    """The measurements of one place: median waits in ms, the longest wait of a write, and requests per call."""

    place: str
    processes: int
    waits: dict[str, float]
    longest: float
    requests: dict[str, float]


def main(argv: Sequence[str]) -> int:
    """Print the median wait of each tool in each place."""
    options = _options(argv)
    if options.work:
        return _work(json.loads(options.work))
    rows = []
    with tempfile.TemporaryDirectory() as folder, _objects() as endpoint:
        for processes in (1, 3):
            store = str(Path(folder) / f"store-{processes}")
            rows.append(_row("folder", {"store.uri": store}, processes, options))
            flags = {"store.uri": f"s3://memories/{processes}", "store.endpoint": endpoint}
            rows.append(_row("s3", flags | {"store.region": "us-east-1"}, processes, options))
    print(f"{options.notes} notes, {options.calls} calls of each; medians in ms; load {os.getloadavg()[0]:.1f}\n")
    head = ("place", "processes", *_TOOLS, "longest remember", *(f"requests of {tool}" for tool in _TOOLS))
    print(table(head, [_cells(row) for row in rows]))
    finish({f"{row.place} {row.processes}": {"waits": row.waits, "requests": row.requests} for row in rows})
    return 0


def _cells(row: Row) -> list[object]:
    waits = [f"{row.waits[tool]:.0f}" for tool in _TOOLS]
    requests = [f"{row.requests[tool]:.0f}" if row.requests else "" for tool in _TOOLS]
    return [row.place, row.processes, *waits, f"{row.longest:.0f}", *requests]


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench places", description=__doc__)
    parser.add_argument("--notes", type=int, default=100, help="notes in the store at the start")
    parser.add_argument("--calls", type=int, default=20, help="calls of each tool by each process")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


@contextmanager
def _objects() -> Iterator[str]:
    """The endpoint of an object storage on this machine, with an empty bucket."""
    with subprocess.Popen([sys.executable, "-c", _OBJECTS], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            endpoint = f"http://127.0.0.1:{int(process.stdout.readline())}"
            urllib.request.urlopen(urllib.request.Request(f"{endpoint}/memories", method="PUT")).close()
            yield endpoint
        finally:
            process.kill()


def _row(place: str, flags: dict[str, str], processes: int, options: argparse.Namespace) -> Row:
    given = {"flags": flags | {"embedding.engine": "none"}, "notes": options.notes, "calls": options.calls}
    counted_at = flags.get("store.endpoint", "") if processes == 1 else ""
    workers = [_worker(given | {"number": number, "counted_at": counted_at}) for number in range(processes)]
    for worker in workers:  # the first one fills the store before the next opens it
        assert worker.stdout
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    reports = [json.loads(worker.communicate()[0].splitlines()[-1]) for worker in workers]
    waits = {tool: median(wait for each in reports for wait in each["waits"][tool]) for tool in _TOOLS}
    counted = reports[0]["requests"] if counted_at else {}
    longest = max(wait for each in reports for wait in each["waits"]["remember"])
    return Row(place, processes, waits, longest, {tool: median(each) for tool, each in counted.items()})


def _worker(given: dict[str, object]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench", "places", "--work", json.dumps(given)]
    environ = os.environ | _CREDENTIALS
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ)


def _work(given: dict[str, object]) -> int:
    flags, notes, calls, number, endpoint = (
        given[name] for name in ("flags", "notes", "calls", "number", "counted_at")
    )
    assert isinstance(flags, dict)
    assert isinstance(notes, int)
    assert isinstance(calls, int)
    runtime = StoreRuntime(load(flags, {}))
    context = runtime.context()
    for each in range(notes if number == 0 else 0):
        klass = "note" if each % 30 else "hard_preference"
        remember(context, f"Parcel {each} lies on shelf {each % 7}.", klass=klass)
        runtime.written()
    print("ready", flush=True)
    sys.stdin.readline()
    waits: dict[str, list[float]] = {tool: [] for tool in _TOOLS}
    requests: dict[str, list[int]] = {tool: [] for tool in _TOOLS}
    for each in range(calls):
        for tool in _TOOLS:
            before, began = _requests_so_far(str(endpoint)), perf_counter()
            if tool == "remember":
                remember(context, f"Box {each} of process {number} is full.")
            elif tool == "recall":
                recall(context, f"parcel {each}")
            else:
                constraints(context)
            waits[tool].append(1000 * (perf_counter() - began))
            requests[tool].append(_requests_so_far(str(endpoint)) - before)
        runtime.written()
    runtime.close()
    print(json.dumps({"waits": waits, "requests": requests}), flush=True)
    return 0


def _requests_so_far(endpoint: str) -> int:
    """How many requests the object storage has answered so far; 0 if they are not counted."""
    if not endpoint:
        return 0
    with urllib.request.urlopen(f"{endpoint}/requests-so-far") as answer:
        return int(answer.read())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
