"""What can go wrong, by who can mend it."""

from __future__ import annotations


class StilltrueError(Exception):
    """The base of every error that a person or an agent is meant to read; never raised itself.

    `message` says what was wrong and what was expected, `hint` says what to do.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class Refused(StilltrueError):
    """The agent can mend it: the call was wrong. Nothing has been written.

    `code` is a stable word for programs (`unknown_note`, `not_head`, `bad_text`, ...).
    """

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.code = code


class StoreTrouble(StilltrueError):
    """The operator can mend it: the store or the embedding model cannot do its work. Nothing has been written."""


class BadConfig(StilltrueError):
    """The operator can mend it, at start only: a setting is not what it has to be."""


class Fault(StilltrueError):
    """Nobody who reads it can mend it: the server itself is at fault. Its log has the details."""
