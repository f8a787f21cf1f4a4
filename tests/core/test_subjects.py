"""Which of the known subjects a query names."""

from __future__ import annotations

import pytest

from stilltrue.retrieval.subjects import named_in


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("Book a table with Priya", "priya"),
        ("What are Priya’s plans?", "priya"),
        ("ask PRIYA.", "priya"),
        ("the Harbour Street office", "harbour street"),
        ("do the tests of repo:api pass?", "repo:api"),
        ("a course on C++, please", "c++"),
        ("who leads R&D?", "r&d"),
        ("call Dr. Okafor back", "dr. okafor"),
        ("Привет, Ольга!", "ольга"),
        ("田中さんとランチ", "田中"),
        ("in the party of art", "art"),
        ("very " * 3_000 + "long, and then Priya", "priya"),
    ],
)
def test_a_subject_is_found_in_the_words_of_a_question(query: str, subject: str) -> None:
    """Whatever the case, the possessive, the script and the length of the question."""
    assert named_in(query, ["another", subject]) == [subject]


@pytest.mark.parametrize(
    ("query", "subject"),
    [("the start of the party", "art"), ("priyanka called", "priya"), ("use C here", "c++"), ("", "priya")],
)
def test_a_part_of_a_word_names_nobody(query: str, subject: str) -> None:
    """A name has to be a word of its own, or its requirements would be in play by accident."""
    assert named_in(query, [subject]) == []
