"""Ids and times of recording: they sort in log order, even if the clock jumps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stilltrue.ids import ALPHABET, LENGTH, is_id, stamp

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
moments = st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2999, 1, 1), timezones=st.just(UTC))
entropies = st.integers(0, 2**64)


@given(st.lists(st.tuples(moments, entropies), min_size=2, max_size=20))
def test_within_a_chain_ids_and_times_rise_whatever_the_clock_does(ticks: list[tuple[datetime, int]]) -> None:
    """Each stamp is later than the one before, on a clock that jumps back, stands still or runs."""
    stamps = [stamp(*ticks[0])]
    for now, entropy in ticks[1:]:
        stamps.append(stamp(now, entropy, after=stamps[-1].at))
    assert all(earlier.id < later.id for earlier, later in pairwise(stamps))
    assert all(earlier.at < later.at for earlier, later in pairwise(stamps))


@given(moments, entropies, st.one_of(st.none(), moments))
def test_a_stamp_is_now_or_one_millisecond_after_the_event_that_it_follows(
    now: datetime, entropy: int, after: datetime | None
) -> None:
    """It is never earlier than now, and never further ahead than it has to be."""
    made = stamp(now, entropy, after)
    assert is_id(made.id)
    assert made.at.microsecond % 1000 == 0
    tick = timedelta(milliseconds=1)
    assert now - tick < made.at <= now or (after is not None and after < made.at <= after + tick)


def test_ids_of_different_milliseconds_sort_by_time_whatever_their_entropy() -> None:
    """The time comes first in the id."""
    assert stamp(NOON, 2**30 - 1).id < stamp(NOON + timedelta(milliseconds=1), 0).id


def test_ids_of_one_millisecond_differ_by_their_entropy() -> None:
    """Thirty bits of it are used, and no more."""
    assert stamp(NOON, 1).id != stamp(NOON, 2).id
    assert stamp(NOON, 1).id == stamp(NOON, 1 + 2**30).id
    assert stamp(NOON, 1).id[:10] == stamp(NOON, 2**29).id[:10]


def test_a_stamp_is_in_utc_whatever_zone_the_clock_has() -> None:
    """The same moment gives the same id."""
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    assert stamp(tokyo, 7) == stamp(NOON, 7)
    assert stamp(tokyo, 7).at.tzinfo is UTC


def test_an_id_holds_its_time_in_the_first_ten_characters() -> None:
    """The time can be read back from the id alone."""
    value = 0
    for character in stamp(NOON, 0).id[:10]:
        value = value * 32 + ALPHABET.index(character)
    assert value == NOON.timestamp() * 1000


def test_the_alphabet_is_in_sorting_order_and_leaves_out_letters_that_look_alike() -> None:
    """Otherwise ids would not sort by time, or would be misread."""
    assert list(ALPHABET) == sorted(ALPHABET)
    assert len(set(ALPHABET)) == 32
    assert not set("ilou") & set(ALPHABET)


def test_only_sixteen_characters_of_the_alphabet_have_the_form_of_an_id() -> None:
    """An abbreviation does not, nor does anything with other letters."""
    good = stamp(NOON, 5).id
    assert is_id(good)
    assert not any(is_id(text) for text in ("", good[:-1], good + "0", good[:-1] + "u", good.upper(), " " + good[1:]))
    assert len(good) == LENGTH
