"""Answers that stay right until the log has another version, kept for as long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_T = TypeVar("_T")

_MOST = 256


class VersionedCache:
    """What was read at one version of the log, by question. `version` says which the log has now; it costs 0.3 ms."""

    def __init__(self, version: Callable[[], Hashable]) -> None:
        self._version = version
        self._lock = threading.Lock()
        self._at: Hashable = None
        self._answers: dict[Hashable, Any] = {}

    def get(self, question: Hashable, read: Callable[[], _T]) -> _T:
        """The answer to a question, read anew if anything was written since. It is shared, and not to be changed."""
        version = self._version()
        with self._lock:
            if version != self._at or len(self._answers) >= _MOST:
                self._at, self._answers = version, {}
            if question in self._answers:
                answer: _T = self._answers[question]
                return answer
        answer = read()
        with self._lock:
            # What was read while somebody wrote may be newer than the version; under that version it is not kept.
            if self._at == version and self._version() == version:
                self._answers[question] = answer
        return answer
