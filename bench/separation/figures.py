"""The rates of `separation`, summed by user, with bootstrap intervals over the users."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.separation.variants import Returned

Sums: TypeAlias = dict[str, float]


class Cell(NamedTuple):
    """One condition of the benchmark."""

    store: int
    change: str
    channel: str
    diversity: str
    k: int
    variant: str


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
"""Each rate as (numerator, denominator).

`separated`: the old note of the request is returned without what ended it; `_any`: so is some old note of the store.
The two drops are relative to the pairs that were returned whole before a diversity pass. `head_first` is relative to
the answers that returned either note. `tokens_added` is relative to the same notes returned alone;
`closure_tokens_added` excludes the history that may be cut from a chain.
"""


def sums(returned: Returned, change: int, before: Returned, alone: Returned) -> Sums:
    """What one answer adds to the sums. `before` is the same without a diversity pass, `alone` the notes alone."""
    old, end = change in returned.old, change in returned.end
    both = change in before.old and change in before.end
    return {
        "requests": 1,
        "separated": old and not end,
        "retired": old,
        "any_separated": returned.any_separated,
        "both": both,
        "successor_dropped": both and old and not end,
        "predecessor_dropped": both and end and not old,
        "either": old or end,
        "head_first": end and (not old or returned.end[change] < returned.old[change]),
        "added": returned.tokens - alone.tokens,
        "added_by_closure": returned.tokens - returned.history - alone.tokens,
        "plain_tokens": alone.tokens,
        "chains": len(returned.chains),
        "every_separated": len(returned.old.keys() - returned.end.keys()),
    }


@dataclass
class Tally:
    """The sums by cell and user."""

    by_cell: dict[Cell, dict[str, Sums]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, cell: Cell, user: str, more: Sums) -> None:
        """Add the sums of one answer."""
        known = self.by_cell[cell].setdefault(user, dict.fromkeys(more, 0.0))
        for name, value in more.items():
            known[name] += value

    def total(self, cell: Cell, name: str) -> float:
        """The sum over all users."""
        return sum(each[name] for each in self.by_cell[cell].values())

    def rate(self, cell: Cell, name: str) -> float | None:
        """One of RATES; None if its denominator is zero."""
        above, below = RATES[name]
        whole = self.total(cell, below)
        return self.total(cell, above) / whole if whole else None

    def interval(self, cell: Cell, name: str, drawn: NDArray[np.int64]) -> tuple[float, float] | None:
        """The middle 95 % of the rate over the resamples; `drawn` is how often each (row) drew each user (column).

        Resamples whose denominator is zero are left out.
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
    """Bootstrap resamples of the users: how often each user was drawn, of shape (resamples, users)."""
    drawn: NDArray[np.int64] = np.random.default_rng(seed).multinomial(users, np.full(users, 1 / users), resamples)
    return drawn


def percent(value: float | None, sign: bool = False) -> str:
    """A rate in whole percent; a dash if there is none."""
    return "-" if value is None else f"{100 * value:+.0f}%" if sign else f"{100 * value:.0f}%"


def within(value: float | None, interval: Sequence[float] | None, sign: bool = False) -> str:
    """A rate with its interval, in whole percent."""
    if value is None or interval is None:
        return "-"
    low, high = (f"{100 * each:+.0f}" if sign else f"{100 * each:.0f}" for each in interval)
    return f"{percent(value, sign)} [{low}, {high}]"
