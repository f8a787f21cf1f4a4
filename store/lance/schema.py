"""What the store looks like on the disk: the columns of the log, their indices, and which version of it this is.

    <location>/store.json    the schema version, the vector space and the generation, replaced as a whole
    <location>/log.lance     the log, one LanceDB table; from the second generation on log-2.lance, ...
    <location>/usage.lance   retrieval counts
    <location>/*.lock        the locks of writers, of upkeep and of the counts
    <location>/set-aside/    what a crash tore
    <location>/next.json, reembed-2/    what makes the next generation, while it is made (store/folder/generations.py)
    <location>/before-version-2/        a whole store as it was before an upgrade

A row of the log is an event ('remembered', 'revoked', 'reinstated', 'erased', 'rated'), one more way to a note
('piece', 'cue'), or an entry of a small index that LanceDB cannot keep for us: a 'join' says that the chain
`chain` is one with those in `joins`, a 'subject' that some note names this subject (`s:<subject>`).
Only events carry `klasses`; only rows that can be found carry `text`, `vector` and `sketch`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from stilltrue.errors import StoreTrouble
from store.files import write_whole
from store.lance.checksum import SUM
from store.lance.engine import Table, arrow
from store.lance.m002_checksums import add_checksums
from store.layout import META, log_name
from store.port import Fingerprint

SUBJECT_PREFIX = "s:"

INDICES: Mapping[str, str] = MappingProxyType(
    {
        "subjects": "LabelList",
        "klasses": "LabelList",
        "kind": "Bitmap",
        "id": "BTree",
        "note": "BTree",
        "chain": "BTree",
        "digest": "BTree",
        "request": "BTree",
        "text": "FTS",
    }
)
"""Which column has which kind of index. There is none for vectors: they are searched exactly, within subjects."""


@dataclass(frozen=True, slots=True)
class Meta:
    """What the store knows of itself. Each log that takes the place of another is one generation further."""

    schema_version: int
    fingerprint: Fingerprint | None = None
    generation: int = 1

    @property
    def log(self) -> str:
        """The name of the table that is the log."""
        return log_name(self.generation)


def log_schema() -> Any:
    """The columns of the log as it is created; `vector_field` joins them with the first vector space."""
    pa = arrow()
    texts = pa.list_(pa.utf8())
    return pa.schema(
        [
            pa.field("id", pa.utf8(), nullable=False),
            pa.field("kind", pa.utf8(), nullable=False),
            pa.field("note", pa.utf8(), nullable=False),
            pa.field("chain", pa.utf8(), nullable=False),
            pa.field("joins", texts),
            pa.field("subjects", texts),
            pa.field("klasses", texts),
            pa.field("text", pa.utf8()),
            pa.field("at", pa.timestamp("us", tz="UTC")),
            pa.field("digest", pa.utf8()),
            pa.field("request", pa.utf8()),
            pa.field("body", pa.utf8()),
            pa.field("sketch", pa.binary()),
            pa.field(SUM, pa.int64()),
        ]
    )


def vector_field(dimension: int) -> Any:
    """The column of vectors: that many 32-bit numbers, or null."""
    pa = arrow()
    return pa.field("vector", pa.list_(pa.float32(), dimension))


def index_columns(table: Table, *, anew: bool = False) -> None:
    """Creates the indices of the log that are not there yet; with `anew` all of them, from the rows.

    A new index takes the place of the old one in one commit, so that no search finds itself without.
    """
    from lancedb import index

    there = {column for existing in table.list_indices() for column in existing.columns}
    for column, kind in INDICES.items():
        if column in there and not anew:
            continue
        if kind == "FTS":
            # Words of all scripts; `don't` and `E1234-x` also by their parts. Stop words stay: some are names.
            config = index.FTS(
                base_tokenizer="icu/split",
                language="English",
                stem=True,
                lower_case=True,
                ascii_folding=True,
                remove_stop_words=False,
                with_position=False,
            )
        else:
            config = getattr(index, kind)()
        table.create_index(column, config=config, replace=True)


Upgrade: TypeAlias = Callable[[Table], None]
"""Brings a log from the version before to the next, by as many commits as it likes: it is given a copy."""

UPGRADES: Mapping[int, Upgrade] = MappingProxyType({2: add_checksums})
"""The step that leads to each version from the one before it: `2: m002_...`. See store/folder/migrate.py."""


def newest(upgrades: Mapping[int, Upgrade]) -> int:
    """The version to which these steps lead."""
    return max(upgrades, default=1)


VERSION = newest(UPGRADES)
"""The schema version that this program writes."""


def read_meta(location: Path, known: int = VERSION) -> Meta | None:
    """What the store at this place says of itself; None where there is no store yet.

    Raises StoreTrouble where it cannot be read or is of a newer schema version than `known`.
    """
    file = location / META
    try:
        content = json.loads(file.read_bytes())
        version, generation = int(content["schema_version"]), int(content.get("generation", 1))
        if version < 1 or generation < 1:
            raise ValueError(f"there is no schema version {version} or generation {generation}")
        if version > known:
            raise StoreTrouble(
                f"The store at {location} has schema version {version}; this program knows versions up to {known}.",
                "Install a newer stilltrue, or configure another store location. Nothing was changed.",
            )
        said = content["fingerprint"]
        space = said and Fingerprint(said["model"], said["sha256"], int(said["dimension"]))
        return Meta(version, space, generation)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreTrouble(
            f"{file} does not say which store this is: {error}.",
            "Bring that file back from a backup; without it the store is not opened, so that nothing is overwritten.",
        ) from error


def write_meta(location: Path, meta: Meta) -> None:
    """Puts on the disk what the store says of itself. To be called under the lock of writers."""
    write_whole(location / META, meta_bytes(meta))


def meta_bytes(meta: Meta) -> bytes:
    """The content of store.json."""
    said = meta.fingerprint
    content = {
        "schema_version": meta.schema_version,
        "fingerprint": said and {"model": said.model, "sha256": said.sha256, "dimension": said.dimension},
        "generation": meta.generation,
    }
    return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"
