"""Tenants are separate stores: nothing of one is reached, hinted at or counted through another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from http_server import Caller, Served, data_of, said, served, token_of
from seeded_store import texts_in
from wire import ERAS, HANDSHAKE, ONE_ERA_AND_LATER_BOTH, Era, wire

from server.config.load import load
from server.tenants import TenantStores
from stilltrue.errors import StilltrueError

SECRET = re.compile("zebulon|barometer|quartz", re.IGNORECASE)
"""Words that only the notes of the victim have."""
VAULT = "vault"
"""The victim's name of a session, and its key of a request."""
FACES = {"tools", "resources", "prompts", "completions"}
"""What the server says that it can do. What is added to it has to be tried here as well."""


@dataclass
class Two:
    """A server with a victim, who has notes, an intruder with a token of another tenant, and one who said nothing."""

    server: Served
    victim: Caller
    intruder: Caller
    second: Caller
    fresh: Caller
    note: str
    retired: str
    rule: str

    @property
    def ids(self) -> list[str]:
        return [self.note, self.retired, self.rule]


@pytest.fixture(scope="module", params=ONE_ERA_AND_LATER_BOTH)
def two(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    home, era = tmp_path_factory.mktemp("tenants"), request.param
    tokens = [token_of(home, *each) for each in (("acme",), ("globex",), ("acme", "second"), ("initech",))]
    with served(home) as server:
        victim, intruder, second, fresh = (server.caller(token, era) for token in tokens)
        retired = victim.done("remember", text="Zebulon collects barometers.", subjects=["zebulon"])["id"]
        note = victim.done("supersede", note_ids=[retired], text="Zebulon collects quartz now.")["id"]
        rule = victim.done(
            "remember", text="Zebulon must not touch quartz.", klass="allergy", subjects=["zebulon", "user"],
            attribute="vault-slot", request_id=VAULT,
        )["id"]  # fmt: skip
        victim.done("recall", query="what does Zebulon collect?", session=VAULT)
        intruder.done("remember", text="Tom has a parrot.", subjects=["tom"])
        fresh.done("remember", text="Tom has a parrot.", subjects=["tom"])
        yield Two(server, victim, intruder, second, fresh, note, retired, rule)


def arguments(two: Two, schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Calls of a tool that try to reach the victim by each argument that could name something of it.

    Each argument alone, then all at once, so that none of them opens what another one closes.
    """
    harmless = {"text": "Tom has a cat.", "query": "what is collected?", "reason": "why not", "outcome": "helped"}
    names = ["acme", "local", "zebulon", "../../tenants/acme"]
    also = {"session": VAULT, "request_id": VAULT, "attribute": "vault-slot", "as_of": "2099-01-01"}
    for name, kind in schema["properties"].items():
        many = kind.get("type") == "array"
        ours = () if name in ("note_id", "note_ids", "refines") else (*names, also.get(name, "/"))
        tries = (*ours, *two.ids)
        for word in tries if kind.get("type") in ("array", "string") and "enum" not in kind else []:
            sent: dict[str, Any] = {}
            for required in {*schema.get("required", ()), name}:
                sent[required] = harmless.get(required, two.note)
                if schema["properties"][required].get("type") == "array":
                    sent[required] = [two.note]
            yield {**sent, name: [word] if many else word}
    switches = {name: True for name, kind in schema["properties"].items() if kind.get("type") == "boolean"}
    for note_id in two.ids:
        every: dict[str, Any] = {**also, **switches, "subjects": ["zebulon"], "klass": "allergy", "outcome": "misled"}
        every |= {"text": "Zebulon has a cat.", "query": "what does Zebulon collect?", "reason": "mine"}
        every |= {"note_id": note_id, "note_ids": [note_id]}
        yield {name: value for name, value in every.items() if name in schema["properties"]}


def leaks(answer: object, asked: object) -> list[str]:
    """The words of the victim in an answer, but for those that the question itself brought."""
    own = {word.lower() for word in SECRET.findall(str(asked))}
    return [word for word in SECRET.findall(str(answer)) if word.lower() not in own]


@pytest.mark.slow
def test_no_tool_and_no_argument_reaches_another_tenant(two: Two) -> None:
    """Every tool, by every argument: ids, subjects, sessions, names and paths of the victim bring nothing back."""
    tools = {tool["name"]: tool["inputSchema"] for tool in two.intruder.reply("tools/list")["result"]["tools"]}
    assert len(tools) >= 7
    for name, schema in tools.items():
        for sent in arguments(two, schema):
            answer = two.intruder.call(name, **sent)
            assert not leaks(answer, sent), (name, sent)
            said = answer.get("structuredContent", {})
            # The key of a request is each tenant's own: under the victim's, the intruder's note is stored.
            assert not {*two.ids} & {said.get("id"), *said.get("replaced", ())}, (name, sent)


def test_the_victim_is_as_it_was(two: Two) -> None:
    """After all that, nothing of its notes is revoked, replaced or counted by anybody but itself."""
    for each in two.ids:
        assert two.intruder.call("revoke", note_id=each, reason="mine")["isError"]
        assert two.intruder.call("reinstate", note_id=each)["isError"]
        assert two.intruder.call("supersede", note_ids=[each], text="Mine now.")["isError"]
        assert two.intruder.call("feedback", note_ids=[each], outcome="misled")["isError"]
    two.intruder.done("recall", query="what does Zebulon collect?", session=VAULT)
    chain = two.victim.done("recall", query="what does Zebulon collect?", session=VAULT)["chains"][0]
    assert [each["id"] for each in chain["lead"]] == [two.note]
    assert [each["id"] for each in chain["history"]] == [two.retired]
    assert chain["retrieved_total"] == 1


def test_no_resource_and_no_prompt_reaches_another_tenant(two: Two) -> None:
    """What lists, templates, prompts and completions there are, by every id, subject and name of the victim."""

    def answered(method: str, **params: Any) -> dict[str, Any]:
        answer = said(two.fresh.post(method, params))
        assert not leaks(answer, params), (method, params)
        return dict(answer.get("result", {}))

    def completed(ref: dict[str, str], name: str) -> None:
        for begun in ("", "z", "zeb", "quartz, z", *(each[:length] for each in two.ids for length in (8, 12, 15))):
            found = answered("completion/complete", ref=ref, argument={"name": name, "value": begun})
            assert not {*two.ids} & {*found.get("completion", {}).get("values", ())}

    parts = [*two.ids, "zebulon", "acme", "..%2Facme", "../acme", "user", VAULT]
    uris = [each["uri"] for each in answered("resources/list")["resources"]]
    templates = [each["uriTemplate"] for each in answered("resources/templates/list")["resourceTemplates"]]
    prompts = answered("prompts/list")["prompts"]
    assert uris
    assert templates
    assert prompts
    for uri in [*uris, *(re.sub(r"\{.*?\}", part, template) for template in templates for part in parts)]:
        answered("resources/read", uri=uri)
    for template in templates:
        for name in re.findall(r"\{(.*?)\}", template):
            completed({"type": "ref/resource", "uri": template}, name)
    for prompt in prompts:
        names = [each["name"] for each in prompt["arguments"]]
        for part in parts:
            answered("prompts/get", name=prompt["name"], arguments=dict.fromkeys(names, part))
            for name in names:
                answered("prompts/get", name=prompt["name"], arguments={name: part})
        answered("prompts/get", name=prompt["name"])
        for name in names:
            completed({"type": "ref/prompt", "name": prompt["name"]}, name)
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        for cursor in (*two.ids, "acme", "1", ""):
            answered(method, cursor=cursor)


def test_no_greeting_tells_of_another_tenant(two: Two) -> None:
    """What a client is told as it connects is of its own tenant; and no face is left out of these tests."""
    params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
    newcomer = Caller(two.fresh.http, two.fresh.era)
    greeting = (
        newcomer.reply("initialize", **params) if newcomer.era == "handshake" else newcomer.reply("server/discover")
    )
    assert not SECRET.search(str(greeting))
    assert set(greeting["result"]["capabilities"]) == FACES


def test_two_tokens_of_a_tenant_share_its_notes(two: Two) -> None:
    """A tenant is a store, not a token; the calls of another of its tokens are another session."""
    chain = two.second.done("recall", query="what does Zebulon collect?")["chains"][0]
    assert chain["lead"][0]["id"] == two.note
    assert chain.get("retrieved_session", 0) == 0


def test_a_store_lies_where_its_tenant_says(two: Two) -> None:
    """Each in a folder by its name, beside that of stdio, with its own notes alone."""
    folder = data_of(two.server.home)
    assert sorted(each.name for each in (folder / "tenants").iterdir()) == ["acme", "globex", "initech"]
    assert "Zebulon collects quartz now." in texts_in(folder / "tenants" / "acme")
    assert not {"Zebulon collects barometers.", "Mine now."} & {*texts_in(folder / "tenants" / "globex")}
    assert not (folder / "local").exists()


def test_the_session_of_another_is_not_found(tmp_path: Path) -> None:
    """A session id of the handshake opens nothing with another token, be it of the same tenant."""
    mine, *others = (token_of(tmp_path, *each) for each in (("acme",), ("globex",), ("acme", "second")))
    with served(tmp_path) as server:
        victim = server.caller(mine)
        for token in others:
            thief = server.caller(token)
            thief.session = victim.session
            assert thief.post("tools/call", {"name": "constraints", "arguments": {}}).status_code == 404
            assert thief.http.delete("/mcp", headers=victim.session).status_code == 404
        assert victim.done("constraints") is not None


def test_in_the_stateless_era_a_session_is_that_of_a_token(tmp_path: Path) -> None:
    """Two clients with one token count together, those with another token of the same tenant for themselves."""
    one, other = token_of(tmp_path, "acme"), token_of(tmp_path, "acme", "second")
    asked = {"query": "what does Priya drink?"}

    def counts(token: str) -> tuple[int, int]:
        chain = server.caller(token, "modern").done("recall", **asked)["chains"][0]
        return chain.get("retrieved_session", 0), chain.get("retrieved_total", 0)

    with served(tmp_path, "--set", "recall.refresh_floor_s=0") as server:
        server.caller(one, "modern").done("remember", text="Priya prefers tea.")
        assert [counts(one), counts(one), counts(other), counts(one)] == [(0, 0), (1, 1), (0, 2), (2, 3)]


@pytest.mark.parametrize("era", ERAS)
def test_the_tenant_local_is_the_memory_of_stdio(tmp_path: Path, era: Era) -> None:
    """With a token of `local` a client over HTTP and one on stdio have the same notes."""
    token = token_of(tmp_path, "local")
    with served(tmp_path) as server:
        note = server.caller(token, era).done("remember", text="Priya prefers tea.")["id"]
        with wire(tmp_path, "--store", data_of(tmp_path) / "local") as client:
            assert note in str(client.done("recall", query="what does Priya drink?"))


def test_tenants_at_once_stay_apart(tmp_path: Path) -> None:
    """Eight tenants on two stores that are kept open, all at once: each finds its own notes, and no other's."""
    tokens = {name: token_of(tmp_path, name) for name in (f"t{number}" for number in range(8))}
    together = Barrier(8)
    with served(tmp_path, "--set", "http.open_stores=2") as server, ThreadPoolExecutor(8) as threads:

        def found(name: str) -> set[str]:
            caller = server.caller(tokens[name])
            together.wait(60)
            for number in range(3):
                caller.done("remember", text=f"Box {number} is of {name}.", subjects=["depot"])
            return set(re.findall(r"Box \d is of t\d", str(caller.done("recall", query="which box is it?"))))

        for name, boxes in zip(tokens, threads.map(found, tokens), strict=True):
            assert boxes == {f"Box {number} is of {name}" for number in range(3)}
        assert "stilltrue_stores_open 2\n" in server.get("/metrics").text
    for name in tokens:
        stored = texts_in(data_of(tmp_path) / "tenants" / name)
        assert stored == [f"Box {number} is of {name}." for number in range(3)]


class Calls:
    """TenantStores over a folder, called by whoever is named; they are closed in the end."""

    def __init__(self, folder: Path, most: int) -> None:
        self.tenant = ""
        flags = {"http.path": str(folder), "embedding.engine": "none", "store.uri": str(folder / "stdio")}
        self.homes = TenantStores(load(flags, {}), lambda: self.tenant, most)

    def by(self, tenant: str) -> Any:
        self.tenant = tenant
        return self.homes.use()


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Callable[[int], Calls]]:
    made: list[Calls] = []

    def make(most: int) -> Calls:
        made.append(Calls(tmp_path, most))
        return made[-1]

    yield make
    for each in made:
        each.homes.close()


def test_the_least_recently_used_store_is_closed(calls: Callable[[int], Calls]) -> None:
    """Of three tenants and room for two, the one that called longest ago is closed, and opens again when it calls."""
    of = calls(2)
    kept = {}
    for tenant in ("a", "b", "a", "c"):
        with of.by(tenant) as context:
            kept.setdefault(tenant, context)
    assert of.homes.stores == 2
    with of.by("a") as again:
        assert again is kept["a"]
    with of.by("b") as again:
        assert again is not kept["b"]


def test_a_store_in_use_is_not_closed(calls: Callable[[int], Calls]) -> None:
    """While calls are under way there may be more stores than room; what is too many is closed as they end."""
    of = calls(1)
    with of.by("a") as first:
        with of.by("b"):
            assert of.homes.stores == 2
        with of.by("a") as again:
            assert again is first
    assert of.homes.stores == 1


@pytest.mark.parametrize("tenant", ["", ".", "..", "../acme", "a/b", "A", "a\\b", "a\0", "ä", "a" * 41, "acme\n"])
def test_what_is_no_name_opens_nothing(calls: Callable[[int], Calls], tmp_path: Path, tenant: str) -> None:
    """Whoever would hand such a name in, no folder is made of it."""
    of = calls(2)
    with pytest.raises(StilltrueError, match="tenant"), of.by(tenant):
        pass
    assert list(tmp_path.iterdir()) == []
