"""The packages that start the server: the registry's server.json, the Claude Desktop bundle, the Dockerfile."""

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


def test_the_registry_entry_matches_the_package() -> None:
    """Version, name and command line match; the README names the entry too, as proof of ownership."""
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
    """The manifest lists the actual tools, and its command line and settings are valid."""
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


def test_the_bundles_form_can_be_left_unchanged() -> None:
    """The defaults of its form are valid and equal the defaults of the configuration."""
    manifest = read("packaging/mcpb/manifest.json")
    defaults = {name: each["default"] for name, each in manifest["user_config"].items()}
    env = manifest["server"]["mcp_config"]["env"]
    given = {name: defaults[value.removeprefix("${user_config.").removesuffix("}")] for name, value in env.items()}
    assert load(environ=given) == load(environ={})


def test_the_container_has_everything_it_starts_with() -> None:
    """Its commands parse, its variables are settings, its port is the default, and every package is copied."""
    lines = dict(line.split(" ", 1) for line in DOCKERFILE.splitlines() if line)
    assert json.loads(lines["ENTRYPOINT"]) == ["stilltrue"]
    assert _parser().parse_args(json.loads(lines["CMD"])).http
    environ = dict(each.split("=") for each in shlex.split(lines["ENV"]))
    assert {name for name in environ if name.startswith("STILLTRUE_")} <= VARIABLES
    assert f"EXPOSE {load(environ={}).http.port}" in DOCKERFILE
    copied = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {*wanted["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"], "pyproject.toml"} <= copied
    assert {wanted["project"]["readme"], *wanted["project"]["license-files"]} <= copied
    assert all((ROOT / each).exists() for each in copied)


@pytest.mark.parametrize("page", ["Dockerfile", "docs/http.md"])
def test_the_commands_for_the_container_parse(page: str) -> None:
    """The arguments after the image name, as the pages give them, are valid commands."""
    typed = re.findall(r"docker run .* stilltrue( .*)?$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(typed) == 2
    for words in filter(None, typed):
        assert _parser().parse_args(shlex.split(words)).command == "token"
