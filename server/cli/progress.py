"""Progress of a long command on stderr: a bar on a terminal, otherwise a line for every ten percent."""

from __future__ import annotations

import sys

_WIDTH = 30


class Progress:
    """Call it with how many are done and how many there are; `doing` is the verb, as in `embedded 3 of 12`."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._tenth = 0

    def __call__(self, done: int, total: int) -> None:
        share = done / total if total else 1.0
        if sys.stderr.isatty():
            bar = "#" * int(share * _WIDTH)
            end = "\n" if done == total else ""
            sys.stderr.write(f"\r[{bar:.<{_WIDTH}}] {self._doing} {done} of {total}{end}")
            sys.stderr.flush()
        elif int(share * 10) > self._tenth:
            self._tenth = int(share * 10)
            sys.stderr.write(f"{self._doing} {done} of {total}\n")
