"""Determines which session a call belongs to."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS


def new_session() -> str:
    """A random name for the single session of a process on stdio."""
    return f"stdio-{secrets.token_hex(8)}"


def session_of(named: str | None, headers: Mapping[str, str] | None, process_session: str) -> str:
    """The session of a call: the one it names, else that of the HTTP handshake, of the token, or of the process.

    The header comes from the client, so a session grants nothing: it only separates retrieval counts.
    """
    if named and named.strip():
        return named.strip()
    headers = headers or {}
    if headers.get("mcp-protocol-version", HANDSHAKE_PROTOCOL_VERSIONS[0]) in HANDSHAKE_PROTOCOL_VERSIONS and (
        assigned := headers.get("mcp-session-id")
    ):
        return assigned
    token = get_access_token()
    return f"token-{token.subject}" if token else process_session
