"""Is a requirement noticed that was stored as an ordinary note? On examples that nothing was fitted on."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.filing.examples import HELD_OUT, fitted
from bench.report import finish, table
from bench.stage import model, rows
from stilltrue.requirements.detector import Suspicion, suspect
from store.embed.requirements import load_weights

NOTICED, NEAR, ORDINARY = 0.90, 0.05, 0.01
"""The share of requirements to notice, and the largest shares of near misses and of ordinary notes to suspect."""


@dataclass(slots=True)
class Group:
    """Notes of one kind from one place. `klasses` holds the true class of each, where they are requirements."""

    name: str
    kind: str
    texts: list[str]
    klasses: list[str] = field(default_factory=list)
    found: list[Suspicion | None] = field(default_factory=list)
    by_words: list[Suspicion | None] = field(default_factory=list)

    @property
    def suspected(self) -> int:
        """How many of them the detector suspects."""
        return sum(each is not None for each in self.found)

    def row(self) -> list[object]:
        """The group's line of the table."""
        right = sum(
            each is not None and each.klass == klass for each, klass in zip(self.found, self.klasses, strict=False)
        )
        alone = sum(each is not None for each in self.by_words)
        count = len(self.texts)
        klass = f"{right / max(1, self.suspected):.3f}" if self.klasses else ""
        return [
            self.name,
            self.kind,
            count,
            self.suspected,
            f"{self.suspected / count:.3f}",
            klass,
            f"{alone / count:.3f}",
        ]


def main(argv: Sequence[str]) -> int:
    """Print what is suspected, set by set. 1 where a goal on the held-out families is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench filing", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with locomo_turns, prefeval and carmem as JSON Lines")
    parser.add_argument("--missed", action="store_true", help="print the texts that are missed or suspected wrongly")
    options = parser.parse_args(argv)
    groups = [*_held_out(), *_bundled(), *(_public(options.data) if options.data else ())]
    _judge(groups)
    head = ("notes", "kind", "count", "suspected", "share", "class right", "words alone")
    print(table(head, [group.row() for group in groups]))
    if options.missed:
        _print_missed(groups)
    result = _result(groups)
    claims = _claims(result)
    print("\n" + "\n".join(f"{'met   ' if met else 'MISSED'}  {claim}" for claim, met in claims.items()))
    finish(result)
    return 0 if all(claims.values()) else 1


def _held_out() -> Iterable[Group]:
    """The families that nothing was fitted on, each by its kinds and English apart from other languages."""
    told = fitted(held_out=True)
    for family in HELD_OUT:
        for english in (True, False):
            of = [each for each in told if each.family == family and (each.language == "en") == english]
            name = f"{family}, {'English' if english else 'other languages'}"
            bound = [each for each in of if each.klass]
            yield Group(name, "requirement", [each.text for each in bound], [str(each.klass) for each in bound])
            yield Group(name, "near miss", [each.text for each in of if each.near_miss])
            yield Group(name, "ordinary", [each.text for each in of if not each.klass and not each.near_miss])


def _bundled() -> Iterable[Group]:
    """The notes of the other benchmarks: they were not fitted on either."""
    cases = [row for row in rows("requirements") if not row["control"]]
    decisive = [row["decisive"]["text"] for row in cases]
    yield Group("decisive notes", "bundled requirement", decisive, [row["klass"] for row in cases])
    distractors = dict.fromkeys(note["text"] for row in rows("requirements") for note in row["distractors"])
    yield Group("distractors", "bundled note", list(distractors))
    yield Group("fillers", "ordinary", [row["text"] for row in rows("fillers")])


def _public(folder: Path) -> Iterable[Group]:
    """Public sets, for the report alone."""
    for name, key, kind in (
        ("locomo_turns", "text", "ordinary"),
        ("carmem", "note", "public preference"),
        ("prefeval", "preference", "public preference"),
    ):
        lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        yield Group(name, kind, [text for line in lines if (text := json.loads(line)[key]).strip()])


def _judge(groups: Sequence[Group]) -> None:
    weights = load_weights()
    for group in groups:
        vectors = model().embed(group.texts)
        pairs = zip(group.texts, vectors, strict=True)
        group.found = [suspect(text, vector, weights) for text, vector in pairs]
        group.by_words = [suspect(text, None, weights) for text in group.texts]


def _result(groups: Sequence[Group]) -> dict[str, Any]:
    """Counts; `noticed` of `rules` is on the held-out families, and so are the near misses."""

    def counted(kind: str) -> tuple[int, int]:
        of = [group for group in groups if group.kind == kind]
        return sum(len(group.texts) for group in of), sum(group.suspected for group in of)

    result: dict[str, Any] = {}
    for kind, count, suspected in (
        ("requirement", "rules", "noticed"),
        ("near miss", "near_misses", "suspected_near_misses"),
        ("ordinary", "ordinary", "suspected_ordinary"),
    ):
        result[count], result[suspected] = counted(kind)
    return result


def _claims(result: dict[str, Any]) -> dict[str, bool]:
    noticed = result["noticed"] / result["rules"]
    near = result["suspected_near_misses"] / result["near_misses"]
    ordinary = result["suspected_ordinary"] / result["ordinary"]
    return {
        f"requirements noticed: {noticed:.3f}, at least {NOTICED}": noticed >= NOTICED,
        f"near misses suspected: {near:.3f}, at most {NEAR}": near <= NEAR,
        f"ordinary notes suspected: {ordinary:.4f}, at most {ORDINARY}": ordinary <= ORDINARY,
    }


def _print_missed(groups: Sequence[Group]) -> None:
    for group in groups:
        wanted = bool(group.klasses)
        for text, found in zip(group.texts, group.found, strict=True):
            if (found is not None) != wanted:
                print(f"{group.name}, {group.kind}: {found.klass + ' ' if found else ''}{text}")
