"""Which subjects a question may name."""

from __future__ import annotations

import pytest

from stilltrue.subjects import names_in


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("Book a table with Priya", "priya"),
        ("What are Priya’s plans?", "priya"),
        ("ask PRIYA.", "priya"),
        ("the Harbour Street office", "harbour street office"),
        ("do the tests of repo:api pass?", "repo:api"),
        ("a course on C++, please", "c++"),
        ("who leads R&D?", "r&d"),
        ("Привет, Ольга!", "ольга"),
    ],
)
def test_a_subject_is_found_in_the_words_of_a_question(said: str, named: str) -> None:
    """Whatever the case, the possessive and the marks around it."""
    assert named in names_in(said)


def test_a_subject_named_late_in_a_long_question_is_found() -> None:
    """The requirements of whoever is named must not depend on how long the question is."""
    assert "priya" in names_in("very " * 3_000 + "long, and then Priya")
