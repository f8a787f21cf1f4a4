"""What a class means: whether its notes are requirements, and how they age."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Cardinality = Literal["one", "many"]


@dataclass(frozen=True, slots=True)
class MemoryClass:
    """One kind of fact.

    A `requirement` class is fetched by rule and never ranked. `half_life_days` says after how many days without
    a reading its recency halves; None does not decay. `cardinality` says how many notes of one attribute a
    subject can hold at once: with "one", a second is answered with a warning that names the first.
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
    """The classes of a configuration, by name. A class that is asked for and unknown is an ordinary one.

    A store can hold notes of a class that the configuration no longer names; they are read as ordinary notes
    that do not decay, since nobody said how they would.
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
        """The class of that name, or an ordinary one where the configuration knows none."""
        return self._by_name.get(name) or MemoryClass(name)

    @property
    def requirements(self) -> frozenset[str]:
        """The names of the constraint classes."""
        return frozenset(name for name, klass in self._by_name.items() if klass.requirement)
