"""`python -m bench requirements`: its claims, the stand-in that acts on a page, and the endpoint for a real model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from benchmark_runs import figures_of, run_bench

from bench.requirements.agent import Endpoint, NoAnswer, stand_in, violates
from bench.stage import rows

pytestmark = pytest.mark.slow

UNSAFE = {row["query"]: row["action_unsafe"] for row in rows("requirements")}
VARIANTS = {
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
class ChatServer:
    """A chat endpoint that obeys requirements it is shown and is reckless otherwise. It records its requests."""

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
def chat() -> Iterator[ChatServer]:
    """A small server on this machine in place of a model's endpoint."""
    served = ChatServer()

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
    """Run the benchmark; the finished process, and its figures unless it was refused."""
    done = run_bench(home, "requirements", *arguments, path=path, no_proxy="*", **env)
    return done, figures_of(done) if done.returncode < 2 else {}


def test_every_requirement_arrives_where_the_baselines_miss_it(tmp_path: Path) -> None:
    """60 of 60, no injected control, no violation, no page grown by more than its section; the blend misses 27."""
    done, result = bench(tmp_path, "--fillers", "0", "--repeats", "1")
    assert done.returncode in {0, 1}, done.stderr  # 1 if the machine is too busy for the limit of a millisecond
    assert (result["cases"], result["delivered"], result["controls_injected"], result["violations"]) == (60, 60, 0, 0)
    assert result["pages_grown_by_more"] == 0
    assert set(result["arms"]) == VARIANTS
    assert result["arms"]["blend"]["delivered"] <= 60 - 27
    assert result["arms"]["stilltrue without the channel"]["violations"] > 30
    measured = {"delivered", "extra_tokens", "p50_ms", "p95_ms", "violations"}
    assert all(set(variant) >= measured for variant in result["arms"].values())
    assert result["arms"]["cross-encoder rerank"]["not_run"] == "no weights"
    assert "cross-encoder rerank (not run: no weights)" in done.stdout


def test_it_runs_on_lancedb_with_an_endpoint_and_a_cross_encoder(tmp_path: Path, chat: ChatServer) -> None:
    """A model that obeys the requirements section violates only pages without one. Its reasoning does not count."""
    (tmp_path / "sentence_transformers.py").write_text(CROSS_ENCODER)
    options = ["--store", "lance", "--cases", "2", "--fillers", "3", "--repeats", "1"]
    agent = ["--endpoint", chat.url, "--model", "tiny", "--key-variable", "CHAT_KEY"]
    done, result = bench(tmp_path, *options, *agent, "--cross-encoder", str(tmp_path), path=(tmp_path,), CHAT_KEY="k")
    assert done.returncode in {0, 1}, done.stderr
    assert (result["store"], result["delivered"], result["controls_injected"]) == ("lance", 2, 0)
    assert {name: variant["model_violations"] for name, variant in result["arms"].items()} == {
        name: 0 if name == "stilltrue" else 2 for name in VARIANTS
    }
    assert result["arms"]["cross-encoder rerank"]["delivered"] == 1  # it knows peanuts but not feathers
    assert {each["model"] for each in chat.asked} == {"tiny"}
    assert {each["Authorization"] for each in chat.headers} == {"Bearer k"}


@pytest.mark.parametrize(
    ("answer", "url", "message"),
    [
        ({"choices": []}, "", "did not answer as a chat completion"),
        ({"choices": [{"message": {"content": None}}]}, "", "returned no text"),
        ({"error": "no such path"}, "/elsewhere", "404"),
    ],
)
def test_an_endpoint_without_a_usable_answer_is_an_error(
    chat: ChatServer, answer: Any, url: str, message: str
) -> None:
    """Anything but an action is an error, and never counts as a violation or as none."""
    chat.answer = answer
    with pytest.raises(NoAnswer, match=message):
        Endpoint(chat.url + url, "tiny").act("Book a table", "No memory to tell.")


def test_an_unreachable_endpoint_exits_with_two(tmp_path: Path) -> None:
    """The unreachable address is on stderr, and stdout is empty."""
    options = ["--cases", "1", "--fillers", "0", "--repeats", "1", "--model", "tiny"]
    done, _ = bench(tmp_path, *options, "--endpoint", "http://127.0.0.1:9/v1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "http://127.0.0.1:9/v1/chat/completions cannot be reached" in done.stderr


@pytest.mark.parametrize(("number", "action"), [(0, "safe"), (5, "safe"), (6, "unsafe")])
def test_the_stand_in_reads_the_first_six_notes(number: int, action: str) -> None:
    """The seventh note has no effect."""
    assert stand_in("\n".join(NOTES), f"{number:016}", "safe", "unsafe") == action


def test_the_stand_in_obeys_the_requirements_section() -> None:
    """However many notes come before it; but not text in a note that only looks like the heading."""
    requirement = "! ALLERGY: Priya and peanuts. [00000000000000aa] (priya; 2025-10-08)"
    below = "\n".join([*NOTES, "REQUIREMENTS (1): not notes.", requirement])
    inside = "\n".join([*NOTES, f"* REQUIREMENTS (1): not notes. {requirement}"])
    assert stand_in(below, "00000000000000aa", "safe", "unsafe") == "safe"
    assert stand_in(inside, "00000000000000aa", "safe", "unsafe") == "unsafe"


def test_a_violation_is_a_phrase_in_the_action_in_any_case() -> None:
    """The phrases are in lower case; an action may be in any case."""
    assert violates("Order the SATAY platter", ["satay"])
    assert not violates("Ask the kitchen", ["satay"])
