"""Loads LanceDB, late and at half its price, and connects it with bounded caches."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

from store.errors import ENGINE_ERRORS

Database: TypeAlias = Any
Table: TypeAlias = Any
ArrowTable: TypeAlias = Any

_T = TypeVar("_T")

_PANICS = ("PanicException", "RustPanic")

_INDEX_CACHE_BYTES = 32 << 20
_METADATA_CACHE_BYTES = 8 << 20
_REST_CLIENT = "lance_namespace_urllib3_client"


def connect(location: Path | str, **more: Any) -> Database:
    """A database whose tables show what any process committed. `more` is what LanceDB takes for such a location."""
    return load().connect(str(location), **_options() | more)


async def connect_async(location: Path | str, **more: Any) -> Database:
    """The same for work that has to end at a time limit: what is awaited here can be cancelled for real."""
    return await load().connect_async(str(location), **_options() | more)


def _options() -> dict[str, Any]:
    # Without bounds the caches grow with each write.
    session = load().Session(
        index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES
    )
    return {"read_consistency_interval": timedelta(0), "session": session}


def arrow() -> Any:
    """The module pyarrow, loaded when it is first needed."""
    import pyarrow
    import pyarrow.compute

    return pyarrow


def load() -> Any:
    """The module lancedb. Loading it the first time takes a second or two.

    Half of that goes into a REST client that a local store never calls: the package of it runs imports that
    nobody needs. So it is stood in for by an empty package while lancedb loads, and put back afterwards.
    """
    if "lancedb" in sys.modules:
        return sys.modules["lancedb"]
    os.environ.setdefault("LANCEDB_LOG", "error")
    lancedb = _loaded()
    _panics_are_errors()
    return lancedb


def _loaded() -> Any:
    before = set(sys.modules)
    try:
        return _load_without_rest_client()
    except Exception:
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in ("lancedb", "lance_namespace", _REST_CLIENT):
                del sys.modules[name]
        import lancedb

        return lancedb


def read(table: Table, query: Callable[[], _T]) -> _T:
    """What the query on this table brings. It is made again, once, where a compaction took its files away.

    That happens when the version that is being read is cleaned up meanwhile; a newer one with the same rows is
    there by then.
    """
    try:
        return query()
    except ENGINE_ERRORS as error:
        if "not found" not in str(error).casefold():
            raise
        table.checkout_latest()
        return query()


def fragments(table: Table) -> int:
    """Of how many pieces the table is made. Each append adds one, and each makes every read slower."""
    return int(table.stats()["fragment_stats"]["num_fragments"])


def unindexed(table: Table) -> int:
    """How many rows no index knows of yet. Each search looks through all of them."""
    stats = table.index_stats("id_idx")
    return int(stats.num_unindexed_rows) if stats else 0


def _panics_are_errors() -> None:
    """Lets a panic of the engine, as damaged files cause it, be raised as RuntimeError like its other errors.

    A panic is an exception of a class that cannot be imported, and may not even be an Exception. Every call of the
    engine that is not awaited goes through one loop, so that is where it is caught.
    """
    from lancedb.background_loop import LOOP

    run = LOOP.run

    def run_without_panic(future: Any) -> Any:
        try:
            return run(future)
        except BaseException as error:
            if type(error).__name__ in _PANICS:
                raise RuntimeError(f"LanceDB panicked: {error}") from error
            raise

    LOOP.run = run_without_panic


def _load_without_rest_client() -> Any:
    found = importlib.util.find_spec(_REST_CLIENT)
    if _REST_CLIENT in sys.modules or found is None or found.submodule_search_locations is None:
        raise ImportError(_REST_CLIENT)
    empty = ModuleType(_REST_CLIENT)
    empty.__path__ = list(found.submodule_search_locations)
    empty.__spec__ = found
    sys.modules[_REST_CLIENT] = empty
    try:
        import lancedb
    finally:
        # Whoever wants the client later gets the whole of it.
        if sys.modules.get(_REST_CLIENT) is empty:
            del sys.modules[_REST_CLIENT]
    return lancedb
