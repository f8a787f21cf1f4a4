"""What recall delivers of what it found: a pure function of the chains, the request and a renderer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from log_text import LATER, chain_of, day

from stilltrue.classes import Classes
from stilltrue.retrieval.budget import Line
from stilltrue.retrieval.selection import Ask, Entered, Selection, select
from stilltrue.retrieval.temporal import NOW, Intent


@dataclass(frozen=True)
class Name:
    """A chain rendered as its id alone: one token and its line end."""

    lines: tuple[Line, ...]


def selected(*logs: str, rendered: list[str] | None = None, **asked: Any) -> Selection[Name]:
    """What is selected of these chains, found in this order; `rendered` is filled with what was rendered."""
    found = []
    for rank, log in enumerate(logs):
        chain = chain_of(log)
        found.append(Entered(chain, chain, (chain.id,), 1.0 - rank / 10, None))

    def render(each: Entered) -> Name:
        if rendered is not None:
            rendered.append(each.chain.id)
        return Name((Line(each.chain.id, True, each.chain.id),))

    settings: dict[str, Any] = {
        "query": "", "subjects": (), "session": "", "now": day(LATER), "moment": None, "intent": NOW, "whole": False,
        "budget": 100, "limit": 12, "reach": 12,
    }  # fmt: skip
    return select(
        found, Ask(**(settings | asked)), classes=Classes(), mmr_lambda=1.0, count_tokens=lambda _: 1, render=render
    )


def ids(selection: Selection[Name]) -> str:
    return " ".join(each.entered.chain.id for each in selection.chains)


def test_the_best_chains_are_selected_up_to_the_limit_and_the_rest_is_counted() -> None:
    """What is beyond the limit is never rendered."""
    rendered: list[str] = []
    selection = selected("A remembered", "B remembered", "C remembered", rendered=rendered, limit=2)
    assert (ids(selection), selection.further, rendered) == ("A B", 1, ["A", "B"])


def test_what_does_not_fit_the_budget_is_named() -> None:
    """Two tokens for a line."""
    selection = selected("A remembered", "B remembered", budget=3)
    assert (ids(selection), [each.key for each in selection.omitted]) == ("A", ["B"])


def test_a_retired_chain_is_selected_only_if_it_has_a_retraction_to_report() -> None:
    """What expired is only counted, unless retired chains are wanted."""
    logs = ("A remembered until 9", "B remembered \n - revoked B")
    selection = selected(*logs)
    assert (ids(selection), selection.retired) == ("B", 1)
    assert ids(selected(*logs, whole=True)) == "A B"


def test_a_chain_whose_requirement_binds_is_left_to_the_requirements() -> None:
    """Its subjects come into play, and so do those of the delivered chains."""
    selection = selected("A remembered as allergy about priya", "B remembered about tom")
    assert (ids(selection), selection.subjects) == ("B", {"priya", "tom"})


def test_a_chain_is_shown_with_its_history_if_the_past_is_asked_about() -> None:
    """The requirements section shows only what binds and what is newer."""
    log = "A remembered \n B remembered as allergy updates A"
    assert ids(selected(log)) == ""
    assert ids(selected(log, whole=True)) == "A"


def test_what_touches_the_span_that_is_asked_about_leads() -> None:
    """By its date of recording or by its stated validity; a note without stated times touches no other day."""
    intent = Intent(span=(day(50), day(60)))
    logs = ("A remembered @1", "B remembered from 55 @2", "C remembered @51")
    assert ids(selected(*logs, intent=intent)) == "B C A"
