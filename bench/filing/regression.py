"""Multinomial logistic regression in numpy, deterministic: limited-memory BFGS from zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_HISTORY = 10


def fit(inputs: Array, classes: NDArray[np.int64], count: int, penalty: float, steps: int = 150) -> Array:
    """Weights (count, columns + 1), the bias last, of the likeliest regression under an L2 `penalty`.

    `inputs` is (rows, columns); `classes` holds each row's class, below `count`. The bias is not penalised.
    """
    wanted = np.eye(count)[classes]
    columns = inputs.shape[1]

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(count, columns + 1)
        likely = softmax(inputs @ weights[:, :-1].T + weights[:, -1])
        value = -np.log(np.maximum((likely * wanted).sum(axis=1), 1e-12)).sum()
        off = likely - wanted
        slope = np.concatenate([off.T @ inputs + penalty * weights[:, :-1], off.sum(axis=0)[:, None]], axis=1)
        return float(value + penalty / 2 * (weights[:, :-1] ** 2).sum()), slope.ravel()

    return _minimum(loss, np.zeros(count * (columns + 1)), steps).reshape(count, columns + 1)


def softmax(logits: Array) -> Array:
    """Probabilities along the last axis."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    found: Array = raised / raised.sum(axis=-1, keepdims=True)
    return found


def _minimum(loss: Callable[[Array], tuple[float, Array]], at: Array, steps: int) -> Array:
    """Limited-memory BFGS with a backtracking line search (Nocedal and Wright, algorithm 7.5)."""
    value, slope = loss(at)
    moves: list[tuple[Array, Array]] = []
    for _ in range(steps):
        way = -_scaled(slope, moves)
        descent, size = float(slope @ way), 1.0
        while True:
            next_value, next_slope = loss(at + size * way)
            if next_value <= value + 1e-4 * size * descent or size < 1e-10:
                break
            size /= 2
        move, change = size * way, next_slope - slope
        if change @ move > 1e-12:
            moves = [*moves, (move, change)][-_HISTORY:]
        settled = abs(value - next_value) < 1e-9 * max(1.0, abs(value))
        at, value, slope = at + move, next_value, next_slope
        if settled:
            break
    return at


def _scaled(slope: Array, moves: list[tuple[Array, Array]]) -> Array:
    """The slope times the approximate inverse Hessian, by the two loops over the last moves."""
    if not moves:
        first: Array = slope / max(1.0, float(np.linalg.norm(slope)))
        return first
    rest, shares = slope.copy(), []
    for move, change in reversed(moves):
        share = float(move @ rest) / float(change @ move)
        shares.append(share)
        rest -= share * change
    move, change = moves[-1]
    rest *= float(move @ change) / float(change @ change)
    for (move, change), share in zip(moves, reversed(shares), strict=True):
        rest += move * (share - float(change @ rest) / float(change @ move))
    return rest
