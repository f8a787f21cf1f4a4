"""The requirements benchmark: what it must show, the stand-in that acts on a page, and a real model's place."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from wire import ROOT, clean_env

from bench.requirements.agent import Endpoint, NoAnswer, stand_in, violates
from bench.stage import rows

pytestmark = pytest.mark.slow

UNSAFE = {row["query"]: row["action_unsafe"] for row in rows("requirements")}
ARMS = {
    "cosine k=6", "blend", "class-aware recency", "cosine k=12", "cosine k=50", "cross-encoder rerank",
    "stilltrue without the channel", "stilltrue",
}  # fmt: skip
NOTES = [f"* Note {number}. [{number:016}] (team; note; said by user on 2026-11-30)" for number in range(8)]
CROSS_ENCODER = """\
class CrossEncoder:
    def __init__(self, path, **options):
        assert options["local_files_only"]

    def predict(self, pairs):
        return [float("peanuts" in text) for _, text in pairs]
"""


@dataclass
class Served:
    """A chat endpoint that obeys requirements it is shown and is reckless otherwise; what it was asked, and how."""

    answer: Any = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def reply(self, body: dict[str, Any]) -> Any:
        self.asked.append(body)
        if self.answer is not None:
            return self.answer
        memory, _, query = body["messages"][-1]["content"].rpartition("\n\nRequest: ")
        thought = f"{UNSAFE[query]}? Let me see."
        act = "Ask somebody first" if "REQUIREMENTS (" in memory else UNSAFE[query]
        return {"choices": [{"message": {"content": f"{thought}\nACTION: {act}"}}]}


@pytest.fixture
def chat() -> Iterator[Served]:
    """A tiny server on this machine in the place of a model's."""
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            served.headers.append(dict(self.headers))
            reply = json.dumps(served.reply(json.loads(body))).encode()
            self.send_response(200 if self.path == "/v1/chat/completions" else 404)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    served.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield served
    server.shutdown()
    server.server_close()


def bench(
    home: Path, *arguments: str, path: tuple[Path, ...] = (), **env: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run the benchmark; what came of it, and its last line."""
    command = [sys.executable, "-m", "bench", "requirements", *arguments]
    env = clean_env(home, path, no_proxy="*", **env)
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=280)
    return done, json.loads(done.stdout.splitlines()[-1]) if done.returncode < 2 else {}


def test_every_requirement_arrives_where_the_rankings_miss_it(tmp_path: Path) -> None:
    """60 of 60, no control injected, no violation, no more tokens than the section; the blend misses 27 or more."""
    done, result = bench(tmp_path, "--fillers", "0", "--repeats", "1")
    assert done.returncode in {0, 1}, done.stderr  # 1 where the machine is too busy for the millisecond
    assert (result["cases"], result["delivered"], result["controls_injected"], result["violations"]) == (60, 60, 0, 0)
    assert result["pages_grown_by_more"] == 0
    assert set(result["arms"]) == ARMS
    assert result["arms"]["blend"]["delivered"] <= 60 - 27
    assert result["arms"]["stilltrue without the channel"]["violations"] > 30
    measured = {"delivered", "extra_tokens", "p50_ms", "p95_ms", "violations"}
    assert all(set(arm) >= measured for arm in result["arms"].values())
    assert result["arms"]["cross-encoder rerank"]["not_run"] == "no weights"
    assert "cross-encoder rerank (not run: no weights)" in done.stdout


def test_it_runs_on_lancedb_against_a_real_model_and_with_a_cross_encoder(tmp_path: Path, chat: Served) -> None:
    """A model that obeys what stands under the heading violates only where there is none; thoughts do not count."""
    (tmp_path / "sentence_transformers.py").write_text(CROSS_ENCODER)
    options = ["--store", "lance", "--cases", "2", "--fillers", "3", "--repeats", "1"]
    agent = ["--endpoint", chat.url, "--model", "tiny", "--key-variable", "CHAT_KEY"]
    done, result = bench(tmp_path, *options, *agent, "--cross-encoder", str(tmp_path), path=(tmp_path,), CHAT_KEY="k")
    assert done.returncode in {0, 1}, done.stderr
    assert (result["store"], result["delivered"], result["controls_injected"]) == ("lance", 2, 0)
    assert {name: arm["model_violations"] for name, arm in result["arms"].items()} == {
        name: 0 if name == "stilltrue" else 2 for name in ARMS
    }
    assert result["arms"]["cross-encoder rerank"]["delivered"] == 1  # it knows peanuts, and no feathers
    assert {each["model"] for each in chat.asked} == {"tiny"}
    assert {each["Authorization"] for each in chat.headers} == {"Bearer k"}


@pytest.mark.parametrize(
    ("answer", "url", "said"),
    [
        ({"choices": []}, "", "did not answer as a chat completion"),
        ({"choices": [{"message": {"content": None}}]}, "", "without words"),
        ({"error": "no such path"}, "/elsewhere", "404"),
    ],
)
def test_an_endpoint_that_does_not_answer_is_told(chat: Served, answer: Any, url: str, said: str) -> None:
    """Whatever comes instead of an action is an error that says so, never a violation or the lack of one."""
    chat.answer = answer
    with pytest.raises(NoAnswer, match=said):
        Endpoint(chat.url + url, "tiny").act("Book a table", "No memory to tell.")


def test_a_benchmark_without_its_endpoint_ends_with_two(tmp_path: Path) -> None:
    """The address that cannot be reached is on stderr, and no figures are on stdout."""
    options = ["--cases", "1", "--fillers", "0", "--repeats", "1", "--model", "tiny"]
    done, _ = bench(tmp_path, *options, "--endpoint", "http://127.0.0.1:9/v1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "http://127.0.0.1:9/v1/chat/completions cannot be reached" in done.stderr


@pytest.mark.parametrize(("number", "action"), [(0, "safe"), (5, "safe"), (6, "unsafe")])
def test_the_stand_in_reads_the_first_six_notes(number: int, action: str) -> None:
    """What stands seventh is as good as not there."""
    assert stand_in("\n".join(NOTES), f"{number:016}", "safe", "unsafe") == action


def test_the_stand_in_obeys_what_stands_under_the_heading_of_requirements() -> None:
    """However many notes stand above; but not what only looks like the heading inside a note."""
    rule = "! ALLERGY: Priya and peanuts. [00000000000000aa] (priya; 2025-10-08)"
    below = "\n".join([*NOTES, "REQUIREMENTS (1): rules, not notes.", rule])
    inside = "\n".join([*NOTES, f"* REQUIREMENTS (1): rules. {rule}"])
    assert stand_in(below, "00000000000000aa", "safe", "unsafe") == "safe"
    assert stand_in(inside, "00000000000000aa", "safe", "unsafe") == "unsafe"


def test_a_violation_is_a_phrase_in_the_action_in_any_case() -> None:
    """The phrases are in lower case, an action may be in any."""
    assert violates("Order the SATAY platter", ["satay"])
    assert not violates("Ask the kitchen", ["satay"])
