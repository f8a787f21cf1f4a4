"""/healthz and /metrics: what they return, and to whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from http_server import Served, served, token_of

from server.http.metrics import BOUNDS_S, Meter

LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [0-9.e+-]+')


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("open")) as server:
        yield server


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    home = tmp_path_factory.mktemp("guarded")
    token = token_of(home, "acme")
    with served(home) as server:
        yield server, token


def samples(text: str) -> dict[str, float]:
    """The samples of a scrape by name; every line is checked."""
    assert text.endswith("\n")
    lines = [line for line in text.splitlines() if not line.startswith(("# HELP ", "# TYPE "))]
    assert not [line for line in lines if not LINE.fullmatch(line)]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_calls_are_counted_by_tool_without_their_content(open_server: Served) -> None:
    """Calls, errors and durations of each tool; no text, no subject, no unknown tool name."""
    caller = open_server.caller()
    before = samples(open_server.get("/metrics").text)
    caller.done("remember", text="Zebulon collects barometers.", subjects=["zebulon"])
    caller.done("recall", query="what does Zebulon collect?", subjects=["zebulon"])
    assert caller.call("revoke", note_id="zebulon", reason="barometers")["isError"]
    assert "barometer_tool" in str(caller.reply("tools/call", name="barometer_tool", arguments={}))
    text = open_server.get("/metrics").text
    found = samples(text)
    assert not re.search("zebulon|barometer", text, re.IGNORECASE)
    for tool, errors in {"remember": 0, "recall": 0, "revoke": 1, "unknown": 1}.items():
        key = f'stilltrue_calls_total{{verb="{tool}"}}'
        assert found[key] - before.get(key, 0) == 1
        assert found[f'stilltrue_errors_total{{verb="{tool}"}}'] == errors
        assert found[f'stilltrue_call_seconds_count{{verb="{tool}"}}'] == found[key]
        assert found[f'stilltrue_call_seconds_bucket{{verb="{tool}",le="+Inf"}}'] == found[key]
    assert found["stilltrue_stores_open"] == 1


def test_a_histogram_adds_up() -> None:
    """Each bucket counts the calls that took at most its bound; the last one counts all."""
    meter = Meter(frozenset({"recall"}), lambda: 0)
    for seconds in (0.001, 0.005, 0.2, 100.0):
        meter.count("recall", seconds, failed=False)
    found = samples(meter.text())
    buckets = [found[f'stilltrue_call_seconds_bucket{{verb="recall",le="{bound}"}}'] for bound in (*BOUNDS_S, "+Inf")]
    assert buckets == [2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4]
    assert found['stilltrue_call_seconds_sum{verb="recall"}'] == pytest.approx(100.206)


def test_the_format_is_that_of_prometheus(open_server: Served) -> None:
    """The content type names the version of the text format, and each metric has a TYPE line before its samples."""
    answer = open_server.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    described: set[str] = set()
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            described.add(line.split()[2])
        elif not line.startswith("#"):
            assert re.sub(r"(_bucket|_sum|_count)?(\{.*)? .*", "", line) in described


def test_health_is_public(guarded: tuple[Served, str]) -> None:
    """It needs no token, accepts any host name, and answers just `ok`."""
    server, _ = guarded
    assert server.get("/healthz", Host="10.0.0.7").text == "ok\n"


def test_metrics_require_this_machine_or_a_token(guarded: tuple[Served, str]) -> None:
    """Requests through a local proxy, with a wrong token, or from a rebound host name are refused."""
    server, token = guarded
    assert server.get("/metrics").status_code == 200
    far = {"X_Forwarded_For": "203.0.113.9"}
    assert server.get("/metrics", **far).status_code == 401
    assert server.get("/metrics", **far, Authorization="Bearer st_wrong").status_code == 401
    assert server.get("/metrics", **far, Authorization=f"Bearer {token}").status_code == 200
    assert server.get("/metrics", Host="evil.example").status_code == 421
    assert server.get("/metrics", Origin="https://evil.example").status_code == 403


def test_metrics_name_no_tenant(guarded: tuple[Served, str], tmp_path: Path) -> None:
    """A tenant's token shows the totals of all tenants and no tenant's name."""
    server, token = guarded
    server.caller(token).done("remember", text="Tom has a parrot.")
    assert "acme" not in server.get("/metrics").text
