"""What is counted of a server, in the text format of Prometheus: how much and how long, never what was said."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import accumulate
from time import perf_counter
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from stilltrue import __version__

BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram, in seconds."""

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Meter:
    """Counts of the calls of this process. A name of no verb of ours counts as `unknown`: it is the client's word."""

    def __init__(self, verbs: frozenset[str], stores: Callable[[], int]) -> None:
        self._verbs = verbs
        self._stores = stores
        self._calls: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS_S) + 1))

    async def measure(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware of the protocol: count each call of a tool. What ends it but an answer is an error."""
        if ctx.method != "tools/call" or ctx.request_id is None:
            return await call_next(ctx)
        name = (ctx.params or {}).get("name")
        verb = name if name in self._verbs else "unknown"
        began, failed = perf_counter(), True
        try:
            result = await call_next(ctx)
            said = result if isinstance(result, dict) else {"isError": getattr(result, "is_error", False)}
            failed = bool(said.get("isError"))
            return result
        finally:
            self.count(verb, perf_counter() - began, failed)

    def count(self, verb: str, seconds: float, failed: bool) -> None:
        """Count one call."""
        self._calls[verb] += 1
        self._errors[verb] += failed
        self._seconds[verb] += seconds  # type: ignore[assignment]  # a Counter adds up what it is given
        self._buckets[verb][bisect_left(BOUNDS_S, seconds)] += 1

    def text(self) -> str:
        """All of it, as a scrape reads it."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _about("stilltrue_info", "gauge", "The version that runs.")
        yield f'stilltrue_info{{version="{__version__}"}} 1'
        yield from _about("stilltrue_stores_open", "gauge", "Stores that are open.")
        yield f"stilltrue_stores_open {self._stores()}"
        yield from _about("stilltrue_calls_total", "counter", "Calls that have ended, by verb.")
        yield from (f'stilltrue_calls_total{{verb="{verb}"}} {number}' for verb, number in self._calls.items())
        yield from _about("stilltrue_errors_total", "counter", "Calls that were refused, failed or cancelled.")
        yield from (f'stilltrue_errors_total{{verb="{verb}"}} {number}' for verb, number in self._errors.items())
        yield from _about("stilltrue_call_seconds", "histogram", "How long calls took, by verb.")
        for verb, buckets in self._buckets.items():
            for bound, number in zip((*BOUNDS_S, "+Inf"), accumulate(buckets), strict=True):
                yield f'stilltrue_call_seconds_bucket{{verb="{verb}",le="{bound}"}} {number}'
            yield f'stilltrue_call_seconds_sum{{verb="{verb}"}} {self._seconds[verb]:.6f}'
            yield f'stilltrue_call_seconds_count{{verb="{verb}"}} {self._calls[verb]}'


def _about(name: str, kind: str, help_text: str) -> tuple[str, str]:
    return f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"
