"""How far a long command is: a bar in one line on a terminal, else a line for each tenth. All of it on stderr."""

from __future__ import annotations

import sys

_WIDTH = 30


class Progress:
    """Told how many of how many are done; `doing` is the word for it, as in `embedded 3 of 12`."""

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
