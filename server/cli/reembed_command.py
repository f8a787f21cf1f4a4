"""The command `reembed`: gives the texts of a store vectors of the model that is configured."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from server.cli.progress import Progress
from server.cli.store_commands import open_store_folder, say
from server.config.load import Config
from stilltrue.__main__ import quiet_stdout
from stilltrue.errors import StoreTrouble

_MODEL_WAIT_S = 3600.0


def register(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds the command to the command line; `commands` is what `add_subparsers` made."""
    reembed = commands.add_parser(
        "reembed", parents=[common], help="embed every text anew, with the model that is configured; servers go on"
    )
    reembed.set_defaults(run=_reembed)


def _reembed(options: argparse.Namespace, config: Config) -> int:
    from server.wiring import Models
    from store.admin.reembed import reembed
    from tools.support.context import embed

    whole = open_store_folder(config)
    with quiet_stdout():
        embedding = Models(config.embedding).embedding()
        embedder = embedding.get(_MODEL_WAIT_S)
    if embedder is None:
        raise StoreTrouble(
            f"The store cannot be re-embedded, since there is no model: {embedding.problem}",
            "Set the section [embedding] to the model that the store is to have. Nothing was changed.",
        )
    space, before = embedder.fingerprint, whole.log.fingerprint
    make = partial(embed, embedder, sketches=config.recall.late_share > 0)
    try:
        with quiet_stdout():
            number = reembed(whole, space, make, partial(say, to_stderr=True), Progress("embedded"))
    except KeyboardInterrupt:
        say("Stopped. The store is as it was; run this again to go on.", to_stderr=True)
        return 1
    if not number and whole.log.fingerprint == before:
        say(f"There is nothing to be done: every text of the store has its vector of {before or space}.")
        return 0
    say(f"{number} texts were embedded. The store's vectors are of {space} now; they were of {before or 'none'}.")
    return 0
