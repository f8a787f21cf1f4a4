"""Counts and durations of tool calls in the text format of Prometheus. The content of calls is never included."""

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
    """Counts the calls of this process. An unknown tool counts as `unknown`, since its name is the client's text."""

    def __init__(self, tools: frozenset[str], stores: Callable[[], int]) -> None:
        self._tools = tools
        self._stores = stores
        self._calls: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS_S) + 1))

    async def measure(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware of the protocol: count each tool call. A call that ends without an answer is an error."""
        if ctx.method != "tools/call" or ctx.request_id is None:
            return await call_next(ctx)
        name = (ctx.params or {}).get("name")
        tool = name if name in self._tools else "unknown"
        start, failed = perf_counter(), True
        try:
            result = await call_next(ctx)
            answer = result if isinstance(result, dict) else {"isError": getattr(result, "is_error", False)}
            failed = bool(answer.get("isError"))
            return result
        finally:
            self.count(tool, perf_counter() - start, failed)

    def count(self, tool: str, seconds: float, failed: bool) -> None:
        """Count one call."""
        self._calls[tool] += 1
        self._errors[tool] += failed
        self._seconds[tool] += seconds  # type: ignore[assignment]  # a Counter also adds floats
        self._buckets[tool][bisect_left(BOUNDS_S, seconds)] += 1

    def text(self) -> str:
        """All metrics, as a scrape returns them."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _about("stilltrue_info", "gauge", "The running version.")
        yield f'stilltrue_info{{version="{__version__}"}} 1'
        yield from _about("stilltrue_stores_open", "gauge", "Open stores.")
        yield f"stilltrue_stores_open {self._stores()}"
        yield from _about("stilltrue_calls_total", "counter", "Finished calls by tool.")
        yield from (f'stilltrue_calls_total{{verb="{tool}"}} {number}' for tool, number in self._calls.items())
        yield from _about("stilltrue_errors_total", "counter", "Calls that were refused, failed or cancelled.")
        yield from (f'stilltrue_errors_total{{verb="{tool}"}} {number}' for tool, number in self._errors.items())
        yield from _about("stilltrue_call_seconds", "histogram", "Duration of calls by tool.")
        for tool, buckets in self._buckets.items():
            for bound, number in zip((*BOUNDS_S, "+Inf"), accumulate(buckets), strict=True):
                yield f'stilltrue_call_seconds_bucket{{verb="{tool}",le="{bound}"}} {number}'
            yield f'stilltrue_call_seconds_sum{{verb="{tool}"}} {self._seconds[tool]:.6f}'
            yield f'stilltrue_call_seconds_count{{verb="{tool}"}} {self._calls[tool]}'


def _about(name: str, kind: str, help_text: str) -> tuple[str, str]:
    return f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"
