"""Rates of `separation`, summed by user, each with a bootstrap interval over the users."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.separation.variants import Told

Sums: TypeAlias = dict[str, float]


class Cell(NamedTuple):
    """One condition."""

    store: int
    change: str
    channel: str
    diversity: str
    k: int
    arm: str


RATES: Mapping[str, tuple[str, str]] = {
    "separated": ("separated", "requests"),
    "separated_given_retired": ("separated", "retired"),
    "separated_any": ("any_separated", "requests"),
    "successor_dropped": ("successor_dropped", "both"),
    "predecessor_dropped": ("predecessor_dropped", "both"),
    "head_first": ("head_first", "either"),
    "tokens_added": ("added", "plain_tokens"),
    "closure_tokens_added": ("added_by_closure", "plain_tokens"),
}
"""What is divided by what.

`separated`: the old note of the request is told without what ended it; `_any`: so is some old note of the store.
The two drops are of the pairs that were both told before a diversity pass. `head_first`, of the answers that told
either. `tokens_added` is over the same notes told each alone; `closure_tokens_added` leaves out the history that a
chain can be told without.
"""


def sums(told: Told, change: int, before: Told, alone: Told) -> Sums:
    """What one answer adds to the sums. `before` is the arm with no diversity pass, `alone` the notes unclosed."""
    old, end = change in told.old, change in told.end
    both = change in before.old and change in before.end
    return {
        "requests": 1,
        "separated": old and not end,
        "retired": old,
        "any_separated": told.any_apart,
        "both": both,
        "successor_dropped": both and old and not end,
        "predecessor_dropped": both and end and not old,
        "either": old or end,
        "head_first": end and (not old or told.end[change] < told.old[change]),
        "added": told.tokens - alone.tokens,
        "added_by_closure": told.tokens - told.history - alone.tokens,
        "plain_tokens": alone.tokens,
        "chains": len(told.chains),
        "every_apart": len(told.old.keys() - told.end.keys()),
    }


@dataclass
class Tally:
    """The sums of each cell and user."""

    by_cell: dict[Cell, dict[str, Sums]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, cell: Cell, user: str, more: Sums) -> None:
        known = self.by_cell[cell].setdefault(user, dict.fromkeys(more, 0.0))
        for name, value in more.items():
            known[name] += value

    def total(self, cell: Cell, name: str) -> float:
        """The sum over all users."""
        return sum(each[name] for each in self.by_cell[cell].values())

    def rate(self, cell: Cell, name: str) -> float | None:
        """One of RATES; None where there is nothing to divide by."""
        above, below = RATES[name]
        whole = self.total(cell, below)
        return self.total(cell, above) / whole if whole else None

    def interval(self, cell: Cell, name: str, drawn: NDArray[np.int64]) -> tuple[float, float] | None:
        """The middle 95 % of the rate over the resamples: how often each (row) drew each user (column).

        A resample with nothing to divide by is left out.
        """
        above, below = RATES[name]
        users = list(self.by_cell[cell].values())
        parts, wholes = (drawn @ np.array([each[what] for each in users]) for what in (above, below))
        ratios = parts[wholes > 0] / wholes[wholes > 0]
        if not len(ratios):
            return None
        low, high = np.quantile(ratios, (0.025, 0.975))
        return float(low), float(high)


def resampled(users: int, resamples: int, seed: int) -> NDArray[np.int64]:
    """Users drawn with replacement, as many as there are: how often each, (resamples, users)."""
    drawn: NDArray[np.int64] = np.random.default_rng(seed).multinomial(users, np.full(users, 1 / users), resamples)
    return drawn


def percent(value: float | None, sign: bool = False) -> str:
    """A rate as whole percents; a dash where there is none."""
    return "-" if value is None else f"{100 * value:+.0f}%" if sign else f"{100 * value:.0f}%"


def within(value: float | None, interval: Sequence[float] | None, sign: bool = False) -> str:
    """A rate with its interval, in whole percents."""
    if value is None or interval is None:
        return "-"
    low, high = (f"{100 * each:+.0f}" if sign else f"{100 * each:.0f}" for each in interval)
    return f"{percent(value, sign)} [{low}, {high}]"
