"""Bearer tokens of tenants, stored as hashes in a file that a running server rereads when it changes."""

from __future__ import annotations

import hmac
import json
import logging
import os
import secrets
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from server.config.validators import NAME, TENANT
from stilltrue.errors import BadConfig

_log = logging.getLogger(__name__)

_VERSION = 1
_LOCK_WAIT_S = 10.0
_STAMP = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Token:
    """The record of a token. It has the hex SHA-256 of the token, never the token itself.

    A plain hash is enough: a token is 256 random bits, not a password that could be guessed.
    """

    id: str
    tenant: str
    name: str
    sha256: str
    created: str


class Tokens:
    """The tokens in a file, which is replaced atomically, readable only by its owner, and need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: _STAMP | None = None
        self._read: tuple[Token, ...] = ()

    @property
    def exist(self) -> bool:
        """Whether a token was ever created here; it may have been revoked since."""
        return self.path.exists()

    def all(self) -> tuple[Token, ...]:
        """The valid tokens. Raises BadConfig if the file cannot be read."""
        try:
            found = self.path.stat()
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
            if stamp != self._stamp:
                self._read, self._stamp = _parsed(self.path.read_text(encoding="utf-8")), stamp
        except (FileNotFoundError, NotADirectoryError):
            self._read, self._stamp = (), None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadConfig(
                f"The token file {self.path} cannot be read: {error}.",
                "Repair it, or delete it and create new tokens.",
            ) from error
        return self._read

    def match(self, secret: str) -> Token | None:
        """The token with this secret, or None. The time taken does not depend on which token it is.

        If the file cannot be read, no secret matches.
        """
        digest, found = sha256(secret.encode("utf-8", "surrogatepass")).hexdigest(), None
        for token in self._readable():
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def is_valid(self, token_id: str) -> bool:
        """Whether a token has this id and has not been revoked."""
        return any(token.id == token_id for token in self._readable())

    def create(self, tenant: str, name: str, now: datetime) -> str:
        """Create a token and return its secret, which cannot be read again.

        Raises BadConfig for an invalid tenant or name, and for a name that the tenant has already.
        """
        if not TENANT.holds(tenant):
            raise BadConfig(f"A tenant is {TENANT.wanted}, not {tenant!r}.", "")
        if not NAME.holds(name):
            raise BadConfig(f"The name of a token is {NAME.wanted}, not {name!r}.", "")
        secret = f"st_{secrets.token_urlsafe(32)}"
        with self._lock():
            tokens = self.all()
            if any((token.tenant, token.name) == (tenant, name) for token in tokens):
                raise BadConfig(
                    f"Tenant {tenant} has a token called {name!r}.",
                    "Choose another --name, or revoke that token first.",
                )
            made = Token(
                secrets.token_hex(6),
                tenant,
                name,
                sha256(secret.encode()).hexdigest(),
                now.isoformat(timespec="seconds"),
            )
            self._write([*tokens, made])
        return secret

    def revoke(self, tenant: str, name: str | None) -> Token:
        """Revoke a token and return it. Without a name it has to be the only one of its tenant."""
        with self._lock():
            tokens = self.all()
            own = [token for token in tokens if token.tenant == tenant]
            meant = [token for token in own if name is None or token.name == name]
            if len(meant) != 1:
                names = ", ".join(repr(token.name) for token in own)
                raise BadConfig(
                    f"Tenant {tenant} has no token called {name!r}." if name else f"Which token of tenant {tenant}?",
                    f"--name is one of {names}." if own else "It has none.",
                )
            self._write(token for token in tokens if token != meant[0])
        return meant[0]

    def _readable(self) -> tuple[Token, ...]:
        try:
            return self.all()
        except BadConfig as error:
            _log.error("all tokens are rejected: %s", error)
            return ()

    def _lock(self) -> AbstractContextManager[object]:
        from filelock import FileLock

        self.path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(self.path.with_suffix(".lock"), timeout=_LOCK_WAIT_S)

    def _write(self, tokens: Iterable[Token]) -> None:
        text = json.dumps({"version": _VERSION, "tokens": [asdict(token) for token in tokens]}, indent=1)
        draft = self.path.with_suffix(f".{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)


def _parsed(text: str) -> tuple[Token, ...]:
    parsed = json.loads(text)
    if parsed["version"] != _VERSION:
        raise ValueError(f"its version is {parsed['version']}, expected {_VERSION}")
    tokens = tuple(Token(**each) for each in parsed["tokens"])
    if bad := [token.tenant for token in tokens if not TENANT.holds(token.tenant)]:
        raise ValueError(f"a tenant is {TENANT.wanted}, not {bad[0]!r}")
    return tokens
