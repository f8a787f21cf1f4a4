"""The command line, and the commands `serve`, `token`, `demo` and `status`."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType

from server.cli import reembed_command, store_commands
from server.config.load import Config, load
from stilltrue import __version__
from stilltrue.errors import BadConfig, StilltrueError, StoreTrouble

_BAD_CONFIG = 2
_WITHOUT_STORE = MappingProxyType(
    {
        "token": "Tokens are in the folder http.path, beside the stores of the tenants.",
        "demo": "It makes a store of its own; --keep DIR keeps it.",
    }
)


def main(
    argv: Sequence[str] | None = None,
    parent: int | None = None,
    quiet: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> int:
    """Run a command and return its exit code: 0 for success, 1 for failure, 2 for a wrong command line or setting.

    `parent` is the process that started this one, if that was looked up before this module was imported. `quiet`
    keeps stdout clean while libraries load; commands find it as `options.quiet`.
    """
    options = _parser().parse_args(argv, argparse.Namespace(parent=parent or os.getppid(), quiet=quiet))
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
        prog="stilltrue", description="A memory for LLM agents that returns what is still true."
    )
    parser.add_argument("--version", action="version", version=f"stilltrue {__version__}")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--config", metavar="FILE", help="the configuration file")
    common.add_argument("--store", metavar="DIR", help="the location of the store (store.uri)")
    common.add_argument(
        "--set", metavar="SECTION.KEY=VALUE", action="append", default=[], help="set any setting by name; repeatable"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", parents=[common], help="serve MCP over stdin and stdout, or over HTTP")
    serve.add_argument("--ephemeral", action="store_true", help="keep the memory in this process only")
    serve.add_argument("--http", action="store_true", help="serve Streamable HTTP instead of stdin and stdout")
    serve.add_argument("--host", help="the address to listen on (http.host)")
    serve.add_argument("--port", help="the port to listen on (http.port)")
    serve.set_defaults(run=_serve)
    token = commands.add_parser("token", parents=[common], help="create, list and revoke tokens for HTTP")
    token.add_argument("action", choices=("create", "list", "revoke"))
    token.add_argument("--tenant", help="whose memory the token opens (default: local, the memory of stdio)")
    token.add_argument("--name", help="a name that distinguishes it from the other tokens of the tenant")
    token.set_defaults(run=_token)
    demo = commands.add_parser("demo", parents=[common], help="play two scenarios that show what it is for")
    demo.add_argument("--keep", metavar="DIR", help="keep the demo's store in this folder")
    demo.set_defaults(run=_demo)
    status = commands.add_parser("status", parents=[common], help="show what the store holds and its problems")
    status.set_defaults(run=_status)
    store_commands.register(commands, common)
    reembed_command.register(commands, common)
    return parser


def _flags(options: argparse.Namespace) -> dict[str, str]:
    flags: dict[str, str] = {}
    for each in options.set:
        name, equals, value = each.partition("=")
        if not equals:
            raise BadConfig(f"--set {each}: expected SECTION.KEY=VALUE.", "")
        flags[name.strip()] = value
    for option, name in (("store", "store.uri"), ("host", "http.host"), ("port", "http.port")):
        if (value := getattr(options, option, None)) is not None:
            if not value.strip():
                raise BadConfig(f"--{option} is empty.", "Give it a value, or leave it out.")
            flags[name] = value
    if getattr(options, "store", None) and options.command in _WITHOUT_STORE:
        raise BadConfig(f"{options.command} does not use --store.", _WITHOUT_STORE[options.command])
    if (options.command == "serve" and not options.http) and (options.host or options.port):
        raise BadConfig("--host and --port are only for HTTP.", "Add --http.")
    return flags


def _serve(options: argparse.Namespace, config: Config) -> int:
    if options.http:
        from server.http import serve

        serve.serve(config, ephemeral=options.ephemeral)
        return 0
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # during the imports; the server installs its own handler
    with options.quiet():
        from server import stdio
        from server.protocol.app import build
        from server.runtime import StoreRuntime

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
        first = not tokens.exist
        print(tokens.create(tenant, "default" if options.name is None else options.name, utc_now()))
        print(f"This token of tenant {tenant} is shown only once; {tokens.path} stores its hash.", file=sys.stderr)
        if first:
            print("It is the first token: restart any server that runs without tokens.", file=sys.stderr)
    elif options.action == "revoke":
        revoked = tokens.revoke(tenant, options.name)
        print(f"The token {revoked.name!r} of tenant {revoked.tenant} has been revoked.")
    else:
        for each in tokens.all():
            if options.tenant in (None, each.tenant) and options.name in (None, each.name):
                print(f"{each.tenant}\t{each.name}\t{each.id}\t{each.created}")
    return 0


def _demo(options: argparse.Namespace, config: Config) -> int:
    from server.cli.demo import run

    return run(options.keep)


def _status(options: argparse.Namespace, config: Config) -> int:
    from server.runtime import StoreRuntime

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
        raise StoreTrouble("The store has problems.", "They are listed above.")
    return 0
