"""Is the note that answers a question ranked high? Each search channel, a common fusion, and the product.

Runs on the bundled sets; with --data also on LoCoMo (evidence for questions) and PrefEval (old preferences).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from bench.cache import CachedEmbedder, default_folder
from bench.report import finish, print_claims, table
from bench.retrieval.channels import (
    Ranked,
    by_relevance,
    channels,
    figures,
    found,
    half_width,
    recall_at,
)
from bench.retrieval.sets import DATA_FILES, DEV, TEST, Build, Question, cues, locomo, prefeval, probe, texts_of
from bench.stage import model
from stilltrue.retrieval.ranking import Policy
from store.embed.cross_encoder import load_reranker
from store.port import Embedder, Reranker

Rankings: TypeAlias = list[tuple[Question, Mapping[str, Ranked]]]
Result: TypeAlias = dict[str, dict[str, dict[str, float]]]

KS = (1, 5, 6, 10, 20)
LEXICAL_SHARES = (0.3, 0.4, 0.45, 0.5, 0.6)
LATE_SHARES = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
FUSION_AT_10, LATE_AT_10 = 0.64, 0.67
POINTS = 0.02
TIMES = 2.0


def main(argv: Sequence[str]) -> int:
    """Print recall and MRR of every channel. Returns 1 if a claim is missed, 2 if data is missing."""
    options = _options(argv)
    if options.tune and not options.data:
        print("--tune needs --data: the weights are chosen on one half of LoCoMo.", file=sys.stderr)
        return 2
    missing = [name for name in DATA_FILES if options.data and not (options.data / f"{name}.jsonl").is_file()]
    if missing:
        print(f"There is no {missing[0]}.jsonl in {options.data}; --data takes their folder.", file=sys.stderr)
        return 2
    embedder = CachedEmbedder(model())
    if options.data:
        embedder.learn(texts_of(options.data), options.cache)
    if options.tune:
        finish(_tuned(options, embedder), options.seed)
        return 0
    reranker = load_reranker(str(options.cross_encoder)) if options.cross_encoder else None
    builds: dict[str, Build] = {
        "probe": probe(fillers=False),
        "probe_and_fillers": probe(fillers=True),
        "cues": cues,
    }
    if options.data:
        builds |= {
            "locomo": locomo(options.data, apart=False),
            "locomo_apart": locomo(options.data, apart=True),
            "prefeval": prefeval(options.data),
        }
    result: Result = {}
    for name, build in builds.items():
        if not options.only or name in options.only:
            for set_name, rankings in _ranked(build, options, embedder, reranker):
                result[set_name] = figures(rankings, KS)
                _print(set_name, rankings, result[set_name])
    claims = _claims(result)
    code = print_claims(claims)
    finish(result, options.seed)
    return code


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, help=f"a folder with {', '.join(DATA_FILES)} (.jsonl)")
    parser.add_argument(
        "--cache", type=Path, default=default_folder(), help="folder that caches the embeddings of --data"
    )
    parser.add_argument(
        "--only", nargs="+", help="sets to run: probe, probe_and_fillers, cues, locomo, locomo_apart, prefeval"
    )
    parser.add_argument("--questions", type=int, help="how many questions of each set to ask (default all)")
    parser.add_argument("--tune", action="store_true", help="try the weights over a grid, on the dev half of LoCoMo")
    parser.add_argument("--cross-encoder", type=Path, help="folder with the weights of a cross-encoder")
    parser.add_argument("--seed", type=int, default=0, help="seed for ids, ages and pools (default 0)")
    return parser.parse_args(argv)


def _ranked(
    build: Build, options: argparse.Namespace, embedder: Embedder, reranker: Reranker | None
) -> Iterator[tuple[str, Rankings]]:
    """The rankings of each set of a build. If it has halves, those of each half come before those of all."""
    with tempfile.TemporaryDirectory() as folder:
        for name, questions in build(Path(folder), embedder, options.seed).items():
            rankings: Rankings = [(each, channels(each, reranker)) for each in questions[: options.questions]]
            halves = [half for half in (DEV, TEST) if any(each.half == half for each, _ in rankings)]
            for half in halves:
                yield f"{name}_{half}", [pair for pair in rankings if pair[0].half == half]
            yield f"{name}_all" if halves else name, rankings


def _print(name: str, rankings: Rankings, means: dict[str, dict[str, float]]) -> None:
    note = ": the weights were chosen here" if name.endswith(f"_{DEV}") else ""
    print(f"{name}, {len(rankings)} questions{note}\n")
    rows = [
        [channel, *(f"{value:.3f}" for value in (*row.values(), half_width(rankings, channel, 10)))]
        for channel, row in means.items()
    ]
    print(table(["channel", *(f"R@{k}" for k in KS), "MRR", "R@10 ±"], rows), end="\n\n", flush=True)


def _claims(result: Result) -> dict[str, bool]:
    """The claims about the sets that were run, and whether each held."""
    claims: dict[str, bool] = {}
    for name in ("locomo_test", "locomo_apart_test"):
        if name in result:
            for channel, least in (("fusion", FUSION_AT_10), ("late", LATE_AT_10)):
                got = result[name][channel]["recall_at_10"]
                claims[f"{name}: R@10 of {channel} is {got:.3f}, at least {least}"] = got >= least
    if "probe" in result:
        alone = result["probe"]["vectors"]["recall_at_10"]
        for channel in ("fusion", "late"):
            got = result["probe"][channel]["recall_at_10"]
            claim = f"probe: R@10 of {channel} is {got:.3f}, at most two points below vectors alone ({alone:.3f})"
            claims[claim] = got >= alone - POINTS
    for name in ("cues_100", "cues_all"):
        if name in result:
            got, without = (result[each]["recall"]["recall_at_6"] for each in (name, f"{name}_without"))
            claim = f"{name}: R@6 of recall is {got:.3f} with cues, at least twice that without ({without:.3f})"
            claims[claim] = got >= TIMES * without
    return claims


def _tuned(options: argparse.Namespace, embedder: Embedder) -> dict[str, dict[str, float]]:
    """R@10 of the product's relevance for each pair of weights, on the dev half only."""
    tuned: dict[str, dict[str, float]] = {}
    grid = [replace(Policy(), lexical_share=a, late_share=b) for a in LEXICAL_SHARES for b in LATE_SHARES]
    for apart in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            [(name, questions)] = locomo(options.data, apart=apart)(Path(folder), embedder, options.seed).items()
            asked = [each for each in questions if each.half == DEV][: options.questions]
            sums = [0.0] * len(grid)
            for question in asked:
                hits = found(question)
                for at, policy in enumerate(grid):
                    sums[at] += recall_at(by_relevance(hits, policy), question.wanted, 10)
        means = [each / len(asked) for each in sums]
        tuned[f"{name}_{DEV}"] = {
            f"{policy.lexical_share}/{policy.late_share}": round(mean, 4)
            for policy, mean in zip(grid, means, strict=True)
        }
        print(f"{name}_{DEV}, {len(asked)} questions: R@10 by lexical_share (down) and late_share (across)\n")
        cells = [f"{mean:.3f}" for mean in means]
        wide = len(LATE_SHARES)
        rows = [[share, *cells[at * wide : (at + 1) * wide]] for at, share in enumerate(LEXICAL_SHARES)]
        print(table(["", *map(str, LATE_SHARES)], rows), end="\n\n")
    default = Policy()
    print(f"The defaults are lexical_share {default.lexical_share} and late_share {default.late_share}.")
    return tuned
