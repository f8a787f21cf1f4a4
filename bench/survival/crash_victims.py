"""The processes that `crash` kills: each writes, compacts, re-embeds or upgrades a store until it is killed or done.

    python -m bench.survival.crash_victims KIND FOLDER NAME

It prints `ready` and begins when it receives a line. Then it prints a line of JSON for each acknowledged write, or
for its work once that is done.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from datetime import UTC
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from types import MappingProxyType

from bench.random_model import RandomModel
from bench.stage import ReadyModel
from server.wiring import Stamper, utc_now
from stilltrue.text.formatting import Formatter
from store.admin.reembed import reembed
from store.files import ProcessLock
from store.folder.backend import open_existing
from store.folder.migrate import upgrade
from store.lance.engine import Table
from store.lance.schema import UPGRADES, VERSION
from store.open import open_store
from tools.remember import remember
from tools.revoke import revoke
from tools.supersede import supersede
from tools.support.context import ToolContext, embed
from tools.support.results import Remembered, Superseded

MODELS: Mapping[str, RandomModel] = MappingProxyType(
    {"wide": RandomModel("wide", 48), "narrow": RandomModel("narrow", 32)}
)
NEXT_VERSION = VERSION + 1
_LONG = "And so it went on, from one box to the next, until the last of them was full and the door was shut. "


def context_on(folder: Path) -> ToolContext:
    """A context over the store in this folder, with the model of that store. Creates the store if there is none."""
    store = open_store(str(folder))
    space = store.fingerprint
    model = MODELS[space.model if space else "wide"]
    return ToolContext(store, ReadyModel(model), clock=utc_now, stamp=Stamper(), formatter=Formatter(UTC))


def to_next_version(table: Table) -> None:
    """An upgrade step: one more column, as a later version could need."""
    table.add_columns({"shelf": "cast(NULL as string)"})


def write(folder: Path, name: str) -> None:
    """Call every writing tool in random order, with cues and with texts of several pieces. Maintenance in between."""
    context, random = context_on(folder), Random(name)
    standing: list[str] = []
    _ready()
    for number in count():
        text = f"Box {number} of {name}. {_LONG * random.choice((0, 0, 5))}".strip()
        if standing and random.random() < 0.3:
            older = standing.pop(random.randrange(len(standing)))
            stored = supersede(context, [older], text).data
        else:
            cues = [f"where is box {number}", "moving"] if random.random() < 0.3 else []
            stored = remember(context, text, subjects=["depot"], cues=cues).data
        assert isinstance(stored, Remembered | Superseded)
        _print_line(json.dumps({"note": stored.id, "text": text}))
        if random.random() < 0.2:
            revoke(context, stored.id, f"box {number} was empty")
            _print_line(json.dumps({"revoked": stored.id}))
        else:
            standing.append(stored.id)
        context.store.maintain()


def compact(folder: Path, name: str) -> None:
    """Only maintenance, each time as the first round of a process that has just started."""
    _ready()
    while True:
        store = open_store(str(folder))
        store.maintain()
        store.close()


def reembed_to(folder: Path, name: str) -> None:
    """Embed every text again, with the model of that name."""
    whole, model = open_existing(folder), MODELS[name]
    _ready()
    make = partial(embed, model, sketches=False)
    _print_line(
        json.dumps({"embedded": reembed(whole, model.fingerprint, make, lambda _: None, lambda done, of: None)})
    )


def upgrade_it(folder: Path, name: str) -> None:
    """Upgrade to the next schema version."""
    _ready()
    locks = (ProcessLock(folder / "write.lock", 30.0), ProcessLock(folder / "upkeep.lock", 30.0))
    upgrade(folder, *locks, {**UPGRADES, NEXT_VERSION: to_next_version})
    _print_line(json.dumps({"upgraded": NEXT_VERSION}))


KINDS: Mapping[str, Callable[[Path, str], None]] = MappingProxyType(
    {"write": write, "compact": compact, "reembed": reembed_to, "upgrade": upgrade_it}
)


def _ready() -> None:
    _print_line("ready")
    sys.stdin.readline()


def _print_line(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    KINDS[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
