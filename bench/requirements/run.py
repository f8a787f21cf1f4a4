"""Does the note that decides a request arrive? Baseline rankings and the product's recall over the same stores.

The product fetches requirements by class and subject, apart from the ranking: that query is its *channel*.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.cache import CachedEmbedder
from bench.report import finish, print_claims, table
from bench.requirements.agent import Endpoint, NoAnswer, split_page, stand_in, violates
from bench.requirements.variants import Case, K, Variant, blended, case_store, nearest, product, reranker
from bench.stage import DATA, model, rows
from stilltrue.text.budget import estimate_tokens

BASE, BLEND, RERANK = "cosine k=6", "blend", "cross-encoder rerank"
OURS, BARE = "stilltrue", "stilltrue without the channel"
MOST_MS = 1.0
"""The most that the channel may add to a recall, in milliseconds."""


@dataclass(slots=True)
class Tally:
    """The results of a variant over the cases: tokens per page, and milliseconds per timed answer."""

    delivered: int = 0
    violations: int = 0
    model_violations: int = 0
    tokens: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


def main(argv: Sequence[str]) -> int:
    """Print all variants. Returns 1 if the product misses a claim, 2 if the endpoint does not answer."""
    options = _options(argv)
    read = rows("requirements", options.data)
    cases = [row for row in read if not row["control"]][: options.cases]
    controls = [row for row in read if row["control"]]
    fillers = [row["text"] for row in rows("fillers", options.data)] if options.fillers else []
    if options.fillers > len(fillers):
        print(f"--fillers is {options.fillers}, but there are only {len(fillers)} fillers.", file=sys.stderr)
        return 2
    reranked = reranker(options.cross_encoder)
    variants = _variants(reranked)
    tallies = {name: Tally() for name in variants}
    sections: list[str] = []
    embedding = _embedding_times(cases)
    cached, random = CachedEmbedder(model()), Random(options.seed)
    on_disk = options.store == "lance"
    try:
        for row in cases:
            drawn = random.sample(fillers, options.fillers)
            with case_store(row, drawn, cached, options.seed, on_disk=on_disk) as case:
                sections.append(_play(case, variants, tallies, options))
    except NoAnswer as error:
        print(error, file=sys.stderr)
        return 2
    injected = 0
    for row in controls:
        drawn = random.sample(fillers, options.fillers)
        with case_store(row, drawn, cached, options.seed, on_disk=on_disk) as case:
            page = product(case, channel=True)
            injected += bool(split_page(page)[1]) or case.decisive in page
    missing = reranked if isinstance(reranked, str) else None
    result = _result(options, tallies, sections, embedding, (injected, len(controls)), missing)
    _print(result)
    claims = _claims(result)
    code = print_claims(claims)
    finish(result, options.seed)
    return code


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench requirements", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with requirements.jsonl and fillers.jsonl")
    parser.add_argument("--cases", type=int, default=None, help="how many of the cases to run (default all)")
    parser.add_argument("--fillers", type=int, default=100, help="additional notes in each store (default 100)")
    parser.add_argument("--store", choices=("memory", "lance"), default="memory", help="where the notes are stored")
    parser.add_argument("--repeats", type=int, default=6, help="timed answers per case and variant (default 6)")
    parser.add_argument("--seed", type=int, default=0, help="seed for the fillers and their ages (default 0)")
    parser.add_argument("--cross-encoder", type=Path, help="folder with the weights of a cross-encoder")
    parser.add_argument(
        "--endpoint", help="OpenAI-compatible API, such as http://localhost:8000/v1: ask a real model too"
    )
    parser.add_argument("--model", help="name of the model at the endpoint")
    parser.add_argument("--key-variable", help="environment variable with the endpoint's key")
    parser.add_argument("--temperature", type=float, help="temperature for the model; not sent unless given")
    options = parser.parse_args(argv)
    if bool(options.endpoint) != bool(options.model):
        parser.error("--endpoint and --model have to be given together")
    if options.endpoint and not options.endpoint.startswith(("http://", "https://")):
        parser.error("--endpoint has to begin with http:// or https://")
    if options.key_variable and not os.environ.get(options.key_variable):
        parser.error(f"--key-variable: {options.key_variable} is not set")
    if options.repeats < 1 or options.fillers < 0 or (options.cases or 1) < 1:
        parser.error("--repeats and --cases have to be at least 1, --fillers at least 0")
    options.agent = None
    if options.endpoint:
        options.agent = Endpoint(options.endpoint, options.model, options.key_variable, options.temperature)
    return options


def _variants(reranked: Variant | str) -> dict[str, Variant]:
    variants: dict[str, Variant] = {
        BASE: partial(nearest, k=K),
        BLEND: partial(blended, lasting=False),
        "class-aware recency": partial(blended, lasting=True),
        "cosine k=12": partial(nearest, k=12),
        "cosine k=50": partial(nearest, k=50),
    }
    if not isinstance(reranked, str):
        variants[RERANK] = reranked
    return variants | {BARE: partial(product, channel=False), OURS: partial(product, channel=True)}


def _embedding_times(cases: Sequence[Mapping[str, Any]]) -> list[float]:
    """Milliseconds to embed each query. The times of the variants exclude them."""
    times = []
    model().encode(["The first text is slower than the others."])
    for row in cases:
        began = perf_counter()
        model().encode([row["query"]])
        times.append((perf_counter() - began) * 1e3)
    return times


def _play(
    case: Case, variants: Mapping[str, Variant], tallies: Mapping[str, Tally], options: argparse.Namespace
) -> str:
    """Run every variant on this case, once to judge it, then timed. Returns the page's requirements section."""
    row = case.row
    pages = {name: variant(case) for name, variant in variants.items()}
    for name, page in pages.items():
        tally = tallies[name]
        tally.delivered += f"[{case.decisive}]" in page
        action = stand_in(page, case.decisive, row["action_safe"], row["action_unsafe"])
        tally.violations += violates(action, row["violation"])
        if options.agent:
            tally.model_violations += violates(options.agent.act(row["query"], page), row["violation"])
        tally.tokens.append(estimate_tokens(page))
    for turn in range(options.repeats):
        # The second one finds warmer caches, so the order is reversed each time.
        for name in sorted(variants, reverse=bool(turn % 2)):
            began = perf_counter()
            variants[name](case)
            tallies[name].times.append((perf_counter() - began) * 1e3)
    return split_page(pages[OURS])[1]


def _result(
    options: argparse.Namespace,
    tallies: Mapping[str, Tally],
    sections: Sequence[str],
    embedding: Sequence[float],
    controls: tuple[int, int],
    missing: str | None,
) -> dict[str, Any]:
    """All figures. Tokens are means over the cases; `controls` is (controls with an injection, all controls)."""
    variants: dict[str, dict[str, Any]] = {}
    extra = {name: np.subtract(tally.tokens, tallies[_baseline_of(name)].tokens) for name, tally in tallies.items()}
    for name, tally in tallies.items():
        p50, p95 = _percentiles(tally.times)
        variants[name] = {
            "delivered": tally.delivered,
            "extra_tokens": round(float(extra[name].mean()), 1),
            "p50_ms": p50,
            "p95_ms": p95,
            "violations": tally.violations,
        }
        if options.agent:
            variants[name]["model_violations"] = tally.model_violations
    if missing:
        variants[RERANK] = dict.fromkeys(variants[BASE]) | {"not_run": missing}
        variants |= {name: variants.pop(name) for name in (BARE, OURS)}  # the product comes last
    whole = [estimate_tokens(section) for section in sections]
    bare = [estimate_tokens(section.partition("\n")[2]) for section in sections]
    channel = _percentiles(np.subtract(tallies[OURS].times, tallies[BARE].times))
    embed = _percentiles(embedding)
    return {
        "cases": len(sections),
        "delivered": variants[OURS]["delivered"],
        "controls_injected": controls[0],
        "violations": variants[OURS]["violations"],
        "arms": variants,
        "controls": controls[1],
        "store": options.store,
        "fillers": options.fillers,
        "channel_p50_ms": channel[0],
        "channel_p95_ms": channel[1],
        "embed_p50_ms": embed[0],
        "embed_p95_ms": embed[1],
        "section_tokens": round(float(np.mean(whole)), 1),
        "rule_tokens": round(float(np.mean(bare)), 1),
        "pages_grown_by_more": int((extra[OURS] > whole).sum()),
        "model": options.model,
    }


def _baseline_of(name: str) -> str:
    """The variant that the tokens of this one are compared with."""
    return BARE if name in {OURS, BARE} else BASE


def _percentiles(times: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    p50, p95 = np.percentile(times, (50, 95))
    return round(float(p50), 2), round(float(p95), 2)


def _print(result: Mapping[str, Any]) -> None:
    head = ["variant", f"delivered of {result['cases']}", "extra tokens", "p50 ms", "p95 ms", "violations"]
    head += [f"violations of {result['model']}"] if result["model"] else []
    lines = []
    for name, variant in result["arms"].items():
        missing = variant.get("not_run")
        figures = ["-" if value is None else value for key, value in variant.items() if key != "not_run"]
        lines.append((f"{name} (not run: {missing})" if missing else name, *figures))
    store = f"a store of its own ({result['store']}) with {result['fillers']} fillers"
    print(f"{result['cases']} cases, each on {store}.")
    print("Extra tokens are relative to cosine k=6; for stilltrue, to the same recall without the channel.")
    print("Milliseconds exclude the embedding of the query, which is the same for all:")
    print(f"p50 {result['embed_p50_ms']}, p95 {result['embed_p95_ms']}.\n")
    print(table(head, lines))
    channel = f"p50 {result['channel_p50_ms']} ms, p95 {result['channel_p95_ms']} ms"
    print(f"\nthe channel adds to a recall, compared in pairs: {channel}")
    section = f"{result['section_tokens']} tokens with its heading, {result['rule_tokens']} without"
    print(f"the requirements section of a page has {section}\n")


def _claims(result: Mapping[str, Any]) -> dict[str, bool]:
    """The claims, and whether each held in this run."""
    count = result["cases"]
    return {
        f"{result['delivered']} of {count} decisive notes delivered": result["delivered"] == count,
        f"{result['controls_injected']} of {result['controls']} controls injected": not result["controls_injected"],
        f"{result['violations']} violations by the stand-in": not result["violations"],
        f"{result['pages_grown_by_more']} of {count} pages grew by more tokens than their requirements section": (
            not result["pages_grown_by_more"]
        ),
        f"the channel adds {result['channel_p50_ms']} ms (p50), at most {MOST_MS} is allowed": (
            result["channel_p50_ms"] <= MOST_MS
        ),
    }
