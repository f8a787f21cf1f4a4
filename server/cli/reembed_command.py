"""The command `reembed`: replaces the vectors of a store with those of the configured model."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from server.cli.progress import Progress
from server.cli.store_commands import open_store_folder, say
from server.config.load import Config
from stilltrue.errors import StoreTrouble

_MODEL_WAIT_S = 3600.0


def register(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the command line; `commands` is the result of `add_subparsers`."""
    reembed = commands.add_parser(
        "reembed", parents=[common], help="embed every text again with the configured model, while servers run"
    )
    reembed.set_defaults(run=_reembed)


def _reembed(options: argparse.Namespace, config: Config) -> int:
    from server.wiring import Models
    from store.admin.reembed import reembed
    from tools.support.context import embed

    store = open_store_folder(options, config)
    with options.quiet():
        embedding = Models(config.embedding).embedding()
        embedder = embedding.get(_MODEL_WAIT_S)
    if embedder is None:
        raise StoreTrouble(
            f"The store cannot be re-embedded because there is no model: {embedding.problem}.",
            "Configure the model for the store in the section [embedding]. Nothing was changed.",
        )
    space, before = embedder.fingerprint, store.log.fingerprint
    make = partial(embed, embedder, sketches=config.recall.late_share > 0)
    try:
        with options.quiet():
            number = reembed(store, space, make, partial(say, to_stderr=True), Progress("embedded"))
    except KeyboardInterrupt:
        say("Stopped. The store is unchanged; run the command again to continue.", to_stderr=True)
        return 1
    if not number and store.log.fingerprint == before:
        say(f"There is nothing to be done: every text already has a vector of {before or space}.")
        return 0
    say(f"{number} texts were embedded. The store's vectors are of {space} now; they were of {before or 'none'}.")
    return 0
