"""Read, check and append as one step, even on a store where no lock keeps other writers out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from random import uniform
from time import monotonic, sleep

from store.port import LostRace
from tools.support.context import ToolContext

_FIRST_S = 0.05
_LONGEST_S = 1.0


def attempts(context: ToolContext) -> Iterator[AbstractContextManager[None]]:
    """`for attempt in attempts(context): with attempt: ...` repeats its body until the append succeeds.

    In a folder the body runs once, under the writers' lock. On object storage it runs again if another writer was
    first, after a random pause (full jitter, Brooker 2015), so that two writers do not keep colliding. Raises
    LostRace after `context.write_patience_s` of that.
    """
    deadline = monotonic() + context.write_patience_s
    done = False

    @contextmanager
    def attempt() -> Iterator[None]:
        nonlocal done
        try:
            with context.store.writing():
                yield
            done = True
        except LostRace:
            if monotonic() >= deadline:
                raise

    pause_s = _FIRST_S
    while True:
        yield attempt()
        if done:
            return
        sleep(uniform(0, pause_s))
        pause_s = min(2 * pause_s, _LONGEST_S)
