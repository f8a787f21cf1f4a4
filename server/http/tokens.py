"""Bearer tokens, each of one tenant, kept as hashes in a file that a running server reads again when it changes."""

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
    """What is kept of a token: never the token itself, only the hex of its SHA-256.

    A plain hash will do, since a token is 256 random bits and no password that could be guessed.
    """

    id: str
    tenant: str
    name: str
    sha256: str
    created: str


class Tokens:
    """The tokens of one file. It is replaced whole, is readable by its owner alone, and need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: _STAMP | None = None
        self._read: tuple[Token, ...] = ()

    @property
    def exist(self) -> bool:
        """Whether a token was ever made here; it may have been withdrawn since."""
        return self.path.exists()

    def all(self) -> tuple[Token, ...]:
        """The tokens that are good now. Raises BadConfig where the file cannot be read."""
        try:
            found = self.path.stat()
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
            if stamp != self._stamp:
                self._read, self._stamp = _parsed(self.path.read_text(encoding="utf-8")), stamp
        except (FileNotFoundError, NotADirectoryError):
            self._read, self._stamp = (), None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadConfig(
                f"The file of tokens {self.path} cannot be read: {error}.",
                "Mend it, or delete it and make new tokens.",
            ) from error
        return self._read

    def match(self, secret: str) -> Token | None:
        """The token that this is, None where it is none. It takes the same time whichever it is.

        A file that cannot be read lets nobody in.
        """
        digest, found = sha256(secret.encode("utf-8", "surrogatepass")).hexdigest(), None
        for token in self._known():
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def good(self, token_id: str) -> bool:
        """Whether the token of this id has not been withdrawn."""
        return any(token.id == token_id for token in self._known())

    def create(self, tenant: str, name: str, now: datetime) -> str:
        """Make a token and return it; it cannot be read again. Raises BadConfig for a bad or a taken name."""
        if not TENANT.holds(tenant):
            raise BadConfig(f"A tenant is {TENANT.wanted}, not {tenant!r}.", "")
        if not NAME.holds(name):
            raise BadConfig(f"The name of a token is {NAME.wanted}, not {name!r}.", "")
        secret = f"st_{secrets.token_urlsafe(32)}"
        with self._lock():
            tokens = self.all()
            if any((token.tenant, token.name) == (tenant, name) for token in tokens):
                raise BadConfig(
                    f"Tenant {tenant} has a token called {name!r}.", "Give --name another, or revoke that one first."
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
        """Withdraw a token, by its name or as the only one of its tenant, and return it."""
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

    def _known(self) -> tuple[Token, ...]:
        try:
            return self.all()
        except BadConfig as error:
            _log.error("nobody is let in: %s", error)
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
    kept = json.loads(text)
    if kept["version"] != _VERSION:
        raise ValueError(f"its version is {kept['version']}, known is {_VERSION}")
    tokens = tuple(Token(**each) for each in kept["tokens"])
    if bad := [token.tenant for token in tokens if not TENANT.holds(token.tenant)]:
        raise ValueError(f"a tenant is {TENANT.wanted}, not {bad[0]!r}")
    return tokens
