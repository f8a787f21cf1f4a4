"""What the class of a note means: whether it is a requirement, and how it ages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Cardinality = Literal["one", "many"]


@dataclass(frozen=True, slots=True)
class MemoryClass:
    """One kind of fact.

    Notes of a `requirement` class are fetched by rule, all of them, and never ranked. `half_life_days` is the number
    of days without a read after which recency halves; None means no decay. `cardinality` is how many current notes a
    subject can have for one attribute: with "one", storing a second gives a warning that names the first.
    """

    name: str
    requirement: bool = False
    half_life_days: float | None = None
    cardinality: Cardinality = "many"


DEFAULT_CLASS = "note"

DEFAULT_CLASSES: tuple[MemoryClass, ...] = (
    MemoryClass("allergy", requirement=True),
    MemoryClass("accessibility", requirement=True),
    MemoryClass("legal_restriction", requirement=True),
    MemoryClass("do_not_contact", requirement=True),
    MemoryClass("hard_preference", requirement=True),
    MemoryClass("preference", cardinality="one"),
    MemoryClass("fact", cardinality="one"),
    MemoryClass("decision"),
    MemoryClass("active_project", half_life_days=60, cardinality="one"),
    MemoryClass("working_context", half_life_days=14, cardinality="one"),
    MemoryClass("event", half_life_days=30),
    MemoryClass(DEFAULT_CLASS),
)


class Classes(Mapping[str, MemoryClass]):
    """The classes of a configuration, by name.

    A store can hold notes of a class that the configuration no longer names. `of` treats such a class as an ordinary
    one that does not decay.
    """

    __slots__ = ("_by_name",)

    def __init__(self, classes: Iterable[MemoryClass] = DEFAULT_CLASSES) -> None:
        self._by_name = {klass.name: klass for klass in classes}

    def __getitem__(self, name: str) -> MemoryClass:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def of(self, name: str) -> MemoryClass:
        """The class of that name, or an ordinary one if it is not configured."""
        return self._by_name.get(name) or MemoryClass(name)

    @property
    def requirements(self) -> frozenset[str]:
        """The names of the constraint classes."""
        return frozenset(name for name, klass in self._by_name.items() if klass.requirement)
