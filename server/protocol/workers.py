"""Runs blocking work on a limited number of threads, off the event loop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio

from server.tenants import Runtime
from stilltrue.errors import Fault, StilltrueError

if TYPE_CHECKING:
    from tools.support.context import ToolContext

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Workers:
    """The threads on which calls work, `server.workers` at a time, with the store of their caller."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._limiter: anyio.CapacityLimiter | None = None

    async def run(self, what: str, function: Callable[[ToolContext], T]) -> T:
        """Run a function of the context on a thread; `what` names it in an error message.

        Raises what the function raises if it is one of our own errors, and Fault for anything else. Cancelling the
        call does not abandon the thread: a write that has begun is completed.
        """
        if self._limiter is None:  # created here because it needs a running event loop
            self._limiter = anyio.CapacityLimiter(self._runtime.config.server.workers)
        try:
            return await anyio.to_thread.run_sync(partial(self._run, function), limiter=self._limiter)
        except StilltrueError:
            raise
        except Exception as error:
            raise fault(what, error) from None

    def _run(self, function: Callable[[ToolContext], T]) -> T:
        with self._runtime.use() as context:
            result = function(context)
        self._runtime.written()
        return result


def fault(what: str, error: BaseException) -> Fault:
    """Log an internal error with its traceback, and return the plain sentence that the model is sent instead."""
    _log.error("%s failed", what, exc_info=error)
    return Fault(
        f"{what} failed: internal server error; your call was valid.",
        "Continue without it and tell the user; the server's log on stderr has the details.",
    )
