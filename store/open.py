"""A location becomes a store: the only factory. A folder, `s3://bucket/prefix` or `db://name`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stilltrue.errors import StoreTrouble
from store.folder.backend import open_folder
from store.lance.backend import Backend
from store.lance.engine import load
from store.lance.schema import UPGRADES, Upgrade
from store.lance.store import LanceStore
from store.object.backend import open_bucket, open_service


def open_store(
    location: str,
    *,
    lock_timeout_s: float = 30.0,
    endpoint: str = "",
    region: str = "",
    upgrades: Mapping[int, Upgrade] = UPGRADES,
) -> LanceStore:
    """Opens the store at this location, or creates an empty one there; one of an older schema is upgraded first.

    `endpoint` and `region` are of a location that is not a folder. Loading LanceDB takes a second or two. Raises
    StoreTrouble where the location cannot be used, holds a store of a newer schema, or one of which no version is
    whole.
    """
    load()
    if "://" in location:
        return LanceStore(open_remote(location, lock_timeout_s, endpoint, region))
    return LanceStore(open_folder(Path(location).expanduser().absolute(), lock_timeout_s, upgrades))


def open_remote(uri: str, lock_timeout_s: float, endpoint: str, region: str, *, create: bool = True) -> Backend:
    """The store at a uri, made where there is none if `create` is set. Keys come from the environment alone."""
    if uri.startswith("s3://"):
        options = {"aws_endpoint": endpoint, "aws_region": region}
        options["allow_http"] = "true" if endpoint.startswith("http://") else ""
        return open_bucket(uri, lock_timeout_s, _given(options), create=create)
    if uri.startswith("db://"):
        options = {"host_override": endpoint, "region": region}
        return open_service(uri, lock_timeout_s, _given(options), create=create)
    raise StoreTrouble(
        f"The store location {uri} is of a sort that is not known.",
        "Configure a folder, s3://BUCKET/PREFIX or db://NAME.",
    )


def _given(options: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in options.items() if value}
