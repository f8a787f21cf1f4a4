"""Resources that can be read and watched: requirements, chains, sessions, the status of the store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from http_server import PLACES, reached
from mcp.shared.exceptions import MCPError
from sdk_client import SdkClient, text_of_blocks
from wire import ERAS, Era, Wire, wire

from server.protocol.subscriptions import Watchers


@pytest.fixture(scope="module", params=product(PLACES, ERAS), ids=" ".join)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SdkClient]:
    """A server over each transport, with each protocol version."""
    with reached(*request.param, tmp_path_factory.mktemp("server")) as connected:
        yield connected


def content(client: SdkClient, uri: str) -> str:
    (only,) = client.portal.call(client.client.read_resource, uri).contents
    return str(only.text)


def data(client: SdkClient, uri: str) -> dict[str, Any]:
    return dict(json.loads(content(client, uri)))


def test_the_resources_are_listed(client: SdkClient) -> None:
    """Fixed URIs are listed as resources, URIs with a parameter as templates."""
    assert [str(each.uri) for each in client.portal.call(client.client.list_resources).resources] == [
        "memory://requirements/user",
        "memory://session",
        "memory://status",
    ]
    templates = client.portal.call(client.client.list_resource_templates).resource_templates
    assert [each.uri_template for each in templates] == [
        "memory://requirements/{subject}",
        "memory://chain/{note_id}",
        "memory://session/{name}",
    ]


@pytest.mark.parametrize("subject", ["repo:api", "R&D", "a/b?c#d%", "../x"])
def test_the_requirements_of_any_subject_can_be_read(client: SdkClient, subject: str) -> None:
    """The content is the answer of `constraints`, whatever characters the subject contains."""
    client.done("remember", text=f"Never delete {subject}.", klass="hard_preference", subjects=[subject])
    text = content(client, f"memory://requirements/{quote(subject, safe='')}")
    assert text == text_of_blocks(client.call("constraints", subjects=[subject]))
    assert f"Never delete {subject}." in text


def test_a_chain_can_be_read_by_any_of_its_notes(client: SdkClient) -> None:
    """What holds leads and its whole history follows, whichever of its notes the URI names."""
    old = client.done("remember", text="The port is 5432.")["id"]
    new = client.done("supersede", note_ids=[old], text="The port is 5433.", reason="it moved")["id"]
    text = content(client, f"memory://chain/{old}")
    assert text.startswith("* The port is 5433.")
    assert "it moved" in text
    assert content(client, f"memory://chain/{new}") == text


def test_a_session_lists_what_it_has_retrieved(client: SdkClient) -> None:
    """Each returned note with its counts, for a named session and for that of the connection."""
    note = client.done("remember", text="Tom keeps the key of locker 7.", subjects=["locker"])["id"]
    client.done("recall", query="locker 7 key", subjects=["locker"], session="planning")
    client.done("recall", query="locker 7 key", subjects=["locker"])
    (retrieved,) = data(client, "memory://session/planning")["notes"]
    assert [retrieved[name] for name in ("id", "status", "retrieved_session", "retrieved_total")] == [
        note,
        "current",
        1,
        2,
    ]
    assert note in [each["id"] for each in data(client, "memory://session")["notes"]]
    assert data(client, "memory://session/unheard%20of")["notes"] == []


def test_the_status_shows_the_location_and_health_of_the_store(client: SdkClient) -> None:
    """Location, model, problems, degradation and counts are current."""
    before = data(client, "memory://status")
    client.done("remember", text="One more.")
    after = data(client, "memory://status")
    assert (after["location"], after["model"], after["problems"]) == ("memory", "off", [])
    assert after["notes"] == before["notes"] + 1
    assert after["degraded"] == "embedding.engine is none"


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("memory://nothing", "There is no resource memory://nothing."),
        ("memory://chain/", "There is no resource memory://chain/."),
        ("memory://status/x", "There is no resource"),
        ("file:///etc/passwd", "There is no resource"),
        ("memory://chain/zzzz", "there is no note 'zzzz'"),
        ("memory://requirements/%20", "There is no resource"),
    ],
)
def test_an_unknown_resource_is_refused_with_a_sentence(client: SdkClient, uri: str, message: str) -> None:
    """The error says what is wrong with the URI or the id."""
    with pytest.raises(MCPError, match=message.replace(".", r"\.")):
        content(client, uri)


def test_a_named_session_keeps_its_counts_across_restarts(tmp_path: Path) -> None:
    """After a restart a session of the same name continues counting; the process's own session starts anew."""
    named = {"query": "locker 7 key", "session": "planning"}
    with wire(tmp_path, "--set", "embedding.engine=none", "--set", "recall.refresh_floor_s=0") as client:
        client.done("remember", text="Tom keeps the key of locker 7.")
        for _ in range(2):
            client.done("recall", **named)
        client.close_stdin()
        assert client.ended() == 0
    with wire(tmp_path, "--set", "embedding.engine=none", "--set", "recall.refresh_floor_s=0") as client:
        assert counts_in(client, "memory://session/planning") == [(2, 2)]
        assert counts_in(client, "memory://session") == []
        assert client.done("recall", **named)["chains"][0]["retrieved_session"] == 2
        assert counts_in(client, "memory://session/planning") == [(3, 3)]


def counts_in(client: Wire, uri: str) -> list[tuple[int, int]]:
    """The counts in the resource of a session."""
    (only,) = client.ask("resources/read", uri=uri)["contents"]
    return [(each["retrieved_session"], each["retrieved_total"]) for each in json.loads(only["text"])["notes"]]


WATCHED = ("memory://requirements/repo:api", "memory://status", "memory://session")


def watch(client: Wire, *uris: str) -> None:
    """Subscribe in the way of the protocol version, and return once the server has acknowledged it."""
    if client.era == "handshake":
        for uri in uris:
            client.ask("resources/subscribe", uri=uri)
        return
    client.send("subscriptions/listen", notifications={"resourceSubscriptions": list(uris)})
    assert client.read()["method"] == "notifications/subscriptions/acknowledged"


def news(client: Wire, number: int) -> list[str]:
    """The resources reported as changed until this call and one more request have been answered."""
    heard = []
    for wanted in (lambda: number, lambda: client.send("tools/list")):
        last = wanted()
        while (message := client.read()).get("id") != last:
            assert message["method"] == "notifications/resources/updated"
            heard.append(message["params"]["uri"])
        assert not message["result"].get("isError"), message
    return sorted(heard)


@pytest.mark.parametrize("era", ERAS)
def test_watchers_are_notified_of_what_changed_and_nothing_else(tmp_path: Path, era: Era) -> None:
    """A requirement changes the requirements of its subjects and the status; a recall changes the session."""
    with wire(tmp_path, "--ephemeral", "--set", "embedding.engine=none", era=era) as client:
        watch(client, *WATCHED)
        requirement = {"text": "Never force-push.", "klass": "hard_preference", "subjects": ["repo:api"]}
        assert news(client, client.start_call("remember", **requirement)) == list(WATCHED[:2])
        other = {"text": "Priya likes tea.", "subjects": ["priya"]}
        assert news(client, client.start_call("remember", **other)) == ["memory://status"]
        assert news(client, client.start_call("remember", **other)) == []
        assert news(client, client.start_call("recall", query="tea", subjects=["priya"])) == ["memory://session"]
        assert news(client, client.start_call("constraints")) == []


def test_a_subscription_of_the_handshake_can_be_ended(tmp_path: Path) -> None:
    """After `resources/unsubscribe` no notifications are sent."""
    with wire(tmp_path, "--ephemeral", "--set", "embedding.engine=none") as client:
        watch(client, "memory://status")
        client.ask("resources/unsubscribe", uri="memory://status")
        assert news(client, client.start_call("remember", text="Priya likes tea.")) == []


@pytest.mark.parametrize("era", ERAS)
def test_a_chain_can_be_watched_by_any_of_its_notes(tmp_path: Path, era: Era) -> None:
    """Someone who watches an old note is notified when it is replaced."""
    with wire(tmp_path, "--ephemeral", "--set", "embedding.engine=none", era=era) as client:
        old = client.done("remember", text="The port is 5432.")["id"]
        watch(client, f"memory://chain/{old}")
        number = client.start_call("supersede", note_ids=[old], text="The port is 5433.")
        assert news(client, number) == [f"memory://chain/{old}"]


def test_changes_in_one_store_are_not_reported_to_watchers_of_another() -> None:
    """Two tenants of one server watch the same URI, and each is notified of its own store only."""
    location, heard = ["priya's"], []
    watchers = Watchers(lambda: location[0])
    end = watchers.subscribe(heard.append)
    location[0] = "tom's"
    anyio.run(watchers.notify, ["memory://status"])
    assert heard == []
    location[0] = "priya's"
    anyio.run(watchers.notify, ["memory://status"])
    assert [event.uri for event in heard] == ["memory://status"]
    end()
    assert not watchers.any
