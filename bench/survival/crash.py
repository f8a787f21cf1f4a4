"""Kill processes (`kill -9`) at random moments of their work on a store, and verify what is left of it each time.

Victims are writers, compactions, re-embeddings while another process writes, and upgrades to a later schema. After
each round the store is opened. It has to hold every acknowledged write completely, and to pass `stilltrue check`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench.report import finish, table
from bench.survival.crash_victims import KINDS, MODELS, NEXT_VERSION, context_on, to_next_version
from stilltrue.errors import StilltrueError
from stilltrue.event import Remembered, Revoked
from stilltrue.note import Note
from store.admin.check import check
from store.folder.backend import FolderBackend, open_existing
from store.lance.schema import UPGRADES, Upgrade
from store.open import open_store
from tools.remember import remember

ROOT = Path(__file__).resolve().parents[2]
LIVES = 25
"""How many rounds one store lives through before the next round starts with an empty one."""

_LONGEST_S: Mapping[str, float] = {"write": 0.8, "compact": 0.4, "reembed": 0.6, "upgrade": 0.8}
"""A process is killed at a random moment within this many seconds after it is ready."""

_PILE = 20
_READY_S = 60.0


@dataclass
class StoreLife:
    """One store and its acknowledged writes: texts by note id, and the ids of revoked notes."""

    folder: Path
    texts: dict[str, str] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)


@dataclass
class Tally:
    """The findings of all rounds, in words."""

    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    killed: Counter[str] = field(default_factory=Counter)
    finished: Counter[str] = field(default_factory=Counter)


def main(argv: Sequence[str]) -> int:
    """Print how often each kind of work was killed, and what was lost. Returns 1 if anything was."""
    options = _options(argv)
    random, tally = Random(options.seed), Tally()
    with tempfile.TemporaryDirectory() as folder:
        life = StoreLife(Path(folder))
        for number in range(options.rounds):
            if number % LIVES == 0:
                shutil.rmtree(life.folder, ignore_errors=True)
                life = StoreLife(Path(folder) / f"store-{number}")
            kind = random.choice(options.kinds)
            _round(kind, f"round {number}", life, random, tally)
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
    for what, found in (("lost", tally.lost), ("partial", tally.partial), ("check", tally.failures)):
        print("".join(f"{what}: {each}\n" for each in found[:20]), end="")
    print(table(
        ("work", "killed in the middle", "finished before"),
        [(kind, tally.killed[kind], tally.finished[kind]) for kind in KINDS],
    ))  # fmt: skip
    result = {
        "rounds": options.rounds,
        "acknowledged": tally.acknowledged,
        "lost": len(tally.lost),
        "partial": len(tally.partial),
        "check_failures": len(tally.failures),
        "killed": dict(tally.killed),
        "finished": dict(tally.finished),
    }
    finish(result, options.seed)
    return 1 if tally.lost or tally.partial or tally.failures else 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench crash", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="default 20; about four seconds each")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), help="default all")
    parser.add_argument("--seed", type=int, default=0, help="seed for what is killed when (default 0)")
    return parser.parse_args(argv)


def _round(kind: str, name: str, life: StoreLife, random: Random, tally: Tally) -> None:
    if not life.folder.exists() or kind in {"compact", "reembed"}:
        _pile_up(life, name, tally)
    folder = life.folder
    victims: list[tuple[str, str]] = [(kind, name)]
    if kind == "write":
        victims.append((kind, f"{name}, the other"))
    elif kind == "reembed":
        victims = [(kind, _other_model(folder)), ("write", name)]
    elif kind == "upgrade":
        folder = folder.with_name("copy")
        shutil.copytree(life.folder, folder)
    running = [_spawned(which, folder, argument) for which, argument in victims]
    for process in running:
        _begin(process)
    for process in random.sample(running, len(running)):
        time.sleep(random.uniform(0.0, _LONGEST_S[kind]) / len(running))
        process.kill()
    for (which, _), process in zip(victims, running, strict=True):
        _collect_acknowledged(which, process, life, tally)
    upgrades = {**UPGRADES, NEXT_VERSION: to_next_version} if kind == "upgrade" else UPGRADES
    try:
        _verify(folder, upgrades, life, name, tally)
    except StilltrueError as trouble:
        tally.failures.append(f"{name}, {kind}: {trouble}")
    if folder != life.folder:
        shutil.rmtree(folder)


def _pile_up(life: StoreLife, name: str, tally: Tally) -> None:
    """Make enough single writes that a compaction is due."""
    context = context_on(life.folder)
    for number in range(_PILE):
        text = f"Crate {number} of {name}."
        life.texts[remember(context, text, subjects=["depot"]).data.id] = text  # type: ignore[union-attr]
    tally.acknowledged += _PILE
    context.store.close()


def _other_model(folder: Path) -> str:
    store = open_store(str(folder))
    space = store.fingerprint
    store.close()
    return next(name for name in MODELS if space is None or name != space.model)


def _spawned(kind: str, folder: Path, name: str) -> subprocess.Popen[str]:
    """Start the process, which waits for a line before it begins."""
    command = [sys.executable, "-m", "bench.survival.crash_victims", kind, str(folder), name]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, text=True, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate(timeout=_READY_S)[1]
    return process


def _begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def _collect_acknowledged(kind: str, process: subprocess.Popen[str], life: StoreLife, tally: Tally) -> None:
    """Record what the process acknowledged before it was killed."""
    output, trouble = process.communicate(timeout=_READY_S)
    if "Traceback" in trouble:
        tally.failures.append(f"{kind} ended without being killed: {trouble.strip()[-500:]}")
    done = False
    for line in output.splitlines():
        # The last line may be truncated; then it was not acknowledged.
        with suppress(json.JSONDecodeError):
            report = json.loads(line)
            if "note" in report:
                life.texts[report["note"]] = report["text"]
                tally.acknowledged += 1
            elif "revoked" in report:
                life.revoked.add(report["revoked"])
                tally.acknowledged += 1
            else:
                done = True
    (tally.finished if done else tally.killed)[kind] += 1


def _verify(folder: Path, upgrades: Mapping[int, Upgrade], life: StoreLife, name: str, tally: Tally) -> None:
    """Open the store as the next server would, and count what differs from what was acknowledged."""
    open_store(str(folder), upgrades=upgrades).close()
    whole = open_existing(folder, upgrades=upgrades)
    events = whole.events()
    stored = {event.id: event.note for event in events if isinstance(event, Remembered)}
    withdrawn = {event.note_id for event in events if isinstance(event, Revoked)}
    for note_id, text in life.texts.items():
        if note_id not in stored:
            tally.lost.append(f"{name}: the note [{note_id}]")
        elif stored[note_id].text != text:
            tally.partial.append(f"{name}: the note [{note_id}] has another text")
    tally.lost += [f"{name}: the revocation of [{note_id}]" for note_id in life.revoked - withdrawn]
    tally.partial += [f"{name}: {finding}" for finding in _partial_notes(whole, stored)]
    tally.failures += [f"{name}: {problem}" for problem in check(whole).problems]


def _partial_notes(whole: FolderBackend, notes: Mapping[str, Note]) -> list[str]:
    """Notes with missing rows: there has to be one per cue and, if the note has vectors, one per piece."""
    rows = whole.table.search().where("kind IN ('remembered', 'piece', 'cue')").select(["kind", "note", "vector"])
    found: dict[str, Counter[str]] = {note_id: Counter() for note_id in notes}
    embedded = set()
    for row in rows.to_arrow().to_pylist():
        found[row["note"]][row["kind"]] += 1
        if row["kind"] == "remembered" and row["vector"] is not None:
            embedded.add(row["note"])
    model = MODELS[whole.log.fingerprint.model] if whole.log.fingerprint else None
    partial = []
    for note_id, note in notes.items():
        pieces = len(model.pieces(note.text)) if model and note_id in embedded else 1
        want = Counter(remembered=1, piece=pieces - 1, cue=len(note.cues))
        if found[note_id] != want:
            partial.append(f"the note [{note_id}] has rows {dict(found[note_id])} and not {dict(want)}")
    return partial
