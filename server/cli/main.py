"""The command line: `serve`, `token`, `demo`, `status`."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence
from types import MappingProxyType

from server.cli import reembed_command, store_commands
from server.config.load import Config, load
from stilltrue import __version__
from stilltrue.__main__ import quiet_stdout
from stilltrue.errors import BadConfig, StilltrueError, StoreTrouble

_BAD_CONFIG = 2
_WITHOUT_STORE = MappingProxyType(
    {
        "token": "Tokens are in the folder http.path, beside the stores of the tenants.",
        "demo": "It makes a store of its own; --keep DIR keeps it.",
    }
)


def main(argv: Sequence[str] | None = None, parent: int | None = None) -> int:
    """Run a command and return its exit code: 0 done, 1 it failed, 2 the command line or a setting is wrong.

    `parent` is the process that started this one, where it was asked before this module was imported.
    """
    options = _parser().parse_args(argv, argparse.Namespace(parent=parent or os.getppid()))
    try:
        config = load(_flags(options), file=options.config)
        for warning in config.warnings:
            print(f"stilltrue: WARNING: {warning}", file=sys.stderr)
        logging.basicConfig(
            level=config.server.log_level.upper(), stream=sys.stderr, format="stilltrue: %(levelname)s: %(message)s"
        )
        return int(options.run(options, config))
    except BadConfig as error:
        print(f"stilltrue: {error}", file=sys.stderr)
        return _BAD_CONFIG
    except StilltrueError as error:
        print(f"stilltrue: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stilltrue", description="A memory for LLM agents which returns what is still true."
    )
    parser.add_argument("--version", action="version", version=f"stilltrue {__version__}")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--config", metavar="FILE", help="the configuration file")
    common.add_argument("--store", metavar="DIR", help="where the store lies (store.uri)")
    common.add_argument(
        "--set", metavar="SECTION.KEY=VALUE", action="append", default=[], help="any setting, by its name; repeatable"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", parents=[common], help="serve MCP over stdin and stdout, or over HTTP")
    serve.add_argument("--ephemeral", action="store_true", help="keep the memory in this process only")
    serve.add_argument("--http", action="store_true", help="serve Streamable HTTP in place of stdin and stdout")
    serve.add_argument("--host", help="the address to listen on (http.host)")
    serve.add_argument("--port", help="the port to listen on (http.port)")
    serve.set_defaults(run=_serve)
    token = commands.add_parser("token", parents=[common], help="make, list and withdraw tokens for HTTP")
    token.add_argument("action", choices=("create", "list", "revoke"))
    token.add_argument("--tenant", help="whose memory it opens; local, that of stdio, unless given")
    token.add_argument("--name", help="what it is called, to tell it from others of its tenant")
    token.set_defaults(run=_token)
    demo = commands.add_parser("demo", parents=[common], help="play the two stories that it exists for")
    demo.add_argument("--keep", metavar="DIR", help="leave the store of the demo there to look at")
    demo.set_defaults(run=_demo)
    status = commands.add_parser("status", parents=[common], help="say what the store holds and whether it is well")
    status.set_defaults(run=_status)
    store_commands.register(commands, common)
    reembed_command.register(commands, common)
    return parser


def _flags(options: argparse.Namespace) -> dict[str, str]:
    flags: dict[str, str] = {}
    for each in options.set:
        name, equals, value = each.partition("=")
        if not equals:
            raise BadConfig(f"--set {each}: a setting is given as SECTION.KEY=VALUE.", "")
        flags[name.strip()] = value
    for option, name in (("store", "store.uri"), ("host", "http.host"), ("port", "http.port")):
        if (value := getattr(options, option, None)) is not None:
            if not value.strip():
                raise BadConfig(f"--{option} is empty.", "Give it a value, or leave it out.")
            flags[name] = value
    if getattr(options, "store", None) and options.command in _WITHOUT_STORE:
        raise BadConfig(f"{options.command} does not use --store.", _WITHOUT_STORE[options.command])
    if (options.command == "serve" and not options.http) and (options.host or options.port):
        raise BadConfig("--host and --port are of HTTP.", "Give --http as well.")
    return flags


def _serve(options: argparse.Namespace, config: Config) -> int:
    if options.http:
        from server.http import serve

        serve.serve(config, ephemeral=options.ephemeral)
        return 0
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # while all is imported; then the server has a handler of its own
    with quiet_stdout():
        from server import stdio
        from server.protocol.app import build
        from server.wiring import StoreRuntime

        runtime = StoreRuntime(config, ephemeral=options.ephemeral)
        print(f"stilltrue {__version__}: the store is {runtime.location}", file=sys.stderr)
        app = build(runtime)
    stdio.serve(app, runtime.close, options.parent, handshake_only=config.server.era == "handshake")
    return 0


def _token(options: argparse.Namespace, config: Config) -> int:
    from server.config.validators import TENANT
    from server.http.tokens import Tokens
    from server.tenants import LOCAL
    from server.wiring import utc_now

    tokens = Tokens(config.http.folder() / "tokens.json")
    tenant = LOCAL if options.tenant is None else options.tenant
    if not TENANT.holds(tenant):  # an unset variable in a script must not open the memory of stdio
        raise BadConfig(f"--tenant has to be {TENANT.wanted}, not {tenant!r}.", f"Leave it out for {LOCAL}.")
    if options.action == "create":
        began = not tokens.exist
        print(tokens.create(tenant, "default" if options.name is None else options.name, utc_now()))
        print(f"This token of tenant {tenant} is shown once; {tokens.path} keeps its hash.", file=sys.stderr)
        if began:
            print("It is the first one: a server that runs without tokens has to be restarted.", file=sys.stderr)
    elif options.action == "revoke":
        gone = tokens.revoke(tenant, options.name)
        print(f"The token {gone.name!r} of tenant {gone.tenant} is withdrawn.")
    else:
        for each in tokens.all():
            if options.tenant in (None, each.tenant) and options.name in (None, each.name):
                print(f"{each.tenant}\t{each.name}\t{each.id}\t{each.created}")
    return 0


def _demo(options: argparse.Namespace, config: Config) -> int:
    from server.cli.demo import run

    return run(options.keep)


def _status(options: argparse.Namespace, config: Config) -> int:
    from server.wiring import StoreRuntime

    runtime = StoreRuntime(config)
    health = runtime.context().store.health()
    print(f"store:     {health.location}")
    print(f"schema:    version {health.schema_version}")
    print(f"vectors:   {health.fingerprint or 'none yet'}")
    print(f"notes:     {health.notes} in {health.rows} rows, {health.size_bytes:,} bytes")
    for problem in health.problems:
        print(f"problem:   {problem}")
    runtime.close()
    if health.problems:
        raise StoreTrouble("The store is not well.", "See the problems above.")
    return 0
