"""The commands for the operator of a store: `export`, `import`, `backup`, `check`, `erase`.

Heavy modules are imported when a command runs. Results go to stdout, progress to stderr.
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
from stilltrue.errors import BadConfig, Refused, StoreTrouble

if TYPE_CHECKING:
    from stilltrue.event import Event
    from store.admin.check import Report
    from store.folder.backend import FolderBackend
    from store.lance.backend import Backend


def register(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add these commands to the command line; `commands` is the result of `add_subparsers`."""
    export = commands.add_parser(
        "export", parents=[common], help="export the whole log as JSON lines or Markdown pages"
    )
    export.add_argument("--format", choices=("jsonl", "markdown"), default="jsonl")
    export.add_argument("--output", metavar="PATH", help="a file, or an empty folder for markdown (default: stdout)")
    export.set_defaults(run=_export)
    bring = commands.add_parser("import", parents=[common], help="import an exported log, all of it or nothing")
    bring.add_argument("file", metavar="FILE", help="the output of `stilltrue export`; - for stdin")
    bring.set_defaults(run=_import)
    backup = commands.add_parser("backup", parents=[common], help="copy the store while servers run, and verify it")
    backup.add_argument("folder", metavar="DIR", help="an empty or new folder")
    backup.set_defaults(run=_backup)
    check = commands.add_parser("check", parents=[common], help="verify the log, links, indices and counts")
    check.add_argument("--repair", action="store_true", help="rebuild from the rows whatever is derived from them")
    check.set_defaults(run=_check)
    erase = commands.add_parser("erase", parents=[common], help="remove the text of notes from the store for good")
    erase.add_argument("notes", metavar="NOTE", nargs="*", help="the id of a note")
    erase.add_argument("--subject", metavar="S", help="all notes about this subject and no other")
    erase.add_argument(
        "--shared", action="store_true", help="with --subject: include notes about other subjects as well"
    )
    erase.add_argument(
        "--backup", metavar="DIR", action="append", default=[], help="erase from this copy as well; repeatable"
    )
    erase.add_argument("--yes", action="store_true", help="do not ask")
    erase.set_defaults(run=_erase)


def open_store_folder(options: argparse.Namespace, config: Config, folder: str | Path | None = None) -> FolderBackend:
    """Open the existing store in this folder, or in the configured one. Raises StoreTrouble if there is none."""
    from store.folder.backend import open_existing

    with options.quiet():
        return open_existing(folder or config.store.location(), lock_timeout_s=config.store.lock_timeout_s)


def _open_remote(options: argparse.Namespace, config: Config) -> Backend:
    """Open the existing store that is configured and not in a folder. Raises StoreTrouble if there is none."""
    from store.lance.engine import load
    from store.open import open_remote

    settings = config.store
    with options.quiet():
        load()
        return open_remote(settings.uri, settings.lock_timeout_s, settings.endpoint, settings.region, create=False)


def _events(options: argparse.Namespace, config: Config) -> list[Event]:
    """Every event of the store at one moment, whether it is in a folder or remote."""
    if not config.store.remote:
        return open_store_folder(options, config).events()
    from store.errors import explained
    from store.lance.compare import all_events

    backend = _open_remote(options, config)
    with explained(backend.location, "to be read"):
        return backend.read(all_events)


def _export(options: argparse.Namespace, config: Config) -> int:
    from server.wiring import utc_now
    from stilltrue.formats.jsonl import lines

    if options.format == "markdown" and not options.output:
        raise BadConfig("--format markdown writes several files.", "Name an empty folder with --output.")
    events = _events(options, config)
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
            raise StoreTrouble(f"{folder} is not empty.", "Name an empty or new folder.")
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    say(f"{len(made) - 1} subjects were written to {folder}, one page each; _index.md lists them.", to_stderr=True)
    return 0


def _import(options: argparse.Namespace, config: Config) -> int:
    from server.runtime import StoreRuntime
    from stilltrue.formats.jsonl import read
    from tools.admin.import_log import bring

    try:
        with sys.stdin.buffer if options.file == "-" else Path(options.file).expanduser().open("rb") as stream:
            found = read(stream)
    except OSError as error:
        raise Refused("bad_file", f"{options.file} cannot be read: {error}.", "Name a readable file.") from error
    runtime = StoreRuntime(config)
    try:
        with options.quiet():
            context = runtime.context()
        imported = bring(context, found, Progress("embedded"))
        context.store.maintain()
    finally:
        runtime.close()
    say(f"{imported.events} events were imported, {imported.notes} of them notes.")
    if imported.problem:
        say(f"They can be found by their words only: {imported.problem}.")
    return 0


def _backup(options: argparse.Namespace, config: Config) -> int:
    from store.admin.backup import backup

    made = backup(open_store_folder(options, config), options.folder)
    say(f"{made.events} events in {made.rows} rows were copied to {made.folder} ({made.size_bytes:,} bytes).")
    say("The copy was opened and matches the store. To use it, pass its folder as --store.")
    return 0


def _check(options: argparse.Namespace, config: Config) -> int:
    from store.admin.check import check, examined, repair

    if config.store.remote:
        if options.repair:
            raise StoreTrouble(
                f"The store {config.store.uri} is not in a folder, and only stores in a folder can be repaired.",
                "Export it and import the lines under a new prefix, which rebuilds everything derived from the log.",
            )
        return _print_report(examined(_open_remote(options, config).table))
    store = open_store_folder(options, config)
    report = check(store)
    if options.repair and (report.missing or report.indices_wrong):
        for problem in report.problems:
            say(f"found: {problem}")
        repair(store, report)
        say("The indices and the index rows were rebuilt from the log.")
        report = check(store)
    return _print_report(report)


def _print_report(report: Report) -> int:
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
        raise BadConfig("erase needs either the ids of notes or --subject.", "Give one of the two.")
    folders = [None, *options.backup]
    stores = [open_store_folder(options, config, folder) for folder in folders]
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
        raise BadConfig("erase asks for confirmation, and stdin is not a terminal.", "Add --yes.")
    sys.stderr.write(f"Erase {number} {'note' if number == 1 else 'notes'} for good? Type yes: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() != "yes":
        raise Refused("not_confirmed", "Nothing was erased.", "")


def say(text: str, *, to_stderr: bool = False) -> None:
    """Write a line for the user, replacing characters that the stream cannot encode."""
    stream = sys.stderr if to_stderr else sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
