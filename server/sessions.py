"""Which session a call belongs to."""

from __future__ import annotations

import secrets
from collections.abc import Mapping


def new_session() -> str:
    """A name for the one session of a process on stdio."""
    return f"stdio-{secrets.token_hex(8)}"


def session_of(named: str | None, headers: Mapping[str, str] | None, process_session: str) -> str:
    """The session of a call: the one it names, else the HTTP session, else that of the process.

    A header comes from the client, so a session is never a permission: it only keeps counts apart.
    """
    if named and named.strip():
        return named.strip()
    return (headers or {}).get("mcp-session-id") or process_session
