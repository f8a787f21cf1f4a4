"""What does one flipped bit do to a store? Bits are flipped in every kind of file, and the same questions asked.

Each flip is made in a fresh copy of one store: chains of corrections, requirements, a merge, a revocation, cues, rows
that are indexed and rows that are not yet. An answer is wrong if it states something that the undamaged store does
not, or leaves out a requirement or what replaced a note, and neither refuses nor marks the damage.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from bench.random_model import RandomModel
from bench.report import finish, table
from bench.stage import NOW, Stage
from stilltrue.chain import chains
from stilltrue.errors import StilltrueError
from stilltrue.lifecycle import Member
from stilltrue.requirements.binding import requirements
from store.admin.check import check
from store.folder.backend import open_existing
from tools.recall import recall
from tools.remember import remember
from tools.revoke import revoke
from tools.supersede import supersede

PEOPLE = ("priya", "tom", "lena", "omar")
LOG_DATA = "log data"
MODEL = RandomModel("drawn", 64)
QUERIES = ("what may be served at dinner", "which port does the database use", "who must not be called")

T = TypeVar("T")

Statement = tuple[str, str, str]
"""A note as an answer states it: its id, its status, its words."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a store answers: for each question the statements, and whether damage is marked in the answer."""

    statements: dict[str, frozenset[Statement]]
    marked: frozenset[str]


def main(argv: Sequence[str]) -> int:
    """Flip bits, print what came of it by kind of file, and return 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench bitrot", description=__doc__)
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        original = Path(folder) / "store"
        fill(original)
        found = flip_all(original, options.flips, Random(options.seed))
    outcomes = ("no effect", "healed", "refused or marked", "wrong", "unnoticed by check")
    rows = [[kind, *(counts[outcome] for outcome in outcomes)] for kind, counts in sorted(found.items())]
    print(table(["file", *outcomes], rows))
    total = sum(found.values(), Counter[str]())
    finish(
        {
            "flips": options.flips,
            "wrong_answers": total["wrong"],
            "refused_or_marked": total["refused or marked"],
            "healed": total["healed"],
            "unnoticed_by_check": total["unnoticed by check"],
        },
        options.seed,
    )
    return int(bool(total["wrong"] or total["unnoticed by check"]))


def fill(folder: Path) -> None:
    """A store of some fifty notes in which everything occurs that a bit could break."""
    stage = Stage(folder, embedder=MODEL)
    store, context = stage.store, stage.context
    for number, person in enumerate(PEOPLE):
        remember(context, f"{person} is severely allergic to peanuts", subjects=[person, "team"], klass="allergy")
        old = _id(remember(context, f"{person}'s database uses port {5432 + number}", subjects=[person]))
        port = f"{person}'s database uses port"
        newer = _id(supersede(context, [old], f"{port} {6432 + number}", relation="correction"))
        supersede(context, [newer], f"{port} {7432 + number} now", reason="it moved")
        for day in range(6):
            remember(context, f"{person} was in the office on day {day}", subjects=[person], cues=["who was there"])
        lost = _id(remember(context, f"{person} may be called at night", subjects=[person], klass="hard_preference"))
        revoke(context, lost, "that was somebody else")
        if number == len(PEOPLE) // 2:
            store.maintain()
            open_existing(folder).table.optimize()
    store.close()


def flip_all(original: Path, flips: int, chance: Random) -> dict[str, Counter[str]]:
    """What came of each flip, counted by kind of file."""
    truth = _answers(Stage(original, embedder=MODEL))
    files = sorted(path for path in original.rglob("*") if path.is_file() and path.stat().st_size)
    by_kind: dict[str, list[Path]] = {}
    for path in files:
        by_kind.setdefault(kind_of(path.relative_to(original)), []).append(path)
    found: dict[str, Counter[str]] = {kind: Counter() for kind in by_kind}
    for number in range(flips):
        # Every other flip is in the data of the log: that is where the notes are.
        kind = LOG_DATA if number % 2 else sorted(by_kind)[number // 2 % len(by_kind)]
        file = chance.choice(by_kind[kind])
        copy = original.with_name("flipped")
        shutil.copytree(original, copy)
        flip(copy / file.relative_to(original), chance)
        found[kind].update(outcome(copy, truth))
        shutil.rmtree(copy)
    return found


def kind_of(file: Path) -> str:
    """The kind of a file of the store: `log data`, `log _indices`, `store.json`, ..."""
    return f"{file.parts[0].partition('.')[0]} {file.parts[1]}" if len(file.parts) > 1 else file.name


def flip(file: Path, chance: Random) -> None:
    """Flip one bit of a file."""
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def outcome(folder: Path, truth: Answers) -> list[str]:
    """What one flip came to: `no effect`, `healed`, `refused or marked` or `wrong`; and whether check missed it."""
    answers = asked(folder)
    came_to = "refused or marked" if answers is None else compared(answers, truth)
    problems = _quietly(lambda: check(open_existing(folder)).problems)
    noticed = problems is None or bool(problems) or any(folder.glob("set-aside/*/*"))
    if came_to == "no effect":
        return ["healed" if noticed else came_to]
    return [came_to] if noticed else [came_to, "unnoticed by check"]


def compared(answers: Answers, truth: Answers) -> str:
    """Whether the answers state what is true, all that has to be stated, or say where they do not."""
    if answers.statements == truth.statements:
        return "no effect"
    for question, statements in answers.statements.items():
        if statements == truth.statements[question]:
            continue
        told = question in answers.marked
        ranked = question.startswith("recall")
        false = statements - (truth.statements["all"] if ranked else truth.statements[question])
        missing = frozenset[Statement]() if ranked else truth.statements[question] - statements
        if (false or missing) and not told:
            print(f"WRONG {question}: stated {sorted(false)}, left out {sorted(missing)}", file=sys.stderr)
            return "wrong"
    return "refused or marked" if answers.marked else "no effect"


def asked(folder: Path) -> Answers | None:
    """The answers of the store in a folder; None where it refuses, as it may where a bit is wrong."""
    return _quietly(lambda: _answers(Stage(folder, embedder=MODEL)))


def _answers(stage: Stage) -> Answers:
    store, context = stage.store, stage.context
    statements: dict[str, frozenset[Statement]] = {}
    marked = set[str]()
    for person in (*PEOPLE, "team"):
        events = store.binding(context.classes.requirements, [person])
        held = requirements(chains(events, NOW), context.classes, [person])
        members = [member for each in held for member in each.binding]
        _put(statements, marked, f"requirements of {person}", members)
    every = [member for chain in chains(store.events(), NOW) for member in chain.members.values()]
    _put(statements, marked, "all", every)
    for note_id in sorted(member.id for member in every):
        found = (chain for record in store.chains_of([note_id]) for chain in chains(record.events, NOW))
        members = [member for chain in found for member in chain.members.values()]
        _put(statements, marked, f"chain of {note_id}", members)
    for query in QUERIES:
        answer = recall(context, query)
        data: Any = answer.data
        said = {(note.id, note.status, note.text) for chain in data.chains for note in (*chain.lead, *chain.history)}
        statements[f"recall {query}"] = frozenset(said)
        if "DAMAGED" in answer.text:
            marked.add(f"recall {query}")
    store.close()
    return Answers(statements, frozenset(marked))


def _put(
    statements: dict[str, frozenset[Statement]], marked: set[str], question: str, members: Sequence[Member]
) -> None:
    statements[question] = frozenset((each.id, str(each.status), each.note.text) for each in members)
    if any(each.note.unreadable for each in members):
        marked.add(question)


def _quietly(do: Callable[[], T]) -> T | None:
    """What it returns, or None where the store refuses."""
    try:
        return do()
    except (StilltrueError, OSError):
        return None


def _id(answer: Any) -> str:
    return str(answer.data.id)
