"""Is a replaced or retracted note returned without what ended it? Notes as ranked, next to their chains."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, get_args

from bench.cache import CachedEmbedder
from bench.report import finish, print_claims, table
from bench.separation.figures import RATES, Cell, Tally, percent, resampled, sums, within
from bench.separation.stores import Ending, build, changes, plans
from bench.separation.variants import BUDGET, CHANNELS, PASSES, Answers, answers
from bench.stage import model

KS = (3, 5, 10)
ENDINGS: tuple[Ending, ...] = get_args(Ending)
MOST_ADDED = 0.25
OF_THE_CLAIM = 200
_WITH_INTERVAL = {
    "notes": ("separated", "separated_given_retired", "successor_dropped", "predecessor_dropped"),
    "closed": ("tokens_added", "closure_tokens_added"),
}

_RATES_INTRO = """\
Without closure: how often the retired note of a request is returned without what ended it, of all requests. The
other columns are at k = 5: the same, of the answers that returned that note; answers with any such note of the store;
of the pairs that the plain ranking returned whole, those of which a pass dropped the successor or the predecessor;
answers with the current state first.
"""
_PRICE_INTRO = """
With closure and no pass: the tokens added to the same k notes returned alone, for whole chains and without the
history that may be cut. Next to it the k best chains, as recall returns them: more than k notes enter them, so they
are larger.
"""
_BUDGET_INTRO = f"""
Under a fixed budget of {BUDGET} tokens, filled from everything found; means for one answer. A chain is displaced if
there was room for its note alone and not for the chain. The last columns apply recall's own maximum number of chains.
"""


def main(argv: Sequence[str]) -> int:
    """Print rates, price and claims. Returns 1 if a claim is missed, 2 if data is missing."""
    options = _options(argv)
    if options.data and not (options.data / "carmem.jsonl").is_file():
        print(
            f"There is no carmem.jsonl in {options.data}; --data expects the folder that contains it.",
            file=sys.stderr,
        )
        return 2
    tally, cached = Tally(), CachedEmbedder(model())
    for size in options.stores:
        for ending in ENDINGS:
            _play(size, ending, options, cached, tally)
            print(f"done: stores of {size} notes, {ending}", file=sys.stderr)
    users = len(next(iter(tally.by_cell.values())))
    drawn = resampled(users, options.resamples, options.seed)
    print(f"{users} users; brackets hold the middle 95 % of {options.resamples} resamples of the users\n")
    interval = partial(tally.interval, drawn=drawn)
    _print_rates(tally, interval, options.stores)
    _print_price(tally, interval, options.stores)
    _print_budget(tally, options.stores)
    cells = [_cell(tally, interval, cell) for cell in tally.by_cell if cell.variant in {"notes", "closed"} and cell.k]
    budgeted = [_budgeted(tally, cell) for cell in tally.by_cell if cell.variant == "closed" and not cell.k]
    separated = sum(tally.total(cell, "every_separated") for cell in tally.by_cell if cell.variant != "notes")
    result: dict[str, Any] = {
        "set": "carmem" if options.data else "bundled",
        "users": users,
        "cells": cells,
        "budget": budgeted,
        "separated_with_closure": int(separated),
    }
    claims = _claims(result)
    result["claims"] = claims
    code = print_claims(claims)
    finish(result, options.seed)
    return code


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench separation", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with carmem.jsonl, to use instead of the bundled changes")
    parser.add_argument("--stores", type=_sizes, default=(20, 200), help="store sizes in notes (default 20,200)")
    parser.add_argument("--users", type=int, default=1_000, help="how many users of the set to include (default all)")
    parser.add_argument("--resamples", type=int, default=1_000, help="resamples for the intervals (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed for ages, fillers and resamples (default 0)")
    return parser.parse_args(argv)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def _play(size: int, ending: Ending, options: argparse.Namespace, cached: CachedEmbedder, tally: Tally) -> None:
    found = changes(ending, options.data)
    first = list(dict.fromkeys(each.user for each in found))[: options.users]
    found = [each for each in found if each.user in first]
    for number, plan in enumerate(plans(found, size, Random(options.seed))):
        with tempfile.TemporaryDirectory() as folder:
            pair = build(plan, ending, Path(folder), cached, options.seed + number)
            for at, change in enumerate(plan.changes):
                _count(size, ending, change.user, at, list(answers(pair, change, KS)), tally)
            pair.plain.store.close()
            pair.linked.store.close()


def _count(size: int, ending: Ending, user: str, change: int, every: Sequence[Answers], tally: Tally) -> None:
    unpassed = {each.channel: each for each in every if each.diversity == "plain"}
    for each in every:
        for (variant, k), returned in each.at.items():
            before, alone = unpassed[each.channel].at[variant, k], each.at["notes", k]
            cell = Cell(size, ending, each.channel, each.diversity, k, variant)
            tally.add(cell, user, sums(returned, change, before, alone))
        for variant, returned in each.budgeted.items():
            alone = each.budgeted["notes"]
            more = sums(returned, change, returned, alone)
            more["tokens"], more["over"] = returned.tokens, returned.tokens > BUDGET
            more["displaced"] = len(alone.chains - returned.chains)
            tally.add(Cell(size, ending, each.channel, each.diversity, 0, variant), user, more)


def _cell(tally: Tally, interval: Any, cell: Cell) -> dict[str, Any]:
    closed = cell.variant == "closed"
    named = {"store": cell.store, "change": cell.change, "k": cell.k, "channel": cell.channel}
    row: dict[str, Any] = {**named, "diversity": cell.diversity, "closure": closed}
    row |= {name: _rounded(tally.rate(cell, name)) for name in RATES}
    row |= {f"{name}_ci": _rounded_pair(interval(cell, name)) for name in _WITH_INTERVAL[cell.variant]}
    row |= {name: int(tally.total(cell, name)) for name in ("requests", "retired", "both")}
    if closed:
        recall = cell._replace(variant="chains")
        wanted = ("separated", "successor_dropped", "head_first", "tokens_added", "closure_tokens_added")
        row["k_chains"] = {name: _rounded(tally.rate(recall, name)) for name in wanted}
    return row


def _budgeted(tally: Tally, cell: Cell) -> dict[str, Any]:
    alone, bare, recall = (cell._replace(variant=variant) for variant in ("notes", "bare", "recall"))
    requests = tally.total(cell, "requests")

    def mean(where: Cell, name: str) -> float:
        return round(tally.total(where, name) / requests, 4)

    return {
        "store": cell.store,
        "change": cell.change,
        "channel": cell.channel,
        "budget": BUDGET,
        "over": max(mean(each, "over") for each in (cell, recall)),
        "tokens_alone": mean(alone, "tokens"),
        "tokens": mean(cell, "tokens"),
        "chains_alone": mean(alone, "chains"),
        "chains": mean(cell, "chains"),
        "displaced": mean(cell, "displaced"),
        "displaced_without_history": mean(bare, "displaced"),
        "recall_tokens": mean(recall, "tokens"),
        "recall_chains": mean(recall, "chains"),
        "separated_any_alone": mean(alone, "any_separated"),
        "separated_any": mean(cell, "any_separated"),
    }


def _claims(result: dict[str, Any]) -> dict[str, bool]:
    over = max(each["over"] for each in result["budget"])
    claims = {
        f"with closure no retired note is returned without what ended it ({result['separated_with_closure']})":
            result["separated_with_closure"] == 0,
        f"no answer exceeds a fixed budget of {BUDGET} tokens ({percent(over)})": over == 0,
    }  # fmt: skip
    priced = [
        each
        for each in result["cells"]
        if (each["store"], each["closure"], each["diversity"], each["channel"])
        == (OF_THE_CLAIM, True, "plain", "hybrid")
    ]
    if priced:
        most = max(each["closure_tokens_added"] for each in priced)
        claim = f"closure adds at most {percent(MOST_ADDED)} tokens at equal k, {OF_THE_CLAIM} notes, hybrid"
        claims[f"{claim} ({percent(most, sign=True)})"] = most <= MOST_ADDED
    return claims


def _print_rates(tally: Tally, interval: Any, sizes: Sequence[int]) -> None:
    print(_RATES_INTRO)
    rows = []
    for size in sizes:
        for ending in ENDINGS:
            for channel in CHANNELS:
                for diversity in PASSES:
                    at = {k: Cell(size, ending, channel, diversity, k, "notes") for k in KS}
                    at5 = at[5]
                    drops = ("successor_dropped", "predecessor_dropped")
                    rows.append((
                        size, ending, channel, diversity,
                        *(within(tally.rate(at[k], "separated"), interval(at[k], "separated")) for k in KS),
                        percent(tally.rate(at5, "separated_given_retired")),
                        percent(tally.rate(at5, "separated_any")),
                        *(within(tally.rate(at5, name), interval(at5, name)) if diversity != "plain" else ""
                          for name in drops),
                        percent(tally.rate(at5, "head_first")),
                    ))  # fmt: skip
    head = ("notes", "change", "channel", "pass", *(f"k={k}" for k in KS), "of returned", "any", "successor dropped",
            "predecessor dropped", "current first")  # fmt: skip
    print(table(head, rows))


def _print_price(tally: Tally, interval: Any, sizes: Sequence[int]) -> None:
    print(_PRICE_INTRO)
    rows = []
    for size in sizes:
        for ending in ENDINGS:
            for channel in CHANNELS:
                for k in KS:
                    cell = Cell(size, ending, channel, "plain", k, "closed")
                    whole = cell._replace(variant="chains")
                    entered, returned = (
                        tally.total(of, "chains") / tally.total(of, "requests") for of in (cell, whole)
                    )
                    prices = ("tokens_added", "closure_tokens_added")
                    rows.append((
                        size, ending, channel, k, percent(tally.rate(cell, "separated_any")),
                        percent(tally.rate(cell, "head_first")),
                        *(within(tally.rate(cell, name), interval(cell, name), sign=True) for name in prices),
                        f"{entered:.1f}", percent(tally.rate(whole, "tokens_added"), sign=True), f"{returned:.1f}",
                    ))  # fmt: skip
    head = ("notes", "change", "channel", "k", "separated", "current first", "as returned", "closure alone", "chains",
            "k chains", "chains")  # fmt: skip
    print(table(head, rows))


def _print_budget(tally: Tally, sizes: Sequence[int]) -> None:
    print(_BUDGET_INTRO)
    rows = [
        (each["store"], each["change"], each["channel"], percent(each["over"]), f"{each['tokens_alone']:.0f}",
         f"{each['tokens']:.0f}", f"{each['chains_alone']:.1f}", f"{each['chains']:.1f}", f"{each['displaced']:.1f}",
         f"{each['displaced_without_history']:.1f}", percent(each["separated_any_alone"]),
         percent(each["separated_any"]), f"{each['recall_chains']:.1f}", f"{each['recall_tokens']:.0f}")
        for each in (_budgeted(tally, cell) for cell in tally.by_cell if cell.variant == "closed" and not cell.k)
        if each["store"] in sizes
    ]  # fmt: skip
    head = ("notes", "change", "channel", "over", "tokens alone", "closed", "chains alone", "closed", "displaced",
            "without history", "separated alone", "closed", "recall: chains", "tokens")  # fmt: skip
    print(table(head, rows) + "\n")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _rounded_pair(pair: tuple[float, float] | None) -> list[float] | None:
    return None if pair is None else [round(each, 3) for each in pair]
