"""Packing whole chains into a token budget: what is cut, what is skipped, and that both are reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stilltrue.text.budget import Line, Packed, Parcel, cut_notice, estimate_tokens, pack, whole

SCRIPTS = {
    "english": "The tests of the payment service run with nox on every push.",
    "numbers": "port 54321, version 12.10.3, phone 0049301234567890",
    "code": "def f(x: int) -> dict[str, list[int]]:\n\treturn {'a': [x, *range(10)]}",
    "german": "Die Donaudampfschifffahrtsgesellschaft übernimmt Straßenbahnverträge.",
    "russian": "Прия не ест орехи, это подтверждено.",
    "arabic": "بريا لا تأكل المكسرات أبدًا",
    "hindi": "प्रिया मेवे नहीं खाती",
    "thai": "ปรียาไม่กินถั่ว",
    "chinese": "普里娅对坚果过敏，团队聚餐时必须注意。",
    "japanese": "プリヤはナッツのアレルギーがあります。",
    "korean": "프리야는 견과류 알레르기가 있습니다.",
    "emoji": "🥜🚫👩‍🍳",
}
lines = st.builds(
    Line,
    text=st.one_of(st.text(max_size=60), st.sampled_from(sorted(SCRIPTS.values()))),
    must=st.booleans(),
    note_id=st.just("n"),
)
parcels = st.lists(
    st.builds(Parcel, key=st.uuids().map(str), lines=st.lists(lines, min_size=1, max_size=8).map(tuple)), max_size=6
)


def parcel(key: str, *texts: str) -> Parcel:
    """A chain of these lines; those that start with `!` are never cut."""
    return Parcel(key, tuple(Line(text, text.startswith("!"), text) for text in texts))


def texts(packed: Packed) -> list[str]:
    return [line.text for line in packed.lines]


@given(parcels, st.integers(-5, 400), st.sampled_from([estimate_tokens, len]))
def test_the_delivered_text_never_exceeds_the_budget(found: list[Parcel], budget: int, count: type[len]) -> None:
    """Counted as one text, with line ends and cut notices, in any script and by any counter."""
    packed, omitted = pack(found, budget, count)
    assert sum(each.tokens for each in packed) <= max(budget, 0)
    assert all(count(each.text) <= each.tokens for each in packed)
    assert not packed or count("\n".join(each.text for each in packed)) <= budget
    assert [each.key for each in found if each.key in {other.key for other in omitted}] == [
        each.key for each in omitted
    ]
    assert len(packed) + len(omitted) == len(found)


@given(parcels, st.integers(0, 400))
def test_must_lines_are_never_cut_and_the_others_are_cut_from_the_end(found: list[Parcel], budget: int) -> None:
    """The optional lines that remain are the first ones, and the number of the others is shown."""
    for each in pack(found, budget)[0]:
        optional = [line for line in each.parcel.lines if not line.must]
        kept = len(optional) - each.hidden
        assert [line for line in each.lines if line.must] == [line for line in each.parcel.lines if line.must]
        assert [line for line in each.lines if not line.must] == optional[:kept]
        assert (cut_notice(each.hidden) in each.text) == (each.hidden > 0)


@given(st.lists(lines, min_size=1, max_size=8).map(tuple))
def test_an_omitted_chain_fits_into_exactly_the_size_that_was_reported_for_it(drawn: tuple[Line, ...]) -> None:
    """That is its size with everything cut that can be."""
    _, (left,) = pack([Parcel("c", drawn)], 0)
    assert pack([Parcel("c", drawn)], left.tokens)[0]
    assert not pack([Parcel("c", drawn)], left.tokens - 1)[0]


def test_history_is_cut_oldest_first_with_a_count_of_what_was_cut() -> None:
    """The head stays, and so does the newest of its history."""
    chain = parcel("c", "!head", "newer" * 20, "older" * 20, "oldest" * 20)
    room = estimate_tokens("newer" * 20) + estimate_tokens("!head") + estimate_tokens(cut_notice(2)) + 3
    ((packed,), omitted) = pack([chain], room)
    assert texts(packed) == ["!head", "newer" * 20]
    assert packed.text.endswith("(+2 older of its history not shown)")
    assert omitted == []


def test_a_must_line_stays_even_after_history_that_is_cut() -> None:
    """What was recorded since is at the end of a chain and is not history."""
    ((packed,), _) = pack([parcel("c", "!head", "old " * 50, "!since")], 25)
    assert texts(packed) == ["!head", "!since"]


def test_a_chain_that_does_not_fit_is_skipped_and_named_and_smaller_ones_still_fit() -> None:
    """Nothing is dropped silently, and one big chain does not starve the rest."""
    packed, omitted = pack([parcel("big", "!word " * 200), parcel("small", "!word")], 20)
    assert [each.parcel.key for each in packed] == ["small"]
    assert [(each.key, each.tokens) for each in omitted] == [("big", estimate_tokens("!word " * 200) + 1)]


def test_chains_are_packed_in_the_order_given() -> None:
    """The ranking has put the best first."""
    packed, _ = pack([parcel("b", "!b"), parcel("a", "!a")], 100)
    assert [each.parcel.key for each in packed] == ["b", "a"]


def test_with_no_budget_every_chain_is_omitted_by_name() -> None:
    """Nothing vanishes even then."""
    packed, omitted = pack([parcel("a", "!a"), parcel("b", "b")], 0)
    assert (packed, [each.key for each in omitted]) == ([], ["a", "b"])


def test_outside_the_budget_a_chain_is_whole_and_its_size_is_known() -> None:
    """Requirements are delivered this way."""
    packed = whole(parcel("c", "!head", "history"))
    assert (texts(packed), packed.hidden) == (["!head", "history"], 0)
    assert packed.tokens >= estimate_tokens(packed.text)


@pytest.mark.parametrize("script", ["chinese", "japanese", "korean"])
def test_an_ideograph_or_a_syllable_counts_as_a_token(script: str) -> None:
    """Four characters per token would undercount these several times."""
    assert estimate_tokens(SCRIPTS[script]) >= len(SCRIPTS[script].replace(" ", ""))


@pytest.mark.parametrize("script", sorted(SCRIPTS))
def test_no_script_is_counted_below_a_token_for_four_characters(script: str) -> None:
    """The usual shortcut is a lower bound for any text, except for long words and indented code."""
    assert estimate_tokens(SCRIPTS[script]) >= len(SCRIPTS[script]) / 6


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("cat", 2),
        ("internationalisation", 4),
        ("123456", 3),
        ("a b c d e f g h i j", 11),
        ("\n", 2),
        ("🥜", 4),
    ],
)
def test_short_texts_count_as_documented(text: str, tokens: int) -> None:
    """A word is one token per eight letters, digits are one per three, and a tenth is added."""
    assert estimate_tokens(text) == tokens
