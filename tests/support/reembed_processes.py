"""Re-embeds a store with a stand-in for another model: in this process, or in one that is killed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from fakes import OtherModel

from store.admin.reembed import reembed
from store.folder.backend import open_existing
from store.port import Embedded
from tools.support.context import embed

OTHER = OtherModel()

MOMENTS = [
    ("Prepared.keep", True),
    ("begin", True),
    ("_fill", False),
    ("_fill", True),
    ("_bare", True),
    ("switch", False),
    ("write_meta", True),
    ("settle", True),
]
"""Steps right before or right after which it is killed in turn."""

PROGRAM = """
import os, signal, sys
import reembed_processes
from store.admin import reembed as work
from store.folder import generations
step, after, folder = sys.argv[1], sys.argv[2] == "True", sys.argv[3]
owner = work.Prepared if "." in step else generations if step in ("write_meta", "settle") else work
name = step.rpartition(".")[2]
whole = getattr(owner, name)
def die(*arguments, **more):
    if after:
        whole(*arguments, **more)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(owner, name, die)
reembed_processes.run(folder)
"""
"""Arguments: the step, whether to die after it, and the folder."""


def run(
    folder: Path | str, make: Callable[[str, tuple[str, ...]], Embedded] | None = None
) -> tuple[int, list[str], list[str]]:
    """Returns the number of texts, what was said, and the texts that were embedded."""
    said: list[str] = []
    seen: list[str] = []

    def embedding(text: str, cues: tuple[str, ...]) -> Embedded:
        seen.append(text)
        return (make or partial(embed, OTHER))(text, cues)

    number = reembed(open_existing(folder), OTHER.fingerprint, embedding, said.append, lambda done, total: None)
    return number, said, seen


def bytes_of_vector(text: str) -> bytes:
    """The vector of a text in the other space, as bytes that a file may hold."""
    return np.asarray(OTHER.embed([text])[0], np.float32).tobytes()
