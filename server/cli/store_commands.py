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

from server.cli.progress import Progress
from server.config.load import Config
from stilltrue.__main__ import quiet_stdout
from stilltrue.errors import BadConfig, Refused, StoreTrouble

if TYPE_CHECKING:
    from stilltrue.event import Event
    from store.admin.check import Report
    from store.folder.whole import Whole
    from store.lance.backend import Backend


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


def open_store_folder(config: Config, folder: str | Path | None = None) -> Whole:
    """The store in this folder, in that of the configuration if none is given. It has to be there."""
    from store.folder.whole import open_whole

    with quiet_stdout():
        return open_whole(folder or config.store.location(), lock_timeout_s=config.store.lock_timeout_s)


def _open_remote(config: Config) -> Backend:
    """The store of the configuration, which is not in a folder. It has to be there."""
    from store.lance.engine import load
    from store.object.opening import open_remote

    chosen = config.store
    with quiet_stdout():
        load()
        return open_remote(chosen.uri, chosen.lock_timeout_s, chosen.endpoint, chosen.region, create=False)


def _events(config: Config) -> list[Event]:
    """Every event of the store, wherever it lies, as of one moment."""
    if not config.store.remote:
        return open_store_folder(config).events()
    from store.errors import explained
    from store.lance.compare import all_events

    place = _open_remote(config)
    with explained(place.location, "to be read"):
        return place.read(all_events)


def _export(options: argparse.Namespace, config: Config) -> int:
    from server.wiring import utc_now
    from stilltrue.formats.jsonl import lines

    if options.format == "markdown" and not options.output:
        raise BadConfig("--format markdown writes several files.", "Name an empty folder for them with --output.")
    events = _events(config)
    if options.format == "markdown":
        return _export_pages(events, Path(options.output), config)
    content = b"".join(line.encode() + b"\n" for line in lines(events, utc_now()))
    if options.output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return 0
    from store.errors import explained
    from store.files import write_whole

    target = Path(options.output).expanduser().absolute()
    with explained(target, "to be written"):
        write_whole(target, content)
    say(f"{len(events)} events were written to {target}.", to_stderr=True)
    return 0


def _export_pages(events: Sequence[Event], folder: Path, config: Config) -> int:
    from server.wiring import utc_now
    from stilltrue.chain import chains
    from stilltrue.formats.markdown import pages
    from stilltrue.text.formatting import Formatter
    from store.errors import explained

    folder = folder.expanduser().absolute()
    now = utc_now()
    made = pages(chains(events, now), config.classes, Formatter(config.memory.tzinfo()), now)
    with explained(folder, "to be written"):
        if folder.exists() and any(folder.iterdir()):
            raise StoreTrouble(f"{folder} is not empty.", "Name a folder that is empty or not there yet.")
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    say(f"{len(made) - 1} subjects were written to {folder}, a page each; _index.md lists them.", to_stderr=True)
    return 0


def _import(options: argparse.Namespace, config: Config) -> int:
    from server.runtime import StoreRuntime
    from stilltrue.formats.jsonl import read
    from tools.admin.import_log import bring

    try:
        with sys.stdin.buffer if options.file == "-" else Path(options.file).expanduser().open("rb") as stream:
            found = read(stream)
    except OSError as error:
        raise Refused("bad_file", f"{options.file} cannot be read: {error}.", "Name a file that can.") from error
    runtime = StoreRuntime(config)
    try:
        with quiet_stdout():
            context = runtime.context()
        brought = bring(context, found, Progress("embedded"))
        context.store.maintain()
    finally:
        runtime.close()
    say(f"{brought.events} events were imported, {brought.notes} of them notes.")
    if brought.problem:
        say(f"They are found by their words only: {brought.problem}.")
    return 0


def _backup(options: argparse.Namespace, config: Config) -> int:
    from store.admin.backup import backup

    made = backup(open_store_folder(config), options.folder)
    say(f"{made.events} events in {made.rows} rows were copied to {made.folder} ({made.size_bytes:,} bytes).")
    say("The copy was opened and compared with the store. To use it, give its folder as --store.")
    return 0


def _check(options: argparse.Namespace, config: Config) -> int:
    from store.admin.check import check, examined, repair

    if config.store.remote:
        if options.repair:
            raise StoreTrouble(
                f"The store {config.store.uri} is not in a folder, and only such a store is repaired.",
                "Export it and import the lines into a new prefix: all that follows from the log is made anew there.",
            )
        return _told(examined(_open_remote(config).table))
    whole = open_store_folder(config)
    report = check(whole)
    if options.repair and (report.missing or report.indices_wrong):
        for problem in report.problems:
            say(f"found: {problem}")
        repair(whole, report)
        say("The indices, and the rows that are indices, were made anew from the log.")
        report = check(whole)
    return _told(report)


def _told(report: Report) -> int:
    say(", ".join(f"{number} {kind}" for kind, number in sorted(report.counts.items())) or "The log is empty.")
    for remark in report.remarks:
        say(f"note: {remark}")
    for problem in report.problems:
        say(f"problem: {problem}")
    say(f"{len(report.problems)} problems." if report.problems else "Everything is as it should be.")
    return 1 if report.problems else 0


def _erase(options: argparse.Namespace, config: Config) -> int:
    from server.cli.erase_command import erase_everywhere, select

    if bool(options.notes) == bool(options.subject):
        raise BadConfig("erase is told either the ids of notes or a --subject.", "Give one of them.")
    stores = [open_store_folder(config), *(open_store_folder(config, folder) for folder in options.backup)]
    chosen = select(stores[0].events(), options.notes, options.subject, shared=options.shared)
    for line in chosen.lines:
        say(line)
    if not chosen.note_ids:
        say("There is nothing to erase.")
        return 0
    if not options.yes:
        _confirm(len(chosen.note_ids))
    return erase_everywhere(stores, chosen.note_ids, secrets.randbits(29), say)


def _confirm(number: int) -> None:
    if not sys.stdin.isatty():
        raise BadConfig("erase asks before it erases, and nobody is there to answer.", "Give --yes.")
    sys.stderr.write(f"Erase {number} {'note' if number == 1 else 'notes'} for good? Type yes: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() != "yes":
        raise Refused("not_confirmed", "Nothing was erased.", "")


def say(text: str, *, to_stderr: bool = False) -> None:
    """Writes a line for the person who runs the command."""
    stream = sys.stderr if to_stderr else sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
