"""A store on object storage (`s3://bucket/prefix`) or in LanceDB's service (`db://name`), for any number of processes
of any number of machines.

    <prefix>/log.lance      the log, one LanceDB table, with a column more than in a folder: `turn`
    <prefix>/usage.lance    retrieval counts

No lock reaches all writers there, so an append is a compare-and-set over the whole log. Each has a turn, the one
after the last that its writer had seen before it read and checked, in each of its rows. The turn is the primary key
of the table, and the rows are inserted where the turn is not there. Of two appends with one turn LanceDB commits the
first; the other finds the turn taken, inserts nothing, and is told (`store.port.LostRace`). So what an append rests
on is what the log held when it was made.

What a folder says in store.json stands in the schema here, where it changes in one commit with what it is about: the
version in the metadata of the table, the vector space in that of the column of vectors.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from random import uniform
from time import sleep
from typing import Any, TypeVar

from stilltrue.errors import StoreTrouble
from store.errors import ENGINE_ERRORS, explained
from store.files import ThreadLock
from store.lance.checksum import SUM
from store.lance.engine import ArrowTable, Database, Table, arrow, connect, connect_async, read
from store.lance.schema import VERSION, index_columns, log_schema, vector_field
from store.lance.usage import LanceUsage, usage_table
from store.layout import LOG, USAGE
from store.object.maintenance import RemoteMaintenance
from store.port import Fingerprint

T = TypeVar("T")

_log = logging.getLogger(__name__)

TURN = "turn"
_PRIMARY_KEY = b"lance-schema:unenforced-primary-key:position"
_VERSION_KEY = b"stilltrue.schema_version"
_MODEL_KEY, _SHA256_KEY = b"stilltrue.model", b"stilltrue.sha256"
_USAGE_BEHIND = timedelta(seconds=5)
_USAGE_RETAINED = timedelta(minutes=10)
_TRIES = 8
_PAUSE_S = 0.5


def open_bucket(uri: str, lock_timeout_s: float, options: dict[str, str], *, create: bool) -> Bucket:
    """Opens the store at this place, or creates an empty one there. `options` are LanceDB's storage options.

    Raises StoreTrouble where it cannot be reached or is of a newer schema.
    """
    reach = partial(connect, uri, storage_options=options)
    table = _open(uri, reach, create)
    upkeep = RemoteMaintenance(uri, table, partial(connect_async, uri, storage_options=options))
    return Bucket(uri, reach, lock_timeout_s, table, upkeep)


def open_service(uri: str, lock_timeout_s: float, options: dict[str, str], *, create: bool) -> Bucket:
    """The same for a database of the service, which compacts by itself. `options` are of the connection."""
    reach = partial(connect, uri, **options)
    table = _open(uri, reach, create)
    if _PRIMARY_KEY not in (table.schema.field(TURN).metadata or {}):
        _log.error(
            "%s keeps no primary key over the turns of its log. Let one server at a time write there: of two that"
            " supersede one note at the same moment both may be told that they did, and the chain is contested",
            uri,
        )
    return Bucket(uri, reach, lock_timeout_s, table)


def _open(uri: str, reach: Callable[..., Database], create: bool) -> Table:
    with explained(uri, "to open"):
        # Asked to be consistent, LanceDB looks five times for each query which version is the newest. We look once.
        table = _opened(uri, reach(read_consistency_interval=None), create)
        _refuse_newer(uri, table)
        _agreed(table, lambda: _add_sums(table))
        _agreed(table, lambda: index_columns(table))
    return table


class Bucket:
    """One prefix of an object storage, or one database. See store.place.Place.

    `reach` makes a connection to it. Without `upkeep` whoever keeps the tables sees to that they stay small.
    """

    def __init__(
        self,
        uri: str,
        reach: Callable[..., Database],
        lock_timeout_s: float,
        table: Table,
        upkeep: RemoteMaintenance | None = None,
    ) -> None:
        self.location = uri
        self.table = table
        self.schema_version = VERSION
        # Threads of one process need not race: they wait for each other.
        self._writers = ThreadLock(uri, lock_timeout_s)
        self._turn = -1
        self._fingerprint: Fingerprint | None = None
        counts = partial(reach, read_consistency_interval=_USAGE_BEHIND)
        appending = ThreadLock(f"{uri}/{USAGE}.lance", lock_timeout_s)
        self.usage = LanceUsage(uri, lambda: usage_table(counts()), appending, _compact)
        self._maintenance = upkeep

    @property
    def version(self) -> int:
        return int(self._newest().version)

    @property
    def fingerprint(self) -> Fingerprint | None:
        if self._fingerprint is None:
            schema = self.table.schema  # of the newest version that was looked at; each read looks
            if "vector" in schema.names:
                field = schema.field("vector")
                model, sha256 = (field.metadata[name].decode() for name in (_MODEL_KEY, _SHA256_KEY))
                self._fingerprint = Fingerprint(model, sha256, field.type.list_size)
        return self._fingerprint

    def adopt(self, fingerprint: Fingerprint) -> None:
        said = {_MODEL_KEY: fingerprint.model.encode(), _SHA256_KEY: fingerprint.sha256.encode()}
        column = vector_field(fingerprint.dimension).with_metadata(said)

        def take() -> None:
            if self.fingerprint is None:
                self.table.add_columns(column)

        _agreed(self.table, take)

    def read(self, query: Callable[[Table], T]) -> T:
        return read(self._newest(), lambda: query(self.table))

    def _newest(self) -> Table:
        """The log, looking at the newest version that any process committed."""
        self.table.checkout_latest()
        return self.table

    @property
    def is_writing(self) -> bool:
        return self._writers.is_mine

    @contextmanager
    def writing(self) -> Iterator[None]:
        if self._writers.is_mine:
            yield
            return
        with self._writers.held():
            with explained(self.location, "to be read"):
                self._turn = self._last_turn()
            yield

    def _last_turn(self) -> int:
        """The turn of the last append, by one query: of those since the last that this process has seen."""
        query = f"{TURN} >= {self._turn}"
        found = self.read(lambda table: table.search().where(query).select([TURN]).to_arrow())
        turns: list[int] = found.column(TURN).unique().to_pylist()
        return max([*turns, self._turn])

    def add(self, rows: ArrowTable) -> int | None:
        # To lose here is cheaper than to lose in the commit, for the others as well: that leaves a version behind.
        if self._last_turn() > self._turn:
            return None
        turns = arrow().array([self._turn + 1] * rows.num_rows, arrow().int64())
        insert = self.table.merge_insert(TURN).when_not_matched_insert_all()
        # It calls a missing vector a bad one. There is no other value for it than the null it already is.
        done = insert.execute(rows.append_column(_turn_field(), turns), on_bad_vectors="null")
        if not done.num_inserted_rows:
            return None
        self._turn += 1
        return int(done.version)

    def keep(self, version: int) -> None:
        """Nothing to do: what object storage has acknowledged is kept."""

    def size_bytes(self) -> int:
        """The bytes of the newest version of the log; older ones are not counted."""
        return int(self.table.stats()["total_bytes"])

    def problems(self) -> tuple[str, ...]:
        return ()

    def maintain(self) -> None:
        if self._maintenance:
            self.usage.maintain()
            self._maintenance.maintain()
        else:
            self.usage.flush()


def _opened(uri: str, database: Database, create: bool) -> Table:
    try:
        return database.open_table(LOG)
    except ValueError as error:
        if "was not found" not in str(error):
            raise
    if not create:
        raise StoreTrouble(f"There is no store at {uri}.", "Name the place at which a server keeps one.")
    schema = log_schema().append(_turn_field()).with_metadata({_VERSION_KEY: str(VERSION).encode()})
    # With the key in it from the first version on, so that no writer ever meets a log without.
    return database.create_table(LOG, schema=schema, exist_ok=True)


def _turn_field() -> Any:
    return arrow().field(TURN, arrow().int64(), nullable=False, metadata={_PRIMARY_KEY: b"1"})


def _refuse_newer(uri: str, table: Table) -> None:
    said = (table.schema.metadata or {}).get(_VERSION_KEY)
    if said is None:
        raise StoreTrouble(
            f"The log at {uri} does not say which schema it has; a folder of a store was copied there, perhaps.",
            "Configure another prefix, and bring the notes over with stilltrue export and import.",
        )
    if int(said) > VERSION:
        raise StoreTrouble(
            f"The store at {uri} has schema version {int(said)}; this program knows versions up to {VERSION}.",
            "Install a newer stilltrue, or configure another prefix. Nothing was changed.",
        )


def _add_sums(table: Table) -> None:
    """Gives a log of the first version the column of checksums, empty: its rows stay unverified, new ones do not.

    A copy that is compared, as in a folder, would have to keep out writers whom no lock reaches.
    """
    if SUM not in table.schema.names:
        table.add_columns(arrow().field(SUM, arrow().int64()))


def _agreed(table: Table, do: Callable[[], Any]) -> None:
    """Does what another process may be doing at this moment, and what is not done where it is done already."""
    for tries_left in reversed(range(_TRIES)):
        try:
            do()
            return
        except ENGINE_ERRORS as error:
            said = str(error).casefold()
            if not tries_left or not ("conflict" in said or "already exists" in said):
                raise
        sleep(uniform(0, _PAUSE_S))
        table.checkout_latest()


def _compact(table: Table) -> None:
    # Rows are only put together, not summed: nobody else can be kept from appending meanwhile.
    table.optimize(cleanup_older_than=_USAGE_RETAINED)
