"""A note that reads as a requirement is suspected; one that only has its words, or that permits, is not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stilltrue.classes import DEFAULT_CLASSES
from stilltrue.requirements.detector import Suspicion, extend, probabilities, suspect
from stilltrue.requirements.words import features, fold, is_english, names, sentences, vocabulary
from store.embed.load import load_embedder
from store.embed.requirements import FITTED, load_vocabulary, load_weights


@cache
def embedder() -> Any:
    """The default model."""
    return load_embedder()


def read(text: str) -> Suspicion | None:
    """What a note is suspected of, with its vector."""
    return suspect(text, embedder().embed([text])[0], load_weights())


@pytest.mark.parametrize(
    ("text", "klass"),
    [
        ("heads up, I carry an EpiPen because of walnuts", "allergy"),
        ("Lilies close up Lena's airway.", "allergy"),
        ("Tom uses a wheelchair.", "accessibility"),
        ("Mara reads lips, so face her when you talk.", "accessibility"),
        ("I am under an NDA until March.", "legal_restriction"),
        ("The court order forbids any photo of the child.", "legal_restriction"),
        ("Never call Nadia again, she asked to be left alone.", "do_not_contact"),
        ("Never force-push to main", "hard_preference"),
        ("All PRs need two approvals.", "hard_preference"),
    ],
)
def test_a_requirement_is_suspected_of_its_class(text: str, klass: str) -> None:
    """In the first and the third person, by its name and by its consequence, in code and in the household."""
    found = read(text)
    assert found is not None
    assert found.klass == klass
    assert load_weights().read.threshold <= found.score <= 1


@pytest.mark.parametrize(
    "text",
    [
        "The allergy clinic moved.",
        "He never mentioned the deadline.",
        "pushed the fix to main",
        "The contract was signed on Monday.",
        "I prefer tea in the morning.",
        "Her allergy test came back negative.",
        "That helper is not needed any more.",
        "The flag cannot be carried over from v1.",
        "The house has no cellar.",
    ],
)
def test_a_near_miss_is_not_suspected(text: str) -> None:
    """The words of a requirement, in a note that restricts nothing."""
    assert read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "No need to ask me.",
        "Just do it, you don't need my approval.",
        "You may push to main.",
        "Tom may be emailed again.",
        "Feel free to delete the branch.",
        "Du darfst auf main pushen.",
        "Puedes llamarme cuando quieras.",
        "不用问我，直接删除就行。",
    ],
)
def test_what_permits_is_never_suspected(text: str) -> None:
    """Permission loosens; it never becomes a requirement by suspicion, with a vector or without."""
    assert read(text) is None
    assert suspect(text, None, load_weights()) is None


def test_a_permission_beside_a_prohibition_leaves_the_prohibition() -> None:
    """Only what permits and restricts nothing is let go."""
    found = read("You may push to feature branches. Never push to main without asking me first.")
    assert found is not None
    assert found.klass == "hard_preference"


@pytest.mark.parametrize(
    "text",
    [
        "Ich bin allergisch gegen Nüsse und trage Adrenalin bei mir.",
        "Mon père est en fauteuil roulant, il lui faut un ascenseur.",
        "No llames nunca más a la señora Vega.",
        "Nunca apague ficheiros sem me perguntar antes.",
        "È vietato dalla legge pubblicare questi dati.",
        "Bel mevrouw Smit nooit meer.",
        "绝对不要联系他的律师。",
        "えびアレルギーなので、少しでも危険です。",
    ],
)
def test_words_suffice_in_languages_that_the_model_does_not_read(text: str) -> None:
    """German, French, Spanish, Portuguese, Italian, Dutch, Chinese and Japanese are decided by words."""
    assert not is_english(text, load_vocabulary())
    assert suspect(text, None, load_weights()) is not None


def test_words_decide_alone_where_there_is_no_vector() -> None:
    """A server whose model is not loaded yet still notices what is said plainly."""
    found = suspect("I am severely allergic to peanuts.", None, load_weights())
    assert found is not None
    assert found.klass == "allergy"
    assert suspect("The train leaves at eight.", None, load_weights()) is None


def test_one_sentence_of_a_longer_note_is_enough() -> None:
    """A requirement among other statements dilutes the vector of the note and is noticed all the same."""
    found = read("The dinner is at seven, Otto brings the wine. Mira must never eat nuts, she goes into shock.")
    assert found is not None
    assert found.klass == "allergy"


@given(st.text(max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    """No text raises, and a score is a probability at or above the threshold."""
    found = suspect(text, None, load_weights())
    assert found is None or load_weights().unread.threshold - 1e-4 <= found.score <= 1


def test_probabilities_add_up_to_one() -> None:
    """One for each class and one for none of them."""
    weights = load_weights()
    likely = probabilities(weights.read, np.zeros(384, dtype=np.float32), features("a note", weights.vocabulary))
    assert likely.shape == (6,)
    assert likely.sum() == pytest.approx(1)


def test_the_shipped_classes_are_the_constraint_classes() -> None:
    """Each constraint class of the default configuration is one that the detector knows, and the file is small."""
    assert set(load_weights().classes) == {each.name for each in DEFAULT_CLASSES if each.requirement}
    assert FITTED.stat().st_size < 200_000


BUDGET = (
    "A spending limit: how much money may be spent on something.",
    "No more than 300 euros for the hotel.",
    "The budget for the kitchen is capped at 8,000.",
    "We cannot spend more than 50 a month on streaming.",
)


def test_an_added_class_is_found_by_its_description_and_examples() -> None:
    """A sentence and three examples are enough for what is close to them, and ordinary notes stay ordinary."""
    weights = extend(load_weights(), "budget", embedder().embed(BUDGET))
    close = "The present for Otto may cost 40 euros at most."
    found = suspect(close, embedder().embed([close])[0], weights)
    assert found is not None
    assert found.klass in {"budget", "hard_preference"}
    direct = "Spend at most 200 on the flight."
    again = suspect(direct, embedder().embed([direct])[0], weights)
    assert again is not None
    assert again.klass == "budget"
    ordinary = ["The train leaves at eight.", "Otto plays the cello.", "The kitchen was painted yellow."]
    assert [
        suspect(text, vector, weights) for text, vector in zip(ordinary, embedder().embed(ordinary), strict=True)
    ] == [None] * 3


def test_an_added_class_is_not_found_without_a_vector() -> None:
    """There are no words for a class that a user describes; its examples are known by their vectors."""
    weights = extend(load_weights(), "budget", embedder().embed(BUDGET))
    assert suspect("The budget is 200 euros.", None, weights) == suspect(
        "The budget is 200 euros.", None, load_weights()
    )


def test_an_added_class_needs_an_example_and_may_bring_its_own_background() -> None:
    """Nothing to learn from is refused; a background other than the shipped one is used where it is given."""
    weights = load_weights()
    with pytest.raises(ValueError, match="needs at least one example"):
        extend(weights, "budget", np.zeros((0, 384), dtype=np.float32))
    examples = np.eye(4, dtype=np.float32)[:1]
    background = np.eye(4, dtype=np.float32)[1:]
    [added] = extend(replace(weights, added=()), "odd", examples, background).added
    assert added.direction @ examples[0] > added.offset > (background @ added.direction).max()


SMALL = vocabulary({
    "ban": {"role": "restricts", "en": "must not | ^ never | ban*", "zh": "禁止", "ja": "連絡~しない"},
    "leave": {"role": "loosens", "en": "may ~ again | ?"},
    "call": {"role": "topic", "en": "call*"},
})  # fmt: skip


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("You MUST  not go", {"ban"}),
        ("mustnot", set()),
        ("Never do it", {"ban"}),
        ("well, never do it", {"ban"}),
        ("she never did it", set()),
        ("banned for calling", {"ban", "call"}),
        ("urban", set()),
        ("他们禁止这样做", {"ban"}),
        ("連絡は絶対にしないで", {"ban"}),
        ("he may be called again", {"leave", "call"}),
        ("he may, if all of us agree, come again", set()),
        ("really?", {"leave"}),
    ],
)
def test_phrases_are_found_as_they_are_written(text: str, concepts: set[str]) -> None:
    """Whole words, any ending, gaps, the start of a clause, and scripts without spaces."""
    assert names(features(text, SMALL), SMALL) == concepts


def test_pairs_are_features_where_both_concepts_occur() -> None:
    """What restricts and what loosens are crossed with topics, and what loosens with what restricts."""
    assert SMALL.pairs == ((0, 2), (1, 2), (1, 0))
    assert list(features("never call?", SMALL)) == [1, 1, 1, 1, 1, 1]
    assert list(features("a call", SMALL)) == [0, 0, 1, 0, 0, 0]


def test_a_text_is_folded_and_cut_into_sentences() -> None:
    """Typographic apostrophes and full-width letters are as typed on a keyboard; a text has at least one sentence."""
    assert fold("Don’t ＣＡＬＬ ") == "don't call"
    assert sentences("One. Two!\nThree。四。") == ["One.", "Two!", "Three。", "四。"]
    assert sentences("") == [""]
