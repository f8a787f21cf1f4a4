"""Bad input is refused in words that say what was wrong, what is expected and what to do. Nothing is written.

Input that only looks dangerous (quotes, SQL, any script) is accepted as text and nothing but text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from contexts import Agent, rules, told

from stilltrue.errors import Refused
from stilltrue.note import canonical_subject

TEXTS = {
    "empty": ("", "text is empty"),
    "blank": (" \n\t\u2003", "text is empty"),
    "too long": ("x" * 32_769, "text has 32769 bytes; the limit is 32768"),
    "too long in bytes": ("é" * 16_385, "text has 32770 bytes; the limit is 32768"),
    "NUL": ("a\x00b", "text contains a NUL"),
    "lone surrogate": ("a\ud800b", "text contains half of a surrogate pair"),
}
SUBJECTS = {
    "10,000 of them": ([f"s{number}" for number in range(10_000)], "10000 subjects were given; the limit is 100"),
    "one of 10,000 characters": (["team", "s" * 10_000], "subjects has 10000 characters; the limit is 200"),
    "NUL": (["a\x00"], "subjects contains a NUL"),
    "lone surrogate": (["\udfff"], "subjects contains half of a surrogate pair"),
}
DATES = {
    "a word": "whenever",
    "a day without a year": "4 March",
    "a weekday": "Monday",
    "either of two days": "03/04/2026",
    "no such day": "2026-02-30",
    "no such month": "2026-13-01",
    "a month without a year": "March",
    "a number": "1772452800",
    "not a number": "NaN",
    "no such hour": "2026-03-04T25:00",
    "no such offset": "2026-03-04T10:00+99:00",
    "too many digits": "99999-01-01",
    "the beginning of the calendar": "0001-01-01",
    "the end of the calendar": "9999-12-31",
    "the end of the calendar, elsewhere": "9999-12-31T23:59:59-12:00",
    "NUL": "2026-03-04\x00",
    "SQL": "2026-03-04'; DROP TABLE log; --",
}
IDS = {
    "blank": (" ", "note id"),
    "brackets alone": ("[]", "note id"),
    "unknown": ("0000000000000000", "there is no note '0000000000000000'"),
    "no id at all": ("the note about Priya", "there is no note 'the note about Priya'"),
    "too long": ("0" * 201, "note_ids has 201 characters"),
    "NUL": ("0\x00", "note_ids contains a NUL"),
    "lone surrogate": ("\ud800", "note_ids contains half of a surrogate pair"),
    "SQL": ("' OR '1'='1", "there is no note"),
}
PHRASES = {"reason": 2_000, "source": 200, "request_id": 200, "attribute": 200, "session": 200}


def cases() -> list[Any]:
    """Every call that is refused, as (tool, arguments, a part of the message); `ID` stands for a known id."""
    found: list[Any] = []

    def add(verb: str, what: str, said: str, **arguments: Any) -> None:
        found.append(pytest.param(verb, arguments, said, id=f"{verb}: {what}"))

    whole = {
        "remember": {"text": "fine"}, "supersede": {"note_ids": "ID", "text": "fine"}, "recall": {"query": "fine"},
        "constraints": {}, "revoke": {"note_id": "ID", "reason": "fine"}, "reinstate": {"note_id": "ID"},
    }  # fmt: skip
    for verb in ("remember", "supersede"):
        for what, (text, said) in TEXTS.items():
            add(verb, f"text {what}", said, **whole[verb] | {"text": text})
        for klass in ("allergi", "note'; --", "\x00", "x" * 10_000):
            add(verb, f"class {klass[:9]!r}", "no class is called", **whole[verb], klass=klass)
        for name in ("valid_from", "valid_until"):
            for what, date in DATES.items():
                add(verb, f"{name} {what}", f"{name} is ", **whole[verb], **{name: date})
        for until in ("2026-03-03", "2026-03-04T00:00Z", "2026-03-04T01:59:59+02:00"):
            ends = {"valid_from": "2026-03-04", "valid_until": until}
            add(
                verb,
                f"valid until {until}",
                "is not after valid_from (2026-03-04T00:00:00+00:00)",
                **whole[verb],
                **ends,
            )
    for verb in ("remember", "supersede", "recall", "constraints"):
        for what, (subjects, said) in SUBJECTS.items():
            add(verb, f"subjects {what}", said, **whole[verb], subjects=subjects)
    for value in (7, -0.01, math.nan, math.inf, -math.inf, 1e308):
        add("remember", f"importance {value}", "a number from 0 to 1 is expected", text="fine", importance=value)
    add(
        "remember", "21 cues", "21 cues were given; the limit is 20", text="fine", cues=[f"c{at}" for at in range(21)]
    )
    add("remember", "a long cue", "cues has 501 characters; the limit is 500", text="fine", cues=["c" * 501])
    add("remember", "NUL in a cue", "cues contains a NUL", text="fine", cues=["fine", "\x00"])
    for what, (bad, said) in IDS.items():
        add("supersede", f"id {what}", said, note_ids=[bad], text="fine")
        add("supersede", f"id {what} behind a known one", said, note_ids=["ID", bad], text="fine")
        add("revoke", f"id {what}", said, note_id=bad, reason="fine")
        add("reinstate", f"id {what}", said, note_id=bad)
        add("feedback", f"id {what}", said, note_ids=[bad], outcome="helped")
        if bad.strip():
            add("remember", f"refines {what}", said, text="fine", refines=bad)
    for verb, more in (("supersede", {"text": "fine"}), ("feedback", {"outcome": "helped"})):
        add(verb, "no ids", "no note id was given", note_ids=[], **more)
        add(
            verb, "51 ids", "51 note_ids were given; the limit is 50", note_ids=[f"n{at}" for at in range(51)], **more
        )
    for relation in ("refinement", "replaces", "\x00"):
        add(
            "supersede",
            f"relation {relation!r}",
            "update or correction is expected",
            **whole["supersede"],
            relation=relation,
        )
    for budget in (-1, 1_000_001, -(10**40), 10**40):
        add(
            "recall",
            f"budget {budget:.0e}",
            "a number from 0 to 1000000 is expected",
            query="fine",
            budget_tokens=budget,
        )
    for what, date in DATES.items():
        add("recall", f"as_of {what}", "as_of is ", query="fine", as_of=date)
    for query, said in (
        ("", "is empty"),
        (" \n", "is empty"),
        ("q" * 20_001, "the limit is 20000"),
        ("\x00", "a NUL"),
    ):
        add("recall", f"query {query[:3]!r}", said, query=query)
    add("recall", "query with a lone surrogate", "half of a surrogate pair", query="\udc00")
    takes = {
        "reason": ["supersede", "revoke", "reinstate"],
        "source": ["remember", "supersede"],
        "session": ["recall"],
    }
    takes |= {"request_id": ["remember", "supersede"], "attribute": ["remember"]}
    for name, verbs in takes.items():
        for verb in verbs:
            limit = PHRASES[name]
            arguments = {key: value for key, value in whole[verb].items() if key != name}
            add(verb, f"long {name}", f"{name} has {limit + 1} characters", **arguments, **{name: "x" * (limit + 1)})
            add(verb, f"NUL in {name}", f"{name} contains a NUL", **arguments, **{name: "a\x00"})
            add(verb, f"lone surrogate in {name}", f"{name} contains half of", **arguments, **{name: "\ud800"})
    add("revoke", "blank reason", "reason is empty", note_id="ID", reason=" \n")
    return found


@pytest.mark.parametrize(("verb", "arguments", "said"), cases())
def test_bad_input_is_refused_in_a_sentence_and_writes_nothing(
    agent: Agent, verb: str, arguments: dict[str, Any], said: str
) -> None:
    """The message says what was wrong, the hint what to do. Both are short, and the store does not change."""
    known = agent.note("Office in Ghent")
    if verb == "reinstate":
        agent.revoke(known)
    given = {
        name: known if value == "ID" else [known if each == "ID" else each for each in value]
        if name == "note_ids" and isinstance(value, list) else value
        for name, value in arguments.items()
    }  # fmt: skip
    rows, before = agent.written(), agent.status(known)
    with pytest.raises(Refused) as refused:
        getattr(agent, verb)(**given)
    assert said in refused.value.message
    assert refused.value.hint.endswith(".")
    assert len(str(refused.value)) < 800
    str(refused.value).encode()
    assert (agent.written(), agent.status(known)) == (rows, before)


@pytest.mark.parametrize("verb", ["supersede", "revoke", "reinstate", "feedback", "remember"])
@pytest.mark.parametrize("kept", [1, 8, 15])
def test_an_abbreviated_id_is_refused_with_the_whole_ones(agent: Agent, verb: str, kept: int) -> None:
    """All candidates are listed."""
    ids = [agent.remember(f"fact {number}").data.id for number in range(2)]
    short = ids[0][:kept]
    calls: dict[str, Callable[[], object]] = {
        "supersede": lambda: agent.supersede(short, "fine"),
        "revoke": lambda: agent.revoke(short),
        "reinstate": lambda: agent.reinstate(short),
        "feedback": lambda: agent.feedback([short], "helped"),
        "remember": lambda: agent.remember("fine", refines=short),
    }
    rows = agent.written()
    with pytest.raises(Refused, match=f"{short!r} is the beginning of an id, not an id") as refused:
        calls[verb]()
    assert [f"[{each}]" in refused.value.message for each in ids] == [True, kept < 15]
    assert (refused.value.code, agent.written()) == ("short_id" if kept == 15 else "ambiguous_id", rows)


def test_a_blank_optional_argument_is_not_set(agent: Agent) -> None:
    """Clients send blanks for arguments that they do not set."""
    blanks = {"klass": " ", "source": "", "valid_from": "", "valid_until": " ", "refines": "", "request_id": " "}
    view = agent.remember("fine", subjects=["", " "], cues=[" "], attribute=" ", **blanks).data.note
    assert (view.subjects, view.klass, view.source, view.valid_from, view.attribute) == (
        ("user",),
        "note",
        "agent",
        "",
        "",
    )
    assert agent.recall("fine", subjects=[""], as_of=" ", session=" ").data.as_of == ""


NASTY = [
    "Robert'); DROP TABLE log; --",
    "a' OR 'a'='a",
    '" OR ""="',
    "it''s 100% \\ _under_ [0-9]* ?",
    "/* comment */ -- and another",
    "{braces} ${dollars} %(percent)s `ticks`",
    "null",
    "NaN",
    '(+must -not field:value "phrase" AND OR NOT *)',
    "naïve Ünïcödé",
    "田中さんは木曜日に港で昼食をとります",
    "👩‍👩‍👧 and \U0001f600",
    "\u202eright to left\u202c \u200bzero width",
    "tab\there, bell\x07, escape\x1b[31m",
]


@pytest.fixture(params=["memory", "disk"])
def anywhere(request: pytest.FixtureRequest, agent: Agent) -> Agent:
    """An agent with each kind of store."""
    return agent if request.param == "memory" else request.getfixturevalue("on_disk")()


def test_quotes_and_sql_are_text_in_every_argument(anywhere: Agent) -> None:
    """They are stored and found unchanged, and find or change nothing else."""
    other = anywhere.note("a quiet note", subjects=["bystander"])
    for number, nasty in enumerate(NASTY):
        subject = f"{nasty} {number}"
        said = {"subjects": [subject], "source": nasty, "attribute": nasty, "cues": [nasty], "request_id": subject}
        rule = anywhere.note(nasty, klass="allergy", **said)
        assert anywhere.remember(nasty, klass="allergy", **said).data.id == rule
        (requirement,) = anywhere.constraints([subject]).data.requirements
        view = requirement.rules[0]
        assert (view.text, view.subjects, view.source) == (
            nasty,
            (canonical_subject(subject),),
            " ".join(nasty.split()),
        )
        answer = anywhere.recall(nasty, subjects=[subject], session=nasty)
        assert (rules(answer), answer.data.degraded) == ([nasty], False)
        new = anywhere.supersede(rule, f"{nasty}!", reason=nasty).data.id
        anywhere.revoke(new, nasty)
        assert nasty in anywhere.chain_of(rule).members[new].revocation.reason  # type: ignore[union-attr]
        with pytest.raises(Refused):
            anywhere.revoke(nasty)
    assert (anywhere.status(other), anywhere.store.health().notes) == ("current", 1 + 2 * len(NASTY))
    assert told(anywhere.recall("quiet", subjects=["bystander"])) == ["a quiet note"]
