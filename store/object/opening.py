"""Opens a store that is not in a folder of this machine."""

from __future__ import annotations

from stilltrue.errors import StoreTrouble
from store.lance.backend import Backend
from store.object.backend import open_bucket, open_service


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
