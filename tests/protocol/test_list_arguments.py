"""How lists, subjects and ids are read out of what models send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.protocol.list_arguments import read_id, read_ids, read_list, read_subjects
from stilltrue.ids import ALPHABET, LENGTH

LISTS = [
    (["priya", "team"], ["priya", "team"]),
    ('["priya", "team"]', ["priya", "team"]),
    ("['priya', 'team']", ["priya", "team"]),
    ("('priya', 'team')", ["priya", "team"]),
    ("[priya, team]", ["priya", "team"]),
    ("priya, team", ["priya", "team"]),
    ('"lunch, or dinner", tea', ['"lunch, or dinner"', "tea"]),
    ("\u674e\u660e\u3001\u738b\u82b3", ["\u674e\u660e", "\u738b\u82b3"]),
    (['["tom"]'], ["tom"]),
    ('[["tom"]]', ["tom"]),
    ([["tom"]], ["tom"]),
    (["['tom']", "uma"], ["tom", "uma"]),
    (["booking a table, or cooking"], ["booking a table, or cooking"]),
    ("['a', None, '']", ["a"]),
    ("(everybody)", ["(everybody)"]),
    ("[7]", [7]),
    (7, [7]),
    ({"a": 1}, [{"a": 1}]),
]


@pytest.mark.parametrize(("sent", "read"), LISTS)
def test_a_list_is_read_out_of_strings_and_literals(sent: Any, read: list[Any]) -> None:
    """JSON and Python lists, wrapped once more or not, and words between commas. Wrong elements stay."""
    assert read_list(sent) == read


@pytest.mark.parametrize(
    "nothing", ["null", "None", "undefined", "", " ", "[]", "[null]", ["null"], [None], [""], []]
)
def test_nothing_is_an_empty_list(nothing: Any) -> None:
    """It is never taken for a name."""
    assert read_list(nothing) == read_subjects(nothing) == read_ids(nothing) == []


SUBJECTS = [
    ("priya and tom", ["priya", "tom"]),
    ("priya & tom", ["priya", "tom"]),
    ("uma, vic, and tom", ["uma", "vic", "tom"]),
    (["priya and tom"], ["priya", "tom"]),
    (["uma,vic"], ["uma", "vic"]),
    (["priya, the team"], ["priya", "the team"]),
    (["uma, vic and tom"], ["uma", "vic", "tom"]),
    ('["priya and tom"]', ["priya", "tom"]),
    ("repo:api and repo:web", ["repo:api", "repo:web"]),
    ("repo:api, null", ["repo:api"]),
    (["'priya'"], ["priya"]),
    ('"priya"', ["priya"]),
]


@pytest.mark.parametrize(("sent", "read"), SUBJECTS)
def test_several_subjects_in_one_string_are_split(sent: Any, read: list[str]) -> None:
    """A requirement of two people is found under each."""
    assert read_subjects(sent) == read


ONE_NAME = [
    (['"Smith, John"'], "Smith, John"),
    ('"Marks & Spencer"', "Marks & Spencer"),
    ("'salt and pepper'", "salt and pepper"),
    (["Acme, Inc."], "Acme, Inc."),
    ("Acme, Inc.", "Acme, Inc."),
    ("AT&T", "AT&T"),
    ("Band", "Band"),
    ("repo:api and web", "repo:api and web"),
    ("the people in research and development", "the people in research and development"),
    (["the flat in Berlin Mitte, third floor"], "the flat in Berlin Mitte, third floor"),
    ("O'Brien", "O'Brien"),
    ("[unclosed", "[unclosed"),
]


@pytest.mark.parametrize(("sent", "name"), ONE_NAME)
def test_a_name_that_is_quoted_or_long_is_not_split(sent: Any, name: str) -> None:
    """Quotes protect what is inside them, and are not part of the name."""
    assert read_subjects(sent) == [name]


def test_the_elements_of_a_longer_list_are_names_as_they_are() -> None:
    """Who sends two elements knows what a list is."""
    assert read_subjects(["Smith, John", "salt and pepper"]) == ["Smith, John", "salt and pepper"]


ID, OTHER = "0123456789abcdef", "fedcba9876543210"


@pytest.mark.parametrize(
    "sent",
    [f"{ID}, {OTHER}", f"{ID} {OTHER}", f"[{ID}] and [{OTHER}].", [ID, OTHER], [f"{ID}, {OTHER}"],
     f"`{ID}`,`{OTHER}`",
     f"'{ID.upper()}', '{OTHER}'", json.dumps([ID, OTHER])],
)  # fmt: skip
def test_several_ids_in_one_string_are_split(sent: Any) -> None:
    """Whatever is between them and around them."""
    assert read_ids(sent) == [ID, OTHER]


@pytest.mark.parametrize("sent", ["zzzz", "' OR 1=1 --", ID[:-1], f"{ID}0", f"x {ID}", f"{ID}, {OTHER}"])
def test_what_is_not_exactly_one_id_is_left_alone(sent: str) -> None:
    """The tool refuses it, and shows what was sent."""
    assert read_id(sent) == sent


@given(st.text(alphabet=ALPHABET, min_size=LENGTH, max_size=LENGTH), st.text(alphabet=" '\"`[](),.;", max_size=5))
def test_an_id_is_found_inside_any_punctuation(note_id: str, around: str) -> None:
    """In capitals too."""
    assert read_id(around + note_id.upper() + around) == note_id


NAMES = st.lists(st.text(alphabet="abcdefgh", min_size=3, max_size=8), min_size=1, max_size=5).filter(
    lambda names: not set(names) & {"null", "none"}
)


@given(NAMES)
def test_every_spelling_of_a_list_of_names_is_the_same_list(names: list[str]) -> None:
    """As a list, as JSON, as a Python literal, between commas, and wrapped in one more list."""
    for sent in (names, json.dumps(names), repr(names), ", ".join(names), [json.dumps(names)], [repr(names)]):
        assert read_subjects(sent) == names


@given(st.recursive(st.none() | st.text(max_size=20) | st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_anything_is_read_without_an_error(sent: Any) -> None:
    """What is wrong is left for the validation that follows."""
    for read in (read_list, read_subjects, read_ids):
        assert isinstance(read(sent), list)
    read_id(sent)
