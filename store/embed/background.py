"""Something slow to load, loaded on a thread of its own while the server already answers without it."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from stilltrue.errors import StilltrueError

T = TypeVar("T")

State: TypeAlias = Literal["loading", "ready", "degraded"]

_EXIT_WAIT_S: Final = 3.0

_log = logging.getLogger(__name__)


class Background(Generic[T]):
    """`what` it is ("embedding model") and `without` it, what holds then, are for the messages."""

    def __init__(self, load: Callable[[], T], what: str, without: str) -> None:
        """`load` returns the thing or raises; nothing runs before `start`."""
        self._load = load
        self._what = what
        self._without = without
        self._outcome: T | None = None
        self._problem: str | None = None
        self._done = threading.Event()
        # A daemon, so that an import of half a minute does not hold up the end of the server.
        self._thread = threading.Thread(target=self._run, name=what, daemon=True)

    def start(self) -> None:
        """Begin to load. To be called once."""
        # A native library that is still loading when the process ends aborts it, with a core dump.
        atexit.register(self._done.wait, _EXIT_WAIT_S)
        self._thread.start()

    @property
    def state(self) -> State:
        """`loading` until it is known, then `ready`, or `degraded` when it will never be there."""
        if not self._done.is_set():
            return "loading"
        return "ready" if self._problem is None else "degraded"

    @property
    def problem(self) -> str | None:
        """When degraded: what was wrong and what to do about it."""
        return self._problem

    def get(self, wait_s: float = 0.0) -> T | None:
        """The thing, waiting for it up to `wait_s` seconds; None while it loads and when it never will."""
        self._done.wait(wait_s)
        return self._outcome

    def _run(self) -> None:
        try:
            self._outcome = self._load()
        except StilltrueError as trouble:
            self._degrade(str(trouble))
        except BaseException as error:  # a panic in a native library is no Exception, and counts as well
            self._degrade(f"The {self._what} failed to load: {type(error).__name__}: {error}")
            _log.debug("what the loading of the %s ended in", self._what, exc_info=error)
        finally:
            self._done.set()

    def _degrade(self, problem: str) -> None:
        self._problem = problem
        _log.warning("%s: %s", self._without, problem)
