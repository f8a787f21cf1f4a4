"""From what the engine and the disk say to what an operator can do about it."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stilltrue.errors import StoreTrouble

ENGINE_ERRORS = (OSError, RuntimeError, ValueError)
"""What LanceDB raises. It has no exceptions of its own for what goes wrong on a disk."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


_KEYS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"

_SIGNS = (
    (("nosuchbucket",), "there is no such bucket.", "Create the bucket, or configure another store.uri."),
    (
        ("failed to get aws credentials",),
        "there are no keys to it.",
        f"Set {_KEYS} in the environment of the server, or run it where the cloud gives it a role.",
    ),
    (
        ("api_key is required",),
        "there is no key to it.",
        "Set LANCEDB_API_KEY in the environment of the server.",
    ),
    (
        ("failed to resolve region",),
        "its region is not known.",
        "Set store.region, or AWS_REGION in the environment of the server.",
    ),
    (
        ("accessdenied", "invalidaccesskeyid", "signaturedoesnotmatch", "status: 403", "status: 401", "unauthorized"),
        "the keys were not accepted.",
        f"Set {_KEYS} (for db:// LANCEDB_API_KEY) of somebody who may list, read, write and delete there.",
    ),
    (
        ("kind: connect", "dns error", "connect_failures", "read_failures", "error sending request", "timed out"),
        "it cannot be reached.",
        "Check store.endpoint, store.region and the network, then try again.",
    ),
)
"""What stands in an error, what it means, and the way out. The first that fits counts."""


@contextmanager
def explained(location: Path | str, doing: str) -> Iterator[None]:
    """Turns what the engine and the disk raise inside into StoreTrouble; `doing` is what was being done."""
    try:
        yield
    except StoreTrouble:
        raise
    except ENGINE_ERRORS as error:
        raise trouble(location, doing, error) from error


def trouble(location: Path | str, doing: str, error: Exception) -> StoreTrouble:
    """The StoreTrouble for an error: what failed, where, why, and the way out."""
    said = " ".join(str(error).split())
    if "://" in str(location):
        meaning, way_out = in_words(said)
        return StoreTrouble(f"The store at {location} failed {doing}: {meaning}", way_out)
    said = said[:300]
    return StoreTrouble(f"The store at {location} failed {doing}: {said}", _way_out(error, said.casefold()))


def _way_out(error: Exception, said: str) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number in _FULL or any(sign in said for sign in ("no space left", "quota exceeded", "file too large")):
        return "Free some space on that disk (or raise its quota or file size limit), then try again."
    if number in _FORBIDDEN or "permission denied" in said or "read-only file system" in said:
        return "Give this user the right to write there, or configure another store location."
    if number in (errno.ENOTDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG):
        return "Configure a store location that is a folder, or can become one."
    if number == errno.EMFILE or "too many open files" in said:
        return "Raise the limit of open files (ulimit -n), then try again."
    return "Check that folder and the disk it is on, then try again; the files under it were not removed."


def in_words(said: str) -> tuple[str, str]:
    """What is wrong, and the way out. The words of the error itself only where nothing here fits it."""
    lowered = said.casefold()
    for signs, meaning, way_out in _SIGNS:
        if any(sign in lowered for sign in signs):
            return meaning, way_out
    return said[:300], "Check that place, store.endpoint and its keys, then try again; nothing was removed there."
