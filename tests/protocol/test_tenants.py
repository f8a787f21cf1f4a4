"""Tenants are separate stores: nothing of one is reached, hinted at or counted through another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from http_server import Caller, Served, data_of, said, served, token_of
from seeded_store import texts_in
from wire import ERAS, HANDSHAKE, ONE_ERA_AND_LATER_BOTH, Era, wire

SECRET = re.compile("zebulon|barometer|quartz", re.IGNORECASE)
"""Words that occur only in the notes of the victim."""
VAULT = "vault"
"""The victim's session name and request id."""
CAPABILITIES = {"tools", "resources", "prompts", "completions"}
"""The capabilities the server declares. A new one needs tests here as well."""


@dataclass
class Two:
    """A server with a victim that has notes, an intruder of another tenant, and two more tokens.

    `second` is another token of the victim's tenant; `fresh` is of a third tenant.
    """

    server: Served
    victim: Caller
    intruder: Caller
    second: Caller
    fresh: Caller
    note: str
    retired: str
    requirement: str

    @property
    def ids(self) -> list[str]:
        return [self.note, self.retired, self.requirement]


@pytest.fixture(scope="module", params=ONE_ERA_AND_LATER_BOTH)
def two(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    home, era = tmp_path_factory.mktemp("tenants"), request.param
    tokens = [token_of(home, *each) for each in (("acme",), ("globex",), ("acme", "second"), ("initech",))]
    with served(home) as server:
        victim, intruder, second, fresh = (server.caller(token, era) for token in tokens)
        retired = victim.done("remember", text="Zebulon collects barometers.", subjects=["zebulon"])["id"]
        note = victim.done("supersede", note_ids=[retired], text="Zebulon collects quartz now.")["id"]
        requirement = victim.done(
            "remember", text="Zebulon must not touch quartz.", klass="allergy", subjects=["zebulon", "user"],
            attribute="vault-slot", request_id=VAULT,
        )["id"]  # fmt: skip
        victim.done("recall", query="what does Zebulon collect?", session=VAULT)
        intruder.done("remember", text="Tom has a parrot.", subjects=["tom"])
        fresh.done("remember", text="Tom has a parrot.", subjects=["tom"])
        yield Two(server, victim, intruder, second, fresh, note, retired, requirement)


def arguments(two: Two, schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments that try to reach the victim through everything that could name something of it.

    First each argument alone, then all at once, in case one opens what another blocks.
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
        every: dict[str, Any] = {**also, **switches, "subjects": ["zebulon"], "klass": "fact", "outcome": "misled"}
        every |= {"text": "Zebulon has a cat.", "query": "what does Zebulon collect?", "reason": "mine"}
        every |= {"note_id": note_id, "note_ids": [note_id]}
        yield {name: value for name, value in every.items() if name in schema["properties"]}


def leaks(answer: object, asked: object) -> list[str]:
    """The victim's words in an answer, except those that were in the question."""
    own = {word.lower() for word in SECRET.findall(str(asked))}
    return [word for word in SECRET.findall(str(answer)) if word.lower() not in own]


@pytest.mark.slow
def test_no_tool_and_no_argument_reaches_another_tenant(two: Two) -> None:
    """Ids, subjects, sessions, names and paths of the victim return nothing, in any argument of any tool."""
    tools = {tool["name"]: tool["inputSchema"] for tool in two.intruder.reply("tools/list")["result"]["tools"]}
    assert len(tools) >= 7
    for name, schema in tools.items():
        for sent in arguments(two, schema):
            answer = two.intruder.call(name, **sent)
            assert not leaks(answer, sent), (name, sent)
            data = answer.get("structuredContent", {})
            # Request ids belong to a tenant: with the victim's, the intruder stores a note of its own.
            assert not {*two.ids} & {data.get("id"), *data.get("replaced", ())}, (name, sent)


def test_the_victims_notes_are_unchanged(two: Two) -> None:
    """No other tenant can revoke, replace, rate or count them."""
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
    """Lists, templates, prompts and completions return nothing for any id, subject or name of the victim."""

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


def test_the_instructions_contain_nothing_of_another_tenant(two: Two) -> None:
    """A new connection gets its own tenant's requirements; and these tests cover every declared capability."""
    params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
    newcomer = Caller(two.fresh.http, two.fresh.era)
    reply = (
        newcomer.reply("initialize", **params) if newcomer.era == "handshake" else newcomer.reply("server/discover")
    )
    assert not SECRET.search(str(reply))
    assert set(reply["result"]["capabilities"]) == CAPABILITIES


def test_two_tokens_of_a_tenant_share_its_notes(two: Two) -> None:
    """A tenant has one store for all its tokens, but each token is a session of its own."""
    chain = two.second.done("recall", query="what does Zebulon collect?")["chains"][0]
    assert chain["lead"][0]["id"] == two.note
    assert chain.get("retrieved_session", 0) == 0


def test_each_tenant_has_its_own_folder(two: Two) -> None:
    """The folder has the tenant's name and only its notes; the store of stdio is not created."""
    folder = data_of(two.server.home)
    assert sorted(each.name for each in (folder / "tenants").iterdir()) == ["acme", "globex", "initech"]
    assert "Zebulon collects quartz now." in texts_in(folder / "tenants" / "acme")
    assert not {"Zebulon collects barometers.", "Mine now."} & {*texts_in(folder / "tenants" / "globex")}
    assert not (folder / "local").exists()


def test_the_session_of_another_token_is_not_found(tmp_path: Path) -> None:
    """A session id from the handshake is useless with any other token, even one of the same tenant."""
    mine, *others = (token_of(tmp_path, *each) for each in (("acme",), ("globex",), ("acme", "second")))
    with served(tmp_path) as server:
        victim = server.caller(mine)
        for token in others:
            thief = server.caller(token)
            thief.session = victim.session
            assert thief.post("tools/call", {"name": "constraints", "arguments": {}}).status_code == 404
            assert thief.http.delete("/mcp", headers=victim.session).status_code == 404
        assert victim.done("constraints") is not None


def test_in_the_stateless_protocol_a_session_belongs_to_a_token(tmp_path: Path) -> None:
    """Clients with the same token share retrieval counts; another token of the tenant has its own."""
    one, other = token_of(tmp_path, "acme"), token_of(tmp_path, "acme", "second")
    asked = {"query": "what does Priya drink?"}

    def counts(token: str) -> tuple[int, int]:
        chain = server.caller(token, "modern").done("recall", **asked)["chains"][0]
        return chain.get("retrieved_session", 0), chain.get("retrieved_total", 0)

    with served(tmp_path, "--set", "recall.refresh_floor_s=0") as server:
        server.caller(one, "modern").done("remember", text="Priya prefers tea.")
        assert [counts(one), counts(one), counts(other), counts(one)] == [(0, 0), (1, 1), (0, 2), (2, 3)]


@pytest.mark.parametrize("era", ERAS)
def test_the_tenant_local_shares_its_memory_with_stdio(tmp_path: Path, era: Era) -> None:
    """A client over HTTP with a token of `local` and one on stdio see the same notes."""
    token = token_of(tmp_path, "local")
    with served(tmp_path) as server:
        note = server.caller(token, era).done("remember", text="Priya prefers tea.")["id"]
        with wire(tmp_path, "--store", data_of(tmp_path) / "local") as client:
            assert note in str(client.done("recall", query="what does Priya drink?"))


def test_concurrent_tenants_stay_separate(tmp_path: Path) -> None:
    """Eight tenants call at once with a limit of two open stores; each finds its own notes and no others."""
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
