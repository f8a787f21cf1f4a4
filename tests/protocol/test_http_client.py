"""The SDK's client over Streamable HTTP: subscriptions, confirmation, and one store for several clients.

test_resources.py and test_prompts.py run over HTTP as well.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from http_server import Served, served, token_of
from mcp.types import ResourceUpdatedNotification
from sdk_client import SdkClient, text_of_blocks
from test_confirmation import NUTS, User
from wire import ONE_ERA_AND_LATER_BOTH, SOON_S, Era

from tools.support.confirmation import UNCONFIRMED

STATUS, SESSION = "memory://status", "memory://session"


class Watcher:
    """The notifications that a client has received about the resources that it watches."""

    def __init__(self) -> None:
        self.received: queue.Queue[str] = queue.Queue()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.received.put(str(message.params.uri))

    def next(self, count: int) -> list[str]:
        """The next few resources that changed."""
        return sorted(self.received.get(timeout=SOON_S) for _ in range(count))

    def awake(self, client: SdkClient) -> None:
        """Return once notifications arrive: their stream is opened some time after the handshake was answered."""
        for number in range(100):
            client.done("remember", text=f"The stream was tried {number} times.", subjects=["stream"])
            try:
                self.received.get(timeout=0.2)
            except queue.Empty:
                continue
            return
        raise AssertionError("no notification came")


@contextmanager
def watching(server: Served, era: Era, *uris: str, token: str | None = None) -> Iterator[tuple[SdkClient, Watcher]]:
    """A client that watches these resources, in the way of its protocol version."""
    watcher = Watcher()
    with server.sdk(token, era, message_handler=watcher) as client:
        if era == "handshake":
            for uri in uris:
                client.portal.call(client.client.session.subscribe_resource, uri)
            watcher.awake(client)
            yield client, watcher
        else:
            listening = client.client.listen(resource_subscriptions=uris)
            with client.portal.wrap_async_context_manager(listening):
                yield client, watcher


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
@pytest.mark.parametrize("era", ONE_ERA_AND_LATER_BOTH)
def test_a_watcher_is_notified_of_changes_by_others(tmp_path: Path, era: Era) -> None:
    """It is notified of each change, in order, and of nothing else."""
    requirements = "memory://requirements/repo%3Aapi"
    with served(tmp_path, "--ephemeral") as server, watching(server, era, STATUS, requirements) as (own, watcher):
        other = server.caller(era=era)
        other.done("remember", text="Never force-push.", klass="hard_preference", subjects=["repo:api"])
        assert watcher.next(2) == [requirements, STATUS]
        other.done("recall", query="push")  # changes only its own session
        own.done("remember", text="Priya likes tea.")
        assert watcher.next(1) == [STATUS]
        other.done("remember", text="Priya likes tea.")  # exists already
        chain = own.done("remember", text="Tom has a cat.", klass="hard_preference", subjects=["repo:api"])
        assert watcher.next(2) == [requirements, STATUS]
        assert chain["stored"]
        assert watcher.received.empty()


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
@pytest.mark.parametrize("era", ONE_ERA_AND_LATER_BOTH)
def test_notifications_stay_within_a_tenant(tmp_path: Path, era: Era) -> None:
    """Two tenants watch the same names; each is notified only of its own store."""
    mine, theirs = token_of(tmp_path, "acme"), token_of(tmp_path, "globex")
    requirements = "memory://requirements/zebulon"
    with served(tmp_path) as server:
        victim = server.caller(theirs, era)
        allergy = {"klass": "allergy", "subjects": ["zebulon"]}
        note = victim.done("remember", text="Zebulon must not touch quartz.", **allergy)["id"]
        with watching(server, era, STATUS, SESSION, requirements, f"memory://chain/{note}", token=mine) as (
            own,
            watcher,
        ):
            victim.done("remember", text="Zebulon must not touch nickel.", **allergy)
            victim.done("revoke", note_id=note, reason="it was a joke")
            victim.done("recall", query="what must Zebulon not touch?")
            own.done("remember", text="Tom has a cat.")
            assert watcher.next(1) == [STATUS]
            assert watcher.received.empty()


@pytest.mark.parametrize("era", ONE_ERA_AND_LATER_BOTH)
def test_a_closed_stream_does_not_block_writers(tmp_path: Path, era: Era) -> None:
    """Whether the client unsubscribed or just disconnected."""
    with served(tmp_path, "--ephemeral") as server:
        for _ in range(3):
            caller = server.caller(era=era)
            if era == "handshake":
                caller.reply("resources/subscribe", uri=STATUS)
                caller.reply("resources/unsubscribe", uri=STATUS)
                caller.reply("resources/subscribe", uri=STATUS)
                caller.http.delete("/mcp", headers=caller.session)
            else:
                body, headers = caller.message(
                    "subscriptions/listen", {"notifications": {"resourceSubscriptions": [STATUS]}}
                )
                with caller.http.stream("POST", "/mcp", json=body, headers=headers) as answer:
                    assert answer.status_code == 200
            caller.http.close()
        writer = server.caller(era=era)
        for number in range(3):
            assert writer.done("remember", text=f"Locker {number} is Tom's.")["stored"]
        assert "Traceback" not in server.stderr


@pytest.mark.parametrize("era", ONE_ERA_AND_LATER_BOTH)
def test_the_user_is_asked_over_http_if_the_client_can(tmp_path: Path, era: Era) -> None:
    """Accepted, the source is the user; declined, nothing is written; if the client cannot ask, it is marked."""
    with served(tmp_path, "--ephemeral", "--set", "requirements.confirm=elicit") as server:
        with server.sdk(era=era, elicitation_callback=(user := User("decline", "accept"))) as client:
            refused = client.call("remember", **NUTS)
            assert refused.is_error
            assert "did not agree. Nothing was written." in text_of_blocks(refused)
            assert "none for anyone" in text_of_blocks(client.call("constraints"))
            stored = client.done("remember", **NUTS)
            assert stored["note"]["source"] == "user"
        assert ["ALLERGY: Priya is allergic to peanuts." in question for question in user.asked] == [True, True]
        with server.sdk(era=era) as client:
            gone = client.done("revoke", note_id=stored["id"], reason="a joke")
            assert "a joke (unconfirmed)" in gone["chain"]["lead"][0]["mark"]
            again = client.done("remember", text="Tom is allergic to cats.", klass="allergy", subjects=["tom"])
            assert again["note"]["source"] == f"agent{UNCONFIRMED}"


@pytest.mark.parametrize("era", ONE_ERA_AND_LATER_BOTH)
def test_two_clients_on_one_store_see_each_others_notes(tmp_path: Path, era: Era) -> None:
    """Each recalls what the other has just remembered, corrected and revoked."""
    with served(tmp_path) as server, server.sdk(era=era) as one, server.sdk(era=era) as other:
        tea = one.done("remember", text="Priya drinks black tea.")["id"]
        coffee = other.done("supersede", note_ids=[tea], text="Priya drinks coffee now.")["id"]
        lead = one.done("recall", query="what does Priya drink?")["chains"][0]["lead"][0]
        assert (lead["id"], lead["text"]) == (coffee, "Priya drinks coffee now.")
        one.done("revoke", note_id=coffee, reason="it was a joke")
        assert "it was a joke" in str(other.done("recall", query="what does Priya drink?"))
