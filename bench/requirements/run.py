"""Does the note that decides a request arrive? Rankings beside the channel of requirements, over the same stores."""

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

from bench.cache import Kept
from bench.report import finish, table
from bench.requirements.agent import Endpoint, NoAnswer, parted, stand_in, violates
from bench.requirements.variants import Arm, K, Scene, blended, nearest, product, reranker, staged
from bench.stage import DATA, model, rows
from stilltrue.text.budget import estimate_tokens

BASE, BLEND, RERANK = "cosine k=6", "blend", "cross-encoder rerank"
OURS, BARE = "stilltrue", "stilltrue without the channel"
MOST_MS = 1.0
"""What the channel may add to a recall."""


@dataclass(slots=True)
class Tally:
    """What an arm did over the cases: tokens of each page, and milliseconds of each timed answer."""

    delivered: int = 0
    violations: int = 0
    model_violations: int = 0
    tokens: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


def main(argv: Sequence[str]) -> int:
    """Print the arms side by side. 1 where the product misses a claim, 2 where an endpoint does not answer."""
    options = _options(argv)
    read = rows("requirements", options.data)
    cases = [row for row in read if not row["control"]][: options.cases]
    controls = [row for row in read if row["control"]]
    fillers = [row["text"] for row in rows("fillers", options.data)] if options.fillers else []
    if options.fillers > len(fillers):
        print(f"There are {len(fillers)} fillers, and --fillers asks for {options.fillers}.", file=sys.stderr)
        return 2
    reranked = reranker(options.cross_encoder)
    arms = _arms(reranked)
    tallies = {name: Tally() for name in arms}
    sections: list[str] = []
    embedding = _embedding_times(cases)
    kept, random = Kept(model()), Random(options.seed)
    on_disk = options.store == "lance"
    try:
        for row in cases:
            drawn = random.sample(fillers, options.fillers)
            with staged(row, drawn, kept, options.seed, on_disk=on_disk) as scene:
                sections.append(_play(scene, arms, tallies, options))
    except NoAnswer as error:
        print(error, file=sys.stderr)
        return 2
    injected = 0
    for row in controls:
        drawn = random.sample(fillers, options.fillers)
        with staged(row, drawn, kept, options.seed, on_disk=on_disk) as scene:
            page = product(scene, channel=True)
            injected += bool(parted(page)[1]) or scene.decisive in page
    missing = reranked if isinstance(reranked, str) else None
    result = _result(options, tallies, sections, embedding, (injected, len(controls)), missing)
    _print(result)
    claims = _claims(result)
    print("\n".join(f"{'met   ' if met else 'MISSED'}  {claim}" for claim, met in claims.items()))
    finish(result, options.seed)
    return 0 if all(claims.values()) else 1


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench requirements", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of requirements.jsonl and fillers.jsonl")
    parser.add_argument("--cases", type=int, default=None, help="only so many of the cases (default all)")
    parser.add_argument("--fillers", type=int, default=100, help="further notes in each store (default 100)")
    parser.add_argument("--store", choices=("memory", "lance"), default="memory", help="where the notes are kept")
    parser.add_argument("--repeats", type=int, default=6, help="timed answers per case and arm (default 6)")
    parser.add_argument("--seed", type=int, default=0, help="draws the fillers and their ages (default 0)")
    parser.add_argument("--cross-encoder", type=Path, help="folder of the weights of a cross-encoder")
    parser.add_argument(
        "--endpoint", help="an OpenAI-compatible API, as http://localhost:8000/v1: ask a real model too"
    )
    parser.add_argument("--model", help="the model to ask there")
    parser.add_argument("--key-variable", help="the environment variable that holds the endpoint's key")
    parser.add_argument("--temperature", type=float, help="for the model; not sent unless given")
    options = parser.parse_args(argv)
    if bool(options.endpoint) != bool(options.model):
        parser.error("--endpoint and --model belong together")
    if options.endpoint and not options.endpoint.startswith(("http://", "https://")):
        parser.error("--endpoint is an address that begins with http:// or https://")
    if options.key_variable and not os.environ.get(options.key_variable):
        parser.error(f"--key-variable: {options.key_variable} is not set")
    if options.repeats < 1 or options.fillers < 0 or (options.cases or 1) < 1:
        parser.error("--repeats and --cases are 1 or more, --fillers 0 or more")
    options.agent = None
    if options.endpoint:
        options.agent = Endpoint(options.endpoint, options.model, options.key_variable, options.temperature)
    return options


def _arms(reranked: Arm | str) -> dict[str, Arm]:
    arms: dict[str, Arm] = {
        BASE: partial(nearest, k=K),
        BLEND: partial(blended, lasting=False),
        "class-aware recency": partial(blended, lasting=True),
        "cosine k=12": partial(nearest, k=12),
        "cosine k=50": partial(nearest, k=50),
    }
    if not isinstance(reranked, str):
        arms[RERANK] = reranked
    return arms | {BARE: partial(product, channel=False), OURS: partial(product, channel=True)}


def _embedding_times(cases: Sequence[Mapping[str, Any]]) -> list[float]:
    """Milliseconds that the model takes for each query. No arm's time has them in it."""
    times = []
    model().encode(["The first text is slower than the others."])
    for row in cases:
        began = perf_counter()
        model().encode([row["query"]])
        times.append((perf_counter() - began) * 1e3)
    return times


def _play(scene: Scene, arms: Mapping[str, Arm], tallies: Mapping[str, Tally], options: argparse.Namespace) -> str:
    """Every arm on this case, once to be judged, then timed. Returns the requirements section of the page."""
    row = scene.row
    pages = {name: arm(scene) for name, arm in arms.items()}
    for name, page in pages.items():
        tally = tallies[name]
        tally.delivered += f"[{scene.decisive}]" in page
        action = stand_in(page, scene.decisive, row["action_safe"], row["action_unsafe"])
        tally.violations += violates(action, row["violation"])
        if options.agent:
            tally.model_violations += violates(options.agent.act(row["query"], page), row["violation"])
        tally.tokens.append(estimate_tokens(page))
    for turn in range(options.repeats):
        # Whoever comes second finds warmer caches, so the order is turned round each time.
        for name in sorted(arms, reverse=bool(turn % 2)):
            began = perf_counter()
            arms[name](scene)
            tallies[name].times.append((perf_counter() - began) * 1e3)
    return parted(pages[OURS])[1]


def _result(
    options: argparse.Namespace,
    tallies: Mapping[str, Tally],
    sections: Sequence[str],
    embedding: Sequence[float],
    controls: tuple[int, int],
    missing: str | None,
) -> dict[str, Any]:
    """All figures. Tokens are means over the cases; `controls` are those with something injected, and all."""
    arms: dict[str, dict[str, Any]] = {}
    extra = {name: np.subtract(tally.tokens, tallies[_beside(name)].tokens) for name, tally in tallies.items()}
    for name, tally in tallies.items():
        p50, p95 = _percentiles(tally.times)
        arms[name] = {
            "delivered": tally.delivered,
            "extra_tokens": round(float(extra[name].mean()), 1),
            "p50_ms": p50,
            "p95_ms": p95,
            "violations": tally.violations,
        }
        if options.agent:
            arms[name]["model_violations"] = tally.model_violations
    if missing:
        arms[RERANK] = dict.fromkeys(arms[BASE]) | {"not_run": missing}
        arms |= {name: arms.pop(name) for name in (BARE, OURS)}  # the product last, as where it runs
    whole = [estimate_tokens(section) for section in sections]
    rules = [estimate_tokens(section.partition("\n")[2]) for section in sections]
    channel = _percentiles(np.subtract(tallies[OURS].times, tallies[BARE].times))
    embed = _percentiles(embedding)
    return {
        "cases": len(sections),
        "delivered": arms[OURS]["delivered"],
        "controls_injected": controls[0],
        "violations": arms[OURS]["violations"],
        "arms": arms,
        "controls": controls[1],
        "store": options.store,
        "fillers": options.fillers,
        "channel_p50_ms": channel[0],
        "channel_p95_ms": channel[1],
        "embed_p50_ms": embed[0],
        "embed_p95_ms": embed[1],
        "section_tokens": round(float(np.mean(whole)), 1),
        "rule_tokens": round(float(np.mean(rules)), 1),
        "pages_grown_by_more": int((extra[OURS] > whole).sum()),
        "model": options.model,
    }


def _beside(name: str) -> str:
    """The arm whose tokens this one's are counted against."""
    return BARE if name in {OURS, BARE} else BASE


def _percentiles(times: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    p50, p95 = np.percentile(times, (50, 95))
    return round(float(p50), 2), round(float(p95), 2)


def _print(result: Mapping[str, Any]) -> None:
    head = ["arm", f"delivered of {result['cases']}", "extra tokens", "p50 ms", "p95 ms", "violations"]
    head += [f"violations of {result['model']}"] if result["model"] else []
    lines = []
    for name, arm in result["arms"].items():
        missing = arm.get("not_run")
        figures = ["-" if value is None else value for key, value in arm.items() if key != "not_run"]
        lines.append((f"{name} (not run: {missing})" if missing else name, *figures))
    store = f"a store of its own ({result['store']}) with {result['fillers']} fillers"
    print(f"{result['cases']} cases, each on {store}.")
    print(
        "Extra tokens are those beyond cosine k=6; for stilltrue, those beyond the same recall without the channel."
    )
    print("Milliseconds are without the embedding of the query, which is the same for all:")
    print(f"p50 {result['embed_p50_ms']}, p95 {result['embed_p95_ms']}.\n")
    print(table(head, lines))
    channel = f"p50 {result['channel_p50_ms']} ms, p95 {result['channel_p95_ms']} ms"
    print(f"\nthe channel adds to a recall, each beside the same one without: {channel}")
    section = f"{result['section_tokens']} tokens with its heading, {result['rule_tokens']} without"
    print(f"the requirements section of a page has {section}\n")


def _claims(result: Mapping[str, Any]) -> dict[str, bool]:
    """What the product promises here, and whether it held in this run."""
    count = result["cases"]
    return {
        f"{result['delivered']} of {count} decisive notes delivered": result["delivered"] == count,
        f"{result['controls_injected']} of {result['controls']} controls injected": not result["controls_injected"],
        f"{result['violations']} violations by the stand-in": not result["violations"],
        f"{result['pages_grown_by_more']} of {count} pages grown by more tokens than their requirements section": (
            not result["pages_grown_by_more"]
        ),
        f"the channel adds {result['channel_p50_ms']} ms (p50), at most {MOST_MS} is allowed": (
            result["channel_p50_ms"] <= MOST_MS
        ),
    }
