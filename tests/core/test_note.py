"""A note: the one spelling of a subject, and what makes two notes the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stilltrue.note import RETIRING, LinkKind, canonical_subject, content_hash


@pytest.mark.parametrize("raw", ["Priya", " priya ", "PRIYA", "ＰＲＩＹＡ", "priya\u00a0", "\tPriya\n"])
def test_a_subject_has_one_spelling(raw: str) -> None:
    """A capital letter, a full-width one or a space must not hide a requirement."""
    assert canonical_subject(raw) == "priya"


def test_inner_spaces_of_a_subject_become_single_ones() -> None:
    """A line break counts as a space, so that no subject can start a line."""
    assert canonical_subject("Design \u2028 Team\x85B\r\nC") == "design team b c"


@pytest.mark.parametrize("name", ["José", "Jose\u0301"])
def test_an_accent_composed_or_not_is_the_same_letter(name: str) -> None:
    """Keyboards and file systems differ in it."""
    assert canonical_subject(name) == canonical_subject("JOSÉ")


def test_a_subject_is_case_folded_not_only_lower_cased() -> None:
    """Lower case alone would keep two spellings of one street apart."""
    assert canonical_subject("Straße") == canonical_subject("STRASSE") == "strasse"


@given(st.text())
def test_the_canonical_spelling_of_a_canonical_spelling_is_itself(raw: str) -> None:
    """A subject that was read from the store is found under its own spelling."""
    once = canonical_subject(raw)
    assert canonical_subject(once) == once
    assert len(once.splitlines()) <= 1
    assert once == once.strip()


def test_every_byte_of_the_text_counts() -> None:
    """ "port 5432" and "port 5433" are two facts, and so are two spellings."""
    hashes = {content_hash(text, ["api"], "fact") for text in ("port 5432", "port 5433", "Port 5432", "port 5432 ")}
    assert len(hashes) == 4


def test_the_subjects_count_but_not_their_order() -> None:
    """Whom a note is about matters; who is named first does not."""
    assert content_hash("x", ["a", "b"], "note") == content_hash("x", ["b", "a"], "note")
    assert content_hash("x", ["a", "b"], "note") != content_hash("x", ["a"], "note")
    assert content_hash("x", ["a b"], "note") != content_hash("x", ["a", "b"], "note")


def test_the_class_counts() -> None:
    """The same words as a requirement are another note."""
    assert content_hash("no nuts", ["priya"], "allergy") != content_hash("no nuts", ["priya"], "note")


@given(st.lists(st.tuples(st.text(), st.lists(st.text(), max_size=3), st.text()), min_size=2, max_size=2))
def test_what_differs_in_any_part_has_another_hash(both: list[tuple[str, list[str], str]]) -> None:
    """No part can be mistaken for a piece of its neighbour."""
    (text, subjects, klass), (other_text, others, other_klass) = both
    same = (text, sorted(subjects), klass) == (other_text, sorted(others), other_klass)
    assert (content_hash(text, subjects, klass) == content_hash(other_text, others, other_klass)) == same


def test_a_refinement_does_not_retire() -> None:
    """Updates and corrections do."""
    assert {LinkKind.UPDATE, LinkKind.CORRECTION} == RETIRING
