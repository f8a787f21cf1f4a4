"""`stilltrue demo`: two scenarios that show what the product is for, on a real server, store and model.

Each shows, side by side, the six notes that a plain memory would return to the agent (by cosine and recency) and
what stilltrue returns.
"""

from __future__ import annotations

import math
import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from server.cli import demo_notes
from server.config.load import load
from server.runtime import StoreRuntime
from server.wiring import utc_now
from stilltrue.ids import ENTROPY_BITS, stamp
from stilltrue.note import USER, Note
from tools.admin.bulk_load import append_notes

if TYPE_CHECKING:
    from mcp import Client

    from store.port import Embedder

_TOP = 6
_MODEL_WAIT_S = 30.0
_SHOWN = 3
"""How many memories of an answer are printed; the rest are counted. Requirements are always printed."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A note as a plain memory stores it: a text and the time it was stored."""

    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a scenario: what the agent received, and whether the decisive fact was in it."""

    answer: str
    held: bool
    explanation: str


def run(keep: str | None = None) -> int:
    """Play both scenarios. Returns 0 if stilltrue delivered the requirement and the corrections, else 1."""
    console = Console()
    with nullcontext(keep) if keep else tempfile.TemporaryDirectory(prefix="stilltrue-demo-") as folder:
        store = str(Path(folder).resolve())
        console.print(f"[dim]A new store at {store}, served by a process of its own over MCP.[/dim]")
        held = anyio.run(_play, console, store, _seed(store))
    if keep:
        console.print(f"The store was kept. Inspect it with: [bold]stilltrue status --store {keep}[/bold]")
    return 0 if held else 1


@dataclass(frozen=True, slots=True)
class Past:
    """What the store holds when the scenarios begin, as a plain memory would store it, and the model both use."""

    lunch: list[Stored]
    tests: list[Stored]
    embedder: Embedder


def _seed(store: str) -> Past:
    """Write the team's past into the store in one append; `remember` would write the same notes one by one."""
    now = utc_now()
    allergy = _note(
        demo_notes.ALLERGY, now - timedelta(days=demo_notes.ALLERGY_AGE_DAYS), ("priya", "team"), "allergy"
    )
    lunch = _spread(demo_notes.LUNCH_NOTES, now, "team")
    tests = _spread(demo_notes.TEST_NOTES, now, "repo:shop")
    runtime = StoreRuntime(load({"store.uri": store}, environ={}))
    context = runtime.context()
    embedder, problem = context.embedder(wait_s=_MODEL_WAIT_S)
    if embedder is None:
        raise SystemExit(f"stilltrue: the demo needs the embedding model, but {problem}")
    append_notes(context, [allergy, *lunch, *tests], embedder)
    runtime.close()
    return Past(_as_stored([allergy, *lunch]), _as_stored(tests), embedder)


def _spread(texts: Sequence[str], now: datetime, subject: str) -> list[Note]:
    """The texts as notes spread over the last sixty days."""
    ages = [timedelta(days=60 - 59 * position / len(texts)) for position in range(len(texts))]
    return [_note(text, now - age, (subject,)) for text, age in zip(texts, ages, strict=True)]


def _note(text: str, at: datetime, subjects: tuple[str, ...], klass: str = "note") -> Note:
    made = stamp(at, secrets.randbits(ENTROPY_BITS))
    return Note(made.id, text, subjects, klass, USER, made.at)


def _as_stored(notes: Sequence[Note]) -> list[Stored]:
    return [Stored(note.text, note.recorded_at) for note in notes]


async def _play(console: Console, store: str, past: Past) -> bool:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "stilltrue", "serve", "--store", store],
        env={**os.environ, "STILLTRUE_SERVER_LOG_LEVEL": "error"},
    )
    with open(os.devnull, "w") as quiet:
        async with Client(stdio_client(command, errlog=quiet)) as client:
            await _settle(client)
            first = await _lunch(console, client, past)
            second = await _interpreter(console, client, past)
    return first and second


async def _settle(client: Client) -> None:
    """Wait for the server's model: until it is loaded, recall searches by words alone."""
    with anyio.move_on_after(_MODEL_WAIT_S):
        while (await _call(client, "recall", query="lunch", budget_tokens=0)).structured_content.get("degraded"):
            await anyio.sleep(0.1)


async def _lunch(console: Console, client: Client, past: Past) -> bool:
    stored = past.lunch
    console.rule("[bold]1  The fact that decides the answer loses a ranking contest")
    console.print(f"An agent is asked: [bold]{demo_notes.LUNCH}[/bold]")
    console.print(
        f"Fourteen months ago it learned: [italic]{demo_notes.ALLERGY}[/italic] "
        f"It has stored {len(stored) - 1} notes about restaurants and Thursdays since.\n"
    )
    plain = _plain(past.embedder, demo_notes.LUNCH, stored)
    answer = await _call(client, "recall", query=demo_notes.LUNCH, subjects=["team"])
    requirements = answer.structured_content["requirements"]
    held = any(note["text"] == demo_notes.ALLERGY for each in requirements for note in each["rules"])
    rank = 1 + [each.text for each in plain].index(demo_notes.ALLERGY)
    _beside(
        console,
        plain,
        Verdict("", rank <= _TOP, f"The allergy ranks {rank} of {len(plain)}: the agent never sees it."),
        Verdict(
            answer.content[0].text,
            held,
            "The allergy does not compete in the ranking: requirements are always returned, at the end.",
        ),
        wanted=[demo_notes.ALLERGY],
    )
    return held


async def _interpreter(console: Console, client: Client, past: Past) -> bool:
    console.rule("[bold]2  A note comes back without its correction")
    about = ["repo:shop"]
    note = await _call(
        client, "remember", text=demo_notes.INTERPRETER, subjects=about, klass="working_context", source="user"
    )
    better = await _call(
        client, "supersede", note_ids=[note.structured_content["id"]], text=demo_notes.CORRECTION,
        relation="correction", reason="the system interpreter lacks the plugins", source="user",
    )  # fmt: skip
    await _call(
        client, "supersede", note_ids=[better.structured_content["id"]], text=demo_notes.SECOND_CORRECTION,
        relation="correction", reason="the virtual environment was stale", source="user",
    )  # fmt: skip
    texts = [demo_notes.INTERPRETER, demo_notes.CORRECTION, demo_notes.SECOND_CORRECTION]
    console.print(
        f"The agent learned [italic]{texts[0]}[/italic] It was corrected, and the correction was corrected in turn."
    )
    console.print(f"It asks: [bold]{demo_notes.TESTS_QUESTION}[/bold]\n")
    now = utc_now()
    plain = _plain(past.embedder, demo_notes.TESTS_QUESTION, [*past.tests, *(Stored(text, now) for text in texts)])
    answer = await _call(client, "recall", query=demo_notes.TESTS_QUESTION, subjects=about)
    chains = answer.structured_content["chains"]
    chain = next((each for each in chains if each["lead"][0]["text"] == texts[2]), None)
    held = chain is not None and [each["text"] for each in chain.get("history", [])] == [texts[1], texts[0]]
    ranks = [1 + [each.text for each in plain].index(text) for text in texts]
    _beside(
        console,
        plain,
        Verdict(
            "",
            ranks[2] < min(ranks[:2]),
            f"The note ranks {ranks[0]}, its correction {ranks[1]}, the true one {ranks[2]}.",
        ),
        Verdict(
            answer.content[0].text,
            held,
            "Whichever of the three matches, the answer is one chain, led by what is true.",
        ),
        wanted=texts,
    )
    return held


def _plain(embedder: Embedder, query: str, stored: Sequence[Stored]) -> list[Stored]:
    """The notes as a plain memory ranks them: 0.7 cosine + 0.3 exp(-age / 90 days)."""
    vectors = embedder.embed([query, *(each.text for each in stored)])
    now = utc_now()
    scores = [
        0.7 * float(vector @ vectors[0]) + 0.3 * math.exp(-((now - each.at) / timedelta(days=1)) / 90)
        for vector, each in zip(vectors[1:], stored, strict=True)
    ]
    return [each for _, each in sorted(zip(scores, stored, strict=True), key=lambda pair: -pair[0])]


async def _call(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    if answer.is_error:
        raise SystemExit(f"stilltrue: {tool} failed in the demo: {answer.content}")
    return answer


def _beside(console: Console, plain: Sequence[Stored], left: Verdict, right: Verdict, wanted: Sequence[str]) -> None:
    """Print both answers of a scenario side by side, with the notes that matter in colour."""
    top = Text()
    for rank, each in enumerate(plain[:_TOP], start=1):
        top.append(f"{rank}. {each.text}\n", style="yellow" if each.text in wanted else "")
    shown = Text(_shortened(right.answer))
    for text in wanted:
        shown.highlight_words([text], style="bold green" if text == wanted[-1] else "yellow")
    shown.highlight_regex(r"REQUIREMENTS.*|WRONG:|no longer true:", style="bold magenta")
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(ratio=2)
    table.add_column(ratio=3)
    table.add_row(
        Panel(Text.assemble(top, "\n", _outcome(left)), title="a plain memory, top 6", border_style="red"),
        Panel(Text.assemble(shown, "\n\n", _outcome(right)), title="stilltrue", border_style="green"),
    )
    console.print(table)


def _shortened(answer: str) -> str:
    """The answer with its first memories and all requirements; the memories in between are counted."""
    head, mark, requirements = answer.partition("\nREQUIREMENTS")
    memories = head.split("\n* ")
    more = len(memories) - 1 - _SHOWN
    shown = "\n* ".join(memories[: _SHOWN + 1])
    return shown + (f"\n[... {more} more]" if more > 0 else "") + mark + requirements


def _outcome(verdict: Verdict) -> Text:
    return Text(
        f"{'HELD' if verdict.held else 'FAILED'}: {verdict.explanation}",
        style="bold green" if verdict.held else "bold red",
    )
