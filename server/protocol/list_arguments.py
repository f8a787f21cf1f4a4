"""Lists, names and ids as models send them: JSON in a string, a Python literal, names in one string, quoted ids.

How a list of strings is read:

1. A string that is a list in JSON or in Python (`["a"]`, `['a']`, `('a', 'b')`, `[a, b]`) is that list. An element
   that is such a string, or a list itself, is replaced by its elements; this is done once, not deeper.
2. Any other string is split at its commas, except those inside quotes: `"Smith, John", tom` is two names.
3. `null`, `None`, `undefined` and blanks are not elements.

Models put several subjects into one string. So a string that was sent in place of a list, and the only element of a
list, are also split by these rules. A list of several elements is taken as it is.

4. Names joined by " and " or " & " are split if each is short: at most two words and 24 characters. If one of them
   has a colon (`repo:api`), all need one.
5. The only element of a list is split at its commas if each name is short: at most three words and 24 characters.
6. "Acme, Inc." and similar endings (Ltd, LLC, Jr, PhD) stay one name.
7. A name in quotes is never split, and its quotes are dropped: `"Marks & Spencer"`, `'Smith, John'`.

The subjects of the answer show how they were read.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from stilltrue.ids import ALPHABET, LENGTH

NOTHING = frozenset({"", "null", "none", "undefined"})
"""What clients and models send for an unset argument, in lower case."""

_COMMAS = ",，、"
_PART = re.compile(rf"""\s*(?P<part>"[^"]*"|'[^']*'|`[^`]*`|[^{_COMMAS}]*?)\s*(?:[{_COMMAS}]|$)""")
_QUOTED = re.compile(r"""(["'`])(?!\1)((?:(?!\1).)+)\1""", re.DOTALL)
_AND = re.compile(r"\s+(?:and|&)\s+", re.IGNORECASE)
_LEADING_AND = re.compile(r"(?:and|&)\s+", re.IGNORECASE)
_ENDINGS = frozenset({"inc", "llc", "ltd", "plc", "gmbh", "corp", "jr", "sr", "phd", "md", "esq"})
_SHORT = 24
_MAX_LITERAL = 100_000

_ID = f"[{ALPHABET}]{{{LENGTH}}}"
_AROUND = r"""[\s"'`\[\](){}<>,.;]"""
_IDS = re.compile(rf"{_AROUND}*{_ID}(?:{_AROUND}+(?:and{_AROUND}+)?{_ID})*{_AROUND}*", re.IGNORECASE)


def read_list(value: Any) -> list[Any]:
    """The elements of a list argument, by rules 1 to 3."""
    return [each for each in _elements(value) if not is_nothing(each)]


def read_subjects(value: Any) -> list[Any]:
    """The names in a list of subjects, by all the rules."""
    elements = read_list(value)
    if isinstance(value, str) and _literal(value) is None:
        return [name for each in elements for name in _joined_by_and(each)]
    if len(elements) == 1 and isinstance(elements[0], str):
        return list(_names_in(elements[0]))
    return [_unquoted(each) for each in elements]


def read_ids(value: Any) -> list[Any]:
    """The ids in a list argument, in lower case and without the quotes, brackets and punctuation around them."""
    return _ids_in(value) or [each for element in read_list(value) for each in _ids_in(element) or [element]]


def read_id(value: Any) -> Any:
    """The id in an argument that takes one. A value that is not exactly one id is returned unchanged."""
    ids = read_ids(value)
    return ids[0] if len(ids) == 1 else value


def is_nothing(value: Any) -> bool:
    """Whether this stands for an unset value."""
    return value is None or value == [] or (isinstance(value, str) and value.strip().casefold() in NOTHING)


def _elements(value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        literal = _literal(value)
        value = _split(value) if literal is None else literal
    for each in value if isinstance(value, list) else [value]:
        inner = _literal(each) if isinstance(each, str) else each
        yield from inner if isinstance(inner, list) else [each]


def _literal(text: str) -> list[Any] | None:
    """The list that a string is, or None."""
    text = text.strip()
    if len(text) > _MAX_LITERAL or (text[:1], text[-1:]) not in (("[", "]"), ("(", ")")):
        return None
    for parse in (json.loads, ast.literal_eval):
        try:
            parsed = parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(parsed, list | tuple):
            return list(parsed)
    return _split(text[1:-1]) if text.startswith("[") and "[" not in text[1:] else None


def _split(text: str) -> list[str]:
    """The parts of a text between commas; quotes protect the commas inside them and stay."""
    if not any(comma in text for comma in _COMMAS):
        return [text.strip()]
    parts: list[str] = []
    at = 0
    while at < len(text) and (found := _PART.match(text, at)):
        if parts and found["part"].rstrip(".").casefold() in _ENDINGS:
            parts[-1] += f", {found['part']}"
        else:
            parts.append(found["part"])
        at = found.end()
    return parts


def _names_in(element: str) -> Iterator[str]:
    parts = _split(element)
    if len(parts) > 1 and not all(_is_short(part, 3) for part in parts if part):
        yield _unquoted(element)
        return
    for part in parts:
        if not is_nothing(part):
            yield from _joined_by_and(part)


def _joined_by_and(part: Any) -> Sequence[Any]:
    """The names in a part of a list, by rules 4 and 7."""
    if not isinstance(part, str) or _QUOTED.fullmatch(part):
        return [_unquoted(part)]
    names = _AND.split(_LEADING_AND.sub("", part, count=1) if _LEADING_AND.match(part) else part)
    alike = len({":" in name for name in names}) == 1
    return [_unquoted(name) for name in names] if alike and all(_is_short(name, 2) for name in names) else [part]


def _is_short(name: str, words: int) -> bool:
    return len(name) <= _SHORT and 0 < len(name.split()) <= words


def _unquoted(value: Any) -> Any:
    quoted = _QUOTED.fullmatch(value.strip()) if isinstance(value, str) else None
    return quoted[2].strip() if quoted else value


def _ids_in(value: Any) -> list[str]:
    """The ids in a text that holds nothing else but punctuation; none in any other value."""
    if not isinstance(value, str) or not _IDS.fullmatch(value):
        return []
    return [found.lower() for found in re.findall(_ID, value, re.IGNORECASE)]
