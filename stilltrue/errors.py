"""Errors, by who can fix them."""

from __future__ import annotations


class StilltrueError(Exception):
    """The base of all errors that a person or an agent is meant to read. It is never raised itself.

    `message` says what was wrong and what was expected; `hint` says what to do.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class Refused(StilltrueError):
    """The call was wrong, and the agent can fix it. Nothing was written.

    `code` is a stable word for programs (`unknown_note`, `not_head`, `bad_text`, ...).
    """

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.code = code


class StoreTrouble(StilltrueError):
    """The store or the embedding model cannot do its work, and the operator can fix it. Nothing was written."""


class BadConfig(StilltrueError):
    """A setting is invalid, and the operator can fix it. Raised at startup only."""


class Fault(StilltrueError):
    """The server itself is at fault, so that no reader of the message can fix it. The log has the details."""
