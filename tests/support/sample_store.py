"""A small store as a schema version wrote it, and what it answered: tests/data/store-v1.zip and store-v1.json.

A sample is made once, by the program that writes its version, and never again: in the checkout of that program,
`PYTHONPATH=. python tests/support/sample_store.py 1`. A later program has to open it and answer the same. So what is
recorded is what must not change with ranking or wording: the log as it is exported, the status of each note, and
what each search finds.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from command_line_store import filled
from contexts import NOON
from fakes import FakeEmbedder

from stilltrue.chain import chains
from stilltrue.formats.jsonl import lines
from store.lance.store import LanceStore
from store.open import open_store

DATA = Path(__file__).resolve().parents[1] / "data"
QUERIES = ("where is the office", "what is Priya allergic to", "when does the lease end", "the minutes")


def answers(store: LanceStore) -> dict[str, Any]:
    """What a store says that must not change with its version."""
    events = store.events()
    record = {chain.id: chain for chain in chains(events, NOON.replace(year=2027))}
    return {
        "log": list(lines(events, NOON)),
        "statuses": {
            note_id: member.status.value for chain in record.values() for note_id, member in chain.members.items()
        },
        "chains": [sorted(record.ids) for record in store.chains_of([event.id for event in events])],
        "requirements": [event.id for event in store.binding(["allergy"], ["priya"])],
        "subjects": store.subjects(),
        "by words": {query: sorted(hit.note_id for hit in store.by_text(query, None, 50)) for query in QUERIES},
        "by meaning": {
            query: [
                [hit.note_id, round(hit.score, 3)]
                for hit in store.by_vector(FakeEmbedder().embed([query])[0], None, 50)
            ]
            for query in QUERIES
        },
        "counts": {
            note_id: [count.total, str(count.last_read_at)]
            for note_id, count in store.usage.counts([event.note_id for event in events], "").items()
        },
    }


def unpacked(version: int, folder: Path) -> dict[str, Any]:
    """Lays the sample of a version down as the store in this folder; returns what it answered."""
    with zipfile.ZipFile(DATA / f"store-v{version}.zip") as packed:
        packed.extractall(folder)
    recorded: dict[str, Any] = json.loads((DATA / f"store-v{version}.json").read_text(encoding="utf-8"))
    return recorded


def make(version: int) -> None:
    """Fills a store through the verbs, and packs it with what it answers."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "store"
        agent = filled(folder)
        agent.note(
            "stored by itself, in a fragment of its own", subjects=["office"], cues=["when looking for a desk"]
        )
        store = open_store(str(folder))
        store.close()
        DATA.mkdir(exist_ok=True)
        (DATA / f"store-v{version}.json").write_text(
            json.dumps(answers(store), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
        with zipfile.ZipFile(DATA / f"store-v{version}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
            for file in sorted(folder.rglob("*")):
                if file.is_file() and file.suffix != ".lock":
                    packed.write(file, file.relative_to(folder))


if __name__ == "__main__":
    make(int(sys.argv[1]))
