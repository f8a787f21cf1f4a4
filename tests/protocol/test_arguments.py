"""Arguments as clients and models send them: accepted if the meaning is clear, otherwise refused in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from seeded_store import texts_in
from wire import ERAS, Wire, text_of, wire

from server.config.load import load
from server.protocol.arguments import ALIASES, COUNTS
from server.protocol.dispatch import Dispatcher, memory_tools
from server.runtime import StoreRuntime


@pytest.fixture(scope="module", params=ERAS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One server for all tests, in each era."""
    with wire(tmp_path_factory.mktemp("server"), era=request.param) as client:
        yield client


def test_blanks_in_optional_arguments_count_as_absent(server: Wire) -> None:
    """Some clients send "", null or [] for every unset argument."""
    blanks = {"subjects": "", "klass": None, "cues": [], "importance": "", "valid_from": " ", "refines": ""}
    note = server.done("remember", text="Blanks are unset.", attribute="", request_id="", **blanks)["note"]
    assert (note["subjects"], note["klass"]) == (["user"], "note")
    assert server.done("recall", query="blanks", budget_tokens="", as_of="", session=None, subjects=[""])["chains"]


@pytest.mark.parametrize("spelling", [["Priya", "team"], '["Priya", "team"]', "Priya, team", "[Priya, team]"])
def test_a_list_may_be_sent_as_text(server: Wire, spelling: Any) -> None:
    """JSON in a string and words between commas are the same list."""
    note = server.done("remember", text=f"A list was {spelling!r}.", subjects=spelling, cues="lunch, dinner")["note"]
    assert note["subjects"] == ["priya", "team"]


def test_ids_are_accepted_however_they_were_pasted(server: Wire) -> None:
    """An id alone, in brackets, quotes or backticks, with punctuation, in capitals, or in a list that is a string."""
    first = server.done("remember", text="Spelling one.")["id"]
    spellings = (
        first, f"[{first}]", f'["{first}"]', f"['{first}']", f'"{first}"', f"`{first}`", f"{first},", f"[{first}].",
        first.upper(),
    )  # fmt: skip
    for spelling in (*spellings, *([each] for each in spellings), [f" {first} "]):
        assert server.done("feedback", note_ids=spelling, outcome="helped")["ids"] == [first], spelling
    for spelling in spellings:
        server.done("revoke", note_id=spelling, reason="a test")
        server.done("reinstate", note_id=[spelling])
        assert server.done("remember", text=f"Adds to {spelling}.", refines=spelling)["stored"]


def test_numbers_and_switches_may_be_sent_as_text(server: Wire) -> None:
    """ "0.9" is accepted as a number, and "true" as a switch."""
    server.done("remember", text="Numbers are numbers.", importance="0.9")
    assert server.done("recall", query="numbers", budget_tokens="200", include_retired="true")["chains"]
    assert server.done("recall", query="numbers", budget_tokens=200.0, include_retired="False")["chains"]


def test_text_that_looks_like_json_stays_text(server: Wire) -> None:
    """The text of a note may be a number, a list or a quotation; it is stored byte for byte."""
    for text in ("123", "[1, 2]", '{"a": 1}', "null", "true", '"quoted"', " spaced "):
        assert server.done("remember", text=text)["note"]["text"] == text


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("remember", {}, "text is missing; it is a text."),
        ("remember", {"text": None}, "text is None; it has to be a text."),
        ("remember", {"text": 5}, "text is 5; it has to be a text."),
        ("remember", {"text": ["a", "b"]}, "text is ['a', 'b']; it has to be a text."),
        ("remember", {"text": "x", "importance": "high"}, "importance is 'high'; it has to be a number."),
        ("remember", {"text": "x", "importance": True}, "importance is true; it has to be a number."),
        ("recall", {"query": "x", "limit": True}, "limit is true; it has to be a whole number."),
        ("remember", {"text": "x", "subjects": [7]}, "subjects holds 7; it has to be a list of strings."),
        ("remember", {"text": "x", "subjects": {"a": 1}}, "subjects holds {'a': 1}; it has to be a list of strings."),
        ("remember", {"text": "x", "colour": "red"}, "remember has no argument colour."),
        ("supersede", {"text": "x"}, "note_ids is missing; it is a list of strings."),
        ("supersede", {"note_ids": [], "text": "x"}, "no note id was given."),
        ("feedback", {"note_ids": ["x"], "outcome": "great"}, "outcome is 'great'; it has to be helped or misled."),
        ("recall", {"query": "x", "budget_tokens": "many"}, "budget_tokens is 'many'; it has to be a whole number."),
        ("recall", {"query": "x", "include_retired": "maybe"}, "include_retired is 'maybe'; it has to be true"),
        ("revoke", {"note_id": ["a", "b"], "reason": "x"}, "note_id is ['a', 'b']; it has to be a text."),
    ],
)
def test_a_wrong_argument_is_explained_in_a_sentence(
    server: Wire, tool: str, arguments: dict[str, Any], said: str
) -> None:
    """It says what was sent and what is expected, without words of the validation library."""
    refused = server.refused(tool, **arguments)
    assert said in refused
    assert "validation error" not in refused


BAD = [
    ("remember", {"text": ""}, "text is empty."),
    ("remember", {"text": " \n"}, "text is empty."),
    ("remember", {"text": "x" * 32_769}, "text has 32769 bytes; the limit is 32768."),
    ("remember", {"text": "a\0b"}, "text contains a NUL character."),
    ("remember", {"text": "half an emoji \ud83d"}, "text holds U+FFFD, in place of a character that was lost"),
    ("remember", {"text": "x", "subjects": ["a\udc00"]}, "subjects holds U+FFFD"),
    ("remember", {"text": "x", "klass": "alergy"}, "no class is called 'alergy'. Use one of: allergy,"),
    ("remember", {"text": "x", "importance": 7}, "importance is 7"),
    ("remember", {"text": "x", "importance": float("nan")}, "importance is nan"),
    ("remember", {"text": "x", "subjects": [f"s{n}" for n in range(10_000)]}, "10000 subjects were given"),
    ("remember", {"text": "x", "subjects": ["s" * 10_000]}, "subjects has 10000 characters; the limit is 200."),
    ("remember", {"text": "x", "subjects": "[" * 100_000}, "subjects has 100000 characters; the limit is 200."),
    ("remember", {"text": "x", "valid_from": "yesterday-ish"}, "valid_from is 'yesterday-ish', which is not a date."),
    ("remember", {"text": "x", "valid_from": "2026-05-02", "valid_until": "2026-05-01"}, "valid_until"),
    ("remember", {"text": "x", "refines": "zzzz"}, "there is no note 'zzzz'"),
    ("revoke", {"note_id": "", "reason": "x"}, "no note id was given."),
    ("revoke", {"note_id": "' OR 1=1 --", "reason": "x"}, 'there is no note "\' OR 1=1 --"'),
    ("recall", {"query": ""}, "query is empty."),
    ("recall", {"query": "x", "budget_tokens": -1}, "budget_tokens is -1"),
    ("recall", {"query": "x", "as_of": "31-31"}, "as_of is '31-31', which is not a date."),
]


def test_bad_input_is_refused_and_writes_nothing(server: Wire) -> None:
    """The refusal says what was wrong and what to do, and the store is unchanged."""
    server.done("remember", text="The store exists.")
    before = texts_in(server.home / "store")
    for tool, arguments, said in BAD:
        assert said in server.refused(tool, **arguments), arguments
    assert texts_in(server.home / "store") == before


def test_an_unknown_tool_is_answered_with_the_known_ones(server: Wire) -> None:
    """A misspelt name is answered with the right ones."""
    said = server.refused("remembr", text="x")
    assert said.startswith("There is no tool 'remembr'. There are: remember, supersede,")


class Broken(dict[str, Any]):
    """Arguments that no client can send, which make the argument reader fail."""

    def items(self) -> Any:
        raise RuntimeError("/a/path/of/ours")


def test_an_internal_error_is_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    """The model reads whose fault it is and what to do; the details are only in the log."""
    (first, *_) = memory_tools(Dispatcher(StoreRuntime(load({}, environ={}), ephemeral=True)))
    with pytest.raises(ToolError) as failed:
        anyio.run(first.run, Broken(), Context())
    assert str(failed.value).startswith("remember failed: internal server error; your call was valid.")
    assert "/a/path/of/ours" not in str(failed.value)
    assert "/a/path/of/ours" in caplog.text


def test_an_id_that_was_cut_short_is_never_guessed(server: Wire) -> None:
    """A prefix is refused with the id that it belongs to, and the note is unchanged."""
    whole = server.done("remember", text="Cut short.")["id"]
    assert f"[{whole}]" in server.refused("revoke", note_id=whole[:15], reason="x")
    assert not server.call("revoke", note_id=whole, reason="x").get("isError")


def test_quotes_and_fragments_of_sql_are_data(server: Wire) -> None:
    """Text, subjects, queries and ids are never interpreted."""
    odd = "x'; DROP TABLE log; -- \" % _ \\ `"
    stored = server.done("remember", text=odd, subjects=[odd], attribute=odd, source=odd, request_id=odd, cues=[odd])
    found = server.done("recall", query=odd, subjects=[odd], session=odd)
    assert found["chains"][0]["lead"][0]["text"] == odd
    assert stored["id"] in server.refused("remember", text="another", request_id=odd)


GUESSED = [
    ("remember", {"content": "Guessed one."}),
    ("remember", {"note": "Guessed two.", "type": "fact", "tags": ["priya"]}),
    ("remember", {"memory": "Guessed three.", "category": "fact", "about": "priya"}),
    ("remember", {"fact": "Guessed four.", "class": "fact", "user_id": "priya"}),
    ("remember", {"text": "", "content": "Guessed five.", "kind": "fact", "subject": "priya"}),
    ("remember", {"Text": "Guessed six.", "validFrom": "2026-01-01", "valid-until": "2096-01-01"}),
    ("recall", {"q": "guessed"}),
    ("recall", {"question": "guessed", "max_tokens": 300, "date": "2096-01-01"}),
    ("recall", {"text": "guessed", "tags": "priya", "session_id": "s"}),
    ("recall", {"query": "guessed", "q": "guessed", "k": "3"}),
    ("constraints", {"user": "priya"}),
]


@pytest.mark.parametrize(("tool", "arguments"), GUESSED)
def test_a_name_that_models_guess_is_accepted(server: Wire, tool: str, arguments: dict[str, Any]) -> None:
    """An alias has the effect of the argument that it stands for."""
    done = server.done(tool, **arguments)
    if tool == "remember":
        assert done["note"]["text"].startswith("Guessed")
        named = len(arguments) > 2 and "validFrom" not in arguments
        assert (done["note"]["klass"], done["note"]["subjects"]) == (
            ("fact", ["priya"]) if named else ("note", ["user"])
        )
        assert ("valid_until" in done["note"]) == ("validFrom" in arguments)


def test_every_alias_of_an_id_is_accepted(server: Wire) -> None:
    """`id`, `ids`, `note` and `noteId` work for one note, and for the tools that take several."""
    first = server.done("remember", text="Called anything.")["id"]
    for name in ("id", "ids", "note", "noteId", "memory_id"):
        server.done("feedback", **{name: first}, rating="helped")
        server.done("revoke", **{name: [first]}, why="a test")
        server.done("reinstate", **{name: first})
    assert server.done("supersede", id=first, content="Called something.", kind="fact")["note"]["klass"] == "fact"


def test_a_limit_counts_memories(server: Wire) -> None:
    """`limit: 2` is two memories and says how many more there are, 50 is fifty; no requirement is left out."""
    for number in range(4):
        server.done("remember", text=f"Shelf {number} holds bolts.", subjects=["shelves"])
    server.done("remember", text="Never empty a shelf of bolts.", klass="hard_preference", subjects=["shelves"])
    query = {"query": "what do the shelves hold?", "subjects": ["shelves"]}
    for name in ("limit", "top_k", "maxResults"):
        few = server.done("recall", **query, **{name: 2})
        assert (len(few["chains"]), few["further"], len(few["requirements"])) == (2, 2, 1)
    assert "2 weaker matches not shown" in text_of(server.call("recall", **query, limit=2))
    for many in (50, 1000):
        assert len(server.done("recall", **query, limit=many)["chains"]) == 4
    tight = server.done("recall", **query, budget_tokens=60)
    assert tight["tokens"] <= 60
    assert tight["omitted"]
    assert "limit is 0; at least 1 is expected." in server.refused("recall", **query, limit=0)
    assert "limit is 'many'; it has to be a whole number." in server.refused("recall", **query, limit="many")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        (
            "remember",
            {"text": "One.", "content": "Two."},
            "text is 'One.', and content, another name for it, is 'Two.'",
        ),
        ("remember", {"content": "One.", "memory": "Two."}, "another name for it, is 'Two.'"),
        ("recall", {"query": "x", "subjects": ["a"], "tags": ["b"]}, "subjects is ['a'], and tags"),
        ("supersede", {"note": "One."}, "supersede has no argument note."),
        ("remember", {"text": "x", "colour": "red"}, "remember has no argument colour."),
        ("constraints", {"limit": 3}, "constraints has no argument limit."),
    ],
)
def test_a_name_that_could_mean_two_things_is_refused(
    server: Wire, tool: str, arguments: dict[str, Any], said: str
) -> None:
    """Two names of one argument have to agree, and a name that fits two missing arguments is not guessed."""
    assert said in server.refused(tool, **arguments)


def test_every_alias_can_be_looked_up() -> None:
    """Each is in the canonical spelling, and none is also a name for a number of results."""
    every = [alias for aliases in ALIASES.values() for alias in aliases]
    assert [alias for alias in [*every, *COUNTS] if alias != alias.lower() or "-" in alias or " " in alias] == []
    assert not COUNTS.intersection(every)
