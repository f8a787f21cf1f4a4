"""The commands for a person who keeps a store: `export`, `import`, `backup`, `check`, `erase`.

Everything heavy is imported when a command runs. What they have to say goes to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from server.config import Config
from stilltrue.__main__ import quiet_stdout
from stilltrue.errors import BadConfig, Refused, StoreTrouble

if TYPE_CHECKING:
    from stilltrue.event import Event
    from store.whole import Whole


def register(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds these commands to the command line; `commands` is what `add_subparsers` made."""
    export = commands.add_parser("export", parents=[common], help="write the whole log as JSON lines, or as pages")
    export.add_argument("--format", choices=("jsonl", "markdown"), default="jsonl")
    export.add_argument(
        "--output", metavar="PATH", help="a file, or an empty folder for markdown; stdout if not given"
    )
    export.set_defaults(run=_export)
    bring = commands.add_parser("import", parents=[common], help="bring an exported log in, whole or not at all")
    bring.add_argument("file", metavar="FILE", help="what `stilltrue export` wrote; - for stdin")
    bring.set_defaults(run=_import)
    backup = commands.add_parser("backup", parents=[common], help="copy the store while servers run, and verify it")
    backup.add_argument("folder", metavar="DIR", help="an empty folder, or one that is not there yet")
    backup.set_defaults(run=_backup)
    check = commands.add_parser("check", parents=[common], help="verify log, links, indices and counts")
    check.add_argument("--repair", action="store_true", help="make anew from the rows what follows from them")
    check.set_defaults(run=_check)
    erase = commands.add_parser("erase", parents=[common], help="take the words of notes out of the store for good")
    erase.add_argument("notes", metavar="NOTE", nargs="*", help="the id of a note")
    erase.add_argument("--subject", metavar="S", help="all notes that name this subject and no other")
    erase.add_argument("--shared", action="store_true", help="with --subject: those that name others too")
    erase.add_argument(
        "--backup", metavar="DIR", action="append", default=[], help="in this copy as well; repeatable"
    )
    erase.add_argument("--yes", action="store_true", help="do not ask")
    erase.set_defaults(run=_erase)


def _open(config: Config, folder: str | Path | None = None) -> Whole:
    from store.whole import open_whole

    with quiet_stdout():
        return open_whole(folder or config.store.folder(), lock_timeout_s=config.store.lock_timeout_s)


def _export(options: argparse.Namespace, config: Config) -> int:
    from server.wiring import utc_now
    from stilltrue.exchange import lines

    if options.format == "markdown" and not options.output:
        raise BadConfig("--format markdown writes several files.", "Name an empty folder for them with --output.")
    events = _open(config).events()
    if options.format == "markdown":
        return _export_pages(events, Path(options.output), config)
    content = b"".join(line.encode() + b"\n" for line in lines(events, utc_now()))
    if options.output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return 0
    from store.durable import write_whole
    from store.trouble import explained

    target = Path(options.output).expanduser().absolute()
    with explained(target, "to be written"):
        write_whole(target, content)
    _say(f"{len(events)} events were written to {target}.", to_stderr=True)
    return 0


def _export_pages(events: Sequence[Event], folder: Path, config: Config) -> int:
    from server.wiring import utc_now
    from stilltrue.chain import chains
    from stilltrue.pages import pages
    from stilltrue.voice import Voice
    from store.trouble import explained

    folder = folder.expanduser().absolute()
    now = utc_now()
    made = pages(chains(events, now), config.classes, Voice(config.memory.tzinfo()), now)
    with explained(folder, "to be written"):
        if folder.exists() and any(folder.iterdir()):
            raise StoreTrouble(f"{folder} is not empty.", "Name a folder that is empty or not there yet.")
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    _say(f"{len(made) - 1} subjects were written to {folder}, a page each; _index.md lists them.", to_stderr=True)
    return 0


def _import(options: argparse.Namespace, config: Config) -> int:
    from server.wiring import Home
    from stilltrue.exchange import read
    from tools.incoming import bring

    try:
        with sys.stdin.buffer if options.file == "-" else Path(options.file).expanduser().open("rb") as stream:
            found = read(stream)
    except OSError as error:
        raise Refused("bad_file", f"{options.file} cannot be read: {error}.", "Name a file that can.") from error
    home = Home(config)
    try:
        with quiet_stdout():
            keeper = home.keeper()
        brought = bring(keeper, found, _Progress())
    finally:
        home.close()
    _say(f"{brought.events} events were imported, {brought.notes} of them notes.")
    if brought.problem:
        _say(f"They are found by their words only: {brought.problem}.")
    return 0


def _backup(options: argparse.Namespace, config: Config) -> int:
    from store.copying import backup

    made = backup(_open(config), options.folder)
    _say(f"{made.events} events in {made.rows} rows were copied to {made.folder} ({made.size_bytes:,} bytes).")
    _say("The copy was opened and compared with the store. To use it, give its folder as --store.")
    return 0


def _check(options: argparse.Namespace, config: Config) -> int:
    from store.checking import check, repair

    whole = _open(config)
    report = check(whole)
    if options.repair and (report.missing or report.indices_wrong):
        for problem in report.problems:
            _say(f"found: {problem}")
        repair(whole, report)
        _say("The indices, and the rows that are indices, were made anew from the log.")
        report = check(whole)
    _say(", ".join(f"{number} {kind}" for kind, number in sorted(report.counts.items())) or "The log is empty.")
    for remark in report.remarks:
        _say(f"note: {remark}")
    for problem in report.problems:
        _say(f"problem: {problem}")
    _say(f"{len(report.problems)} problems." if report.problems else "Everything is as it should be.")
    return 1 if report.problems else 0


def _erase(options: argparse.Namespace, config: Config) -> int:
    from server.erasing import erase_everywhere, select

    if bool(options.notes) == bool(options.subject):
        raise BadConfig("erase is told either the ids of notes or a --subject.", "Give one of them.")
    stores = [_open(config), *(_open(config, folder) for folder in options.backup)]
    chosen = select(stores[0].events(), options.notes, options.subject, shared=options.shared)
    for line in chosen.lines:
        _say(line)
    if not chosen.note_ids:
        _say("There is nothing to erase.")
        return 0
    if not options.yes:
        _confirm(len(chosen.note_ids))
    return erase_everywhere(stores, chosen.note_ids, secrets.randbits(29), _say)


def _confirm(number: int) -> None:
    if not sys.stdin.isatty():
        raise BadConfig("erase asks before it erases, and nobody is there to answer.", "Give --yes.")
    sys.stderr.write(f"Erase {number} {'note' if number == 1 else 'notes'} for good? Type yes: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() != "yes":
        raise Refused("not_confirmed", "Nothing was erased.", "")


class _Progress:
    """Says on stderr how far it is: in one line on a terminal, else in a line for each tenth."""

    def __init__(self) -> None:
        self._tenth = 0

    def __call__(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\rembedded {done} of {total}" + ("\n" if done == total else ""))
        elif done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            sys.stderr.write(f"embedded {done} of {total}\n")


def _say(text: str, *, to_stderr: bool = False) -> None:
    stream = sys.stderr if to_stderr else sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
