"""What others start the server by: the registry's server.json, the bundle for Claude Desktop, the Dockerfile."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from typing import Any

import pytest
from wire import ROOT

from server.cli.main import _parser
from server.config.load import load
from server.config.settings import KEYS
from server.protocol.dispatch import Dispatcher, memory_tools
from server.runtime import StoreRuntime
from stilltrue import __version__

BUNDLE = ROOT / "packaging" / "mcpb"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
VARIABLES = {key.variable for key in KEYS}


def read(path: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / path).read_text(encoding="utf-8")))


def test_the_registry_is_told_what_there_is() -> None:
    """Version, name and command line are those of this package; the README names it too, as proof of ownership."""
    server = read("server.json")
    [package] = server["packages"]
    assert server["version"] == package["version"] == __version__
    assert package["identifier"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"]
    assert f"mcp-name: {server['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.fullmatch(r"io\.github\.[\w-]+/stilltrue", server["name"])
    assert len(server["description"]) <= 100
    assert {each["name"] for each in package["environmentVariables"]} <= VARIABLES
    assert _parser().parse_args([each["value"] for each in package["packageArguments"]]).command == "serve"


def test_the_bundle_starts_this_version_with_its_tools() -> None:
    """The manifest lists the tools that there are, and its command line and settings are known ones."""
    manifest = read("packaging/mcpb/manifest.json")
    project = tomllib.loads((BUNDLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert manifest["version"] == project["version"] == __version__
    assert project["dependencies"] == [f"stilltrue=={__version__}"]
    assert [each["name"] for each in manifest["tools"]] == [
        tool.name for tool in memory_tools(Dispatcher(StoreRuntime(load(environ={}))))
    ]
    started = manifest["server"]["mcp_config"]
    words = started["args"]
    assert (BUNDLE / manifest["server"]["entry_point"]).is_file()
    assert _parser().parse_args(words[words.index(manifest["server"]["entry_point"]) + 1 :]).command == "serve"
    asked = re.findall(r"\$\{user_config\.(\w+)\}", str(started["env"]))
    assert sorted(asked) == sorted(manifest["user_config"])
    assert set(started["env"]) <= VARIABLES


def test_what_the_bundle_asks_may_be_left_as_it_is() -> None:
    """The defaults of its form are good settings, and those of everybody else."""
    manifest = read("packaging/mcpb/manifest.json")
    defaults = {name: each["default"] for name, each in manifest["user_config"].items()}
    env = manifest["server"]["mcp_config"]["env"]
    given = {name: defaults[value.removeprefix("${user_config.").removesuffix("}")] for name, value in env.items()}
    assert load(environ=given) == load(environ={})


def test_the_container_starts_with_what_is_copied() -> None:
    """Its command lines parse, its variables are settings, its port is the default, and the image gets every room."""
    lines = dict(line.split(" ", 1) for line in DOCKERFILE.splitlines() if line)
    assert json.loads(lines["ENTRYPOINT"]) == ["stilltrue"]
    assert _parser().parse_args(json.loads(lines["CMD"])).http
    environ = dict(each.split("=") for each in shlex.split(lines["ENV"]))
    assert {name for name in environ if name.startswith("STILLTRUE_")} <= VARIABLES
    assert f"EXPOSE {load(environ={}).http.port}" in DOCKERFILE
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {*wanted["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"], "pyproject.toml"} <= kept
    assert {wanted["project"]["readme"], *wanted["project"]["license-files"]} <= kept
    assert all((ROOT / each).exists() for each in kept)


@pytest.mark.parametrize("page", ["Dockerfile", "docs/http.md"])
def test_the_commands_for_the_container_parse(page: str) -> None:
    """What the pages have one type after the name of the image is a command of ours."""
    typed = re.findall(r"docker run .* stilltrue( .*)?$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(typed) == 2
    for words in filter(None, typed):
        assert _parser().parse_args(shlex.split(words)).command == "token"
