"""What a language has to say about time: its words, as tables, and how they are looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Literal, NamedTuple

from stilltrue.retrieval.temporal.signs import Sign
from stilltrue.retrieval.temporal.tokens import tokens

UnitName = Literal["day", "week", "month", "year"]
NOTHING: Mapping[str, object] = MappingProxyType({})


class Unit(NamedTuple):
    """So many days, weeks, months or years; `plural` where the word names several of them."""

    name: UnitName
    times: int = 1
    plural: bool = False


class Count(NamedTuple):
    """A number in words or digits; `vague` for "a few"."""

    number: int
    vague: bool = False
    digits: bool = False


class Entry(NamedTuple):
    """A phrase of the lexicon. Only the first `width` of its words are taken; the rest is what must follow."""

    words: tuple[str, ...]
    width: int
    sign: Sign
    value: object


@dataclass(frozen=True, slots=True)
class PastTense:
    """How a sentence shows that it tells of the past.

    One of `words` is enough. So is one of `participles`, or a word that starts and ends as one of `shapes`, unless
    one of `present` is in the sentence, and only beside one of `auxiliaries` where the language has any. `not_shapes`
    only look like one. `endings` are final characters of the text, for languages that put the tense there.
    """

    words: frozenset[str]
    shapes: tuple[tuple[str, str], ...] = ()
    not_shapes: frozenset[str] = frozenset()
    participles: frozenset[str] = frozenset()
    auxiliaries: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The words of one language. Case and accents do not count.

    `markers` are frequent words that tell the language of a query. `months`, `weekdays` (Monday first) and `seasons`
    (spring first) hold the spellings of each, parted by "|". `phrases` holds those of each sign; in a phrase, what
    follows ">" must come next and is not taken. `values` maps phrases to a sign with a value. `capital_months` are
    words besides, and are months only with a capital; `names` are names of people as well. `not_before_years` are
    prepositions before which a bare number is no year: "listens on 2015". `day_first`: 03/04/2026 is in April.
    `bare_years`: in a sentence about the past a year needs no preposition. `titles`: capitals mark names, so that
    "Your Lie in April" is one.
    """

    markers: frozenset[str]
    months: Sequence[str]
    weekdays: Sequence[str]
    seasons: Sequence[str]
    units: Mapping[str, Unit]
    numbers: Mapping[str, int]
    phrases: Mapping[Sign, str]
    past: PastTense
    values: Mapping[str, tuple[Sign, object]] = field(default_factory=lambda: MappingProxyType({}))
    capital_months: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    not_before_years: frozenset[str] = frozenset()
    quarter_letters: str = "q"
    day_first: bool = True
    bare_years: bool = False
    titles: bool = False


def words(text: str) -> frozenset[str]:
    """The words of a string, as a set; folded as queries are."""
    return frozenset(word for word, *_ in tokens(text))


@cache
def lexicon(language: Language) -> Mapping[str, tuple[Entry, ...]]:
    """The phrases of a language by their first word, the longest first."""
    found: dict[str, list[Entry]] = {}

    def add(phrase: str, sign: Sign, value: object) -> None:
        taken, _, following = phrase.partition(">")
        width = len(tokens(taken.strip()))
        every = tuple(word for word, *_ in tokens(f"{taken} {following}".strip()))
        if every:
            found.setdefault(every[0], []).append(Entry(every, width, sign, value))

    named = (
        (Sign.MONTH, language.months, 1),
        (Sign.WEEKDAY, language.weekdays, 0),
        (Sign.SEASON, language.seasons, 0),
    )
    for sign, spellings, first in named:
        for number, variants in enumerate(spellings, first):
            for phrase in filter(None, variants.split("|")):
                add(phrase, sign, number)
    for phrase, unit in language.units.items():
        add(phrase, Sign.UNIT, unit)
    for phrase, number in language.numbers.items():
        add(phrase, Sign.NUMBER, Count(abs(number), vague=number < 0))
    for sign, phrases in language.phrases.items():
        for phrase in phrases.split("|"):
            add(phrase.strip(), sign, phrase.strip())
    for phrase, (sign, value) in language.values.items():
        add(phrase, sign, value)
    return MappingProxyType({
        first: tuple(sorted(entries, key=lambda entry: (-len(entry.words), entry.sign is Sign.OTHER)))
        for first, entries in found.items()
    })  # fmt: skip


def units(table: Mapping[UnitName, tuple[str, str]], **times: tuple[UnitName, int, str, str]) -> Mapping[str, Unit]:
    """Units by word: for each, the singular spellings and the plural ones; then units that are so many of another."""
    rows = [(name, 1, *spellings) for name, spellings in table.items()] + [*times.values()]
    return MappingProxyType({
        word: Unit(name, count, plural)
        for name, count, singular, several in rows
        for plural, spellings in ((False, singular), (True, several))
        for word in filter(None, spellings.split("|"))
    })  # fmt: skip


def numbers(in_order: str, *, few: str = "", **others: str) -> Mapping[str, int]:
    """Number words: those from one on in order, parted by spaces, those for "a few", and `n3="..."` for more."""
    found = {word: number for number, each in enumerate(in_order.split(), 1) for word in each.split("/")}
    found |= dict.fromkeys(filter(None, few.split("|")), -3)
    found |= {word: int(key[1:]) for key, spellings in others.items() for word in spellings.split("|")}
    return MappingProxyType(found)
