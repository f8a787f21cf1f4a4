"""What object storage and the LanceDB service say when they cannot, in words for the one who can mend it."""

from __future__ import annotations

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


def in_words(said: str) -> tuple[str, str]:
    """What is wrong, and the way out. The words of the error itself only where nothing here fits it."""
    lowered = said.casefold()
    for signs, meaning, way_out in _SIGNS:
        if any(sign in lowered for sign in signs):
            return meaning, way_out
    return said[:300], "Check that place, store.endpoint and its keys, then try again; nothing was removed there."
