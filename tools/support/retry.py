"""Read, check and append as one step, also on a store whose writers no lock can keep out."""

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
    """`for attempt in attempts(context): with attempt: ...` reads, checks and appends until its append stands.

    In a folder that is once. On object storage what is inside is done again where another writer was first, after
    a pause by chance (full jitter, Brooker 2015), so that those who met once do not meet again. Raises LostRace
    where that went on for `context.write_patience_s`.
    """
    deadline = monotonic() + context.write_patience_s
    stands = False

    @contextmanager
    def attempt() -> Iterator[None]:
        nonlocal stands
        try:
            with context.store.writing():
                yield
            stands = True
        except LostRace:
            if monotonic() >= deadline:
                raise

    pause_s = _FIRST_S
    while True:
        yield attempt()
        if stands:
            return
        sleep(uniform(0, pause_s))
        pause_s = min(2 * pause_s, _LONGEST_S)
