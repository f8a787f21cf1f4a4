"""Other processes that work on the same store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from store.port import Store

_CHECKOUT = Path(__file__).parents[2]

WRITER = """
import sys
from log_entries import write
from store.open import open_store
folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = open_store(folder)
print("open", flush=True)
for number in range(count):
    note_id = f"{name}{number:04}"
    write(store, note_id)
    print(note_id, flush=True)
    store.maintain()
store.close()
"""
"""Arguments: the folder, a name, how many notes. Says `open`, then the id of each note that was acknowledged."""


def elsewhere(program: str, *arguments: str | Path) -> subprocess.Popen[str]:
    """A Python process that runs `program` on this checkout; `sys.argv[1:]` are the arguments."""
    preamble = f"import sys; sys.path[:0] = [{str(_CHECKOUT)!r}, {str(_CHECKOUT / 'tests' / 'support')!r}]\n"
    command = [sys.executable, "-c", preamble + program, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ids_in(store: Store) -> set[str]:
    """The ids of all notes of a store."""
    return set(store.near_ids("", limit=10_000))
