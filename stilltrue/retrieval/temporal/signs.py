"""The parts of speech of time, each one character, so that a grammar is a regular expression over a short string."""

from __future__ import annotations

from enum import StrEnum


class Sign(StrEnum):
    """What a word or phrase means to the grammar. The grammar is the same for all languages; the words are tables."""

    NUMBER = "N"
    ORDINAL = "k"  # first, second: of a quarter
    UNIT = "U"
    MONTH = "M"
    MONTH_SUFFIX = "m"  # 月 in 3月
    WEEKDAY = "W"
    SEASON = "S"
    YEAR = "Y"
    DECADE = "C"
    DECADES = "g"  # "années" in "les années 90"
    DATE = "D"
    QUARTER = "Q"
    WEEKEND = "K"
    RELATIVE = "i"  # yesterday, 去年: a unit and how many of them back
    PERIOD = "P"  # "half a year": a count of a unit in one phrase

    LAST = "L"
    ROLLING = "R"  # "the past": reaches up to now
    THIS = "T"
    NEXT = "n"  # next, every: not about the past
    AGO = "A"  # 3 days ago
    AGO_BEFORE = "a"  # hace 3 días
    VOR = "v"  # German "vor": ago, and before
    MAE = "z"  # Chinese and Japanese 前: ago, and before, after its noun

    IN = "I"
    TO_OR_IN = "2"  # French "à", Italian "a"
    TO = "t"
    TO_OR_UNTIL = "6"
    UNTIL = "u"
    UNTIL_AFTER = "<"  # まで
    SINCE = "F"
    SINCE_OR_FROM = "5"  # Italian "dal"
    SINCE_AFTER = ">"  # から
    AFTER = "G"
    AFTER_AFTER = "h"  # 以后
    BEFORE = "B"
    BETWEEN = "b"
    AND = "&"
    FROM = "f"
    AS_OF = "O"
    AS_OF_AFTER = "@"  # 時点で
    PART = "e"  # "the end of", "early"

    ARTICLE = "~"
    OF = "o"
    COMMA = ","
    BREAK = "."
    COUNTED = "c"  # a noun that makes the number before it a count: "in 2000 steps"
    LABEL = "l"  # a noun that makes the number after it a name: "port 2015"
    EARLIEST = "E"
    PAST = "H"
    PAST_IF_TOLD = "p"  # about the past only in a sentence that tells of it: "before the move"
    IN_THE_PAST = "r"  # "in the past": the past, or a rolling span where a count follows
    FUTURE = "w"
    OTHER = "x"
