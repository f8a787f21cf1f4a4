"""A long text is read in pieces, and none of it is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import store.embed.minilm
from store.embed.load import load_embedder
from store.embed.pieces import cut
from store.port import Embedder

ALLERGY = "Priya has a severe peanut allergy."
FILLER = "Tom moved the weekly standup to Thursday at ten, because the room is taken on Wednesdays. " * 30


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    """The default model."""
    return load_embedder()


def covers(text: str, pieces: list[str]) -> bool:
    """Whether the pieces are slices of the text, in order, that leave no character out."""
    covered = 0
    for piece in pieces:
        starts = range(covered, max(-1, covered - len(piece)), -1)
        start = next((s for s in starts if text.startswith(piece, s)), None)
        if start is None:
            return False
        covered = start + len(piece)
    return covered == len(text)


def test_a_short_text_is_one_piece_itself(minilm: Embedder) -> None:
    """Most memories are never cut."""
    assert minilm.pieces(ALLERGY) == [ALLERGY]
    assert minilm.pieces("") == [""]


def test_the_pieces_of_a_long_text_fit_the_window_and_cover_it(minilm: Embedder) -> None:
    """Each piece has at most 256 tokens, special tokens included; no character is lost; borders overlap."""
    tokenizer = tokenizers.Tokenizer.from_file(
        str(Path(store.embed.minilm.__file__).with_name("data") / "minilm" / "tokenizer.json")
    )
    tokenizer.no_truncation()
    tokenizer.no_padding()
    text = " ".join(f"Line {i}: Tom counted {i * 37} jars on shelf {i % 9}." for i in range(200))
    pieces = minilm.pieces(text)
    assert covers(text, pieces)
    assert all(128 < len(tokenizer.encode(piece).ids) <= 256 for piece in pieces[:-1])
    assert sum(map(len, pieces)) > len(text)


def test_a_piece_ends_where_a_sentence_ends(minilm: Embedder) -> None:
    """Prose is cut between sentences."""
    pieces = minilm.pieces(FILLER)
    assert len(pieces) > 1
    assert all(piece.startswith("Tom moved") and piece.endswith("Wednesdays. ") for piece in pieces)


def test_what_stands_at_the_end_of_a_long_text_is_found_by_its_piece(minilm: Embedder) -> None:
    """Beyond the window a statement is invisible in the vector of the whole, and plain in that of a piece."""
    text = FILLER + ALLERGY
    query = minilm.embed(["Who is allergic to peanuts?"])[0]
    whole = float(query @ minilm.embed([text])[0])
    assert max(minilm.embed(minilm.pieces(text)) @ query) > whole + 0.15


@given(
    text=st.text(alphabet=st.sampled_from("ab.  \n!。語é"), min_size=100, max_size=400) | st.text(),
    window=st.integers(8, 60),
    count=st.sampled_from([lambda s: len(s.split()), lambda s: len(s.strip()), len, lambda s: len(s.encode()) // 3]),
)
def test_any_text_is_cut_into_pieces_that_fit_and_cover_it(
    text: str, window: int, count: Callable[[str], int]
) -> None:
    """For any text, any window, and any way to count tokens."""
    pieces = cut(text, window, count)
    assert all(count(piece) <= window for piece in pieces)
    assert pieces == [text] or covers(text, pieces)
