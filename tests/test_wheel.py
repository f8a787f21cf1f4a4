"""The wheel as a user installs it: one top-level name, all its data, and a server that works in any project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

import stilltrue

ROOT = Path(__file__).resolve().parent.parent
TOOLS = {"remember", "supersede", "revoke", "reinstate", "recall", "constraints", "feedback"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True, timeout=120
    )
    [built] = folder.glob("*.whl")
    return built


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the wheel, and a project that uses the names of our packages for its own modules."""

    bin: Path
    project: Path
    env: dict[str, str]

    def start(self, *command: str, stderr: IO[bytes] | int) -> subprocess.Popen[bytes]:
        """Start a command of the environment as a client would, in the project's folder and over pipes."""
        return subprocess.Popen(
            [self.bin / command[0], *command[1:]],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A new environment with the wheel and the libraries of this one, but without this checkout.

    A .pth file only adds a folder to the path. The .pth files in that folder, through which an editable install is
    found, are not read.
    """
    home = tmp_path_factory.mktemp("installed")
    venv.create(home / "venv", with_pip=False, symlinks=os.name != "nt")
    bin_folder = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
    own = subprocess.run(
        [bin_folder / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(own, "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", bin_folder / "python", "install", "--quiet", "--no-deps",
         "--no-index", "--force-reinstall", wheel],
        check=True, timeout=120,
    )  # fmt: skip
    project = home / "project"
    for name in ("server.py", "tools/__init__.py", "store/__init__.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("print('the project ran instead of stilltrue')\n", encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("STILLTRUE_", "PYTHON"))}
    env |= {"PYTHONPATH": str(project), "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    return Installed(bin_folder, project, env | {"STILLTRUE_STORE_URI": str(home / "memory")})


def test_the_wheel_has_one_top_level_name(wheel: Path) -> None:
    """Only `stilltrue` and its metadata are at the top of the wheel."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"stilltrue", f"stilltrue-{stilltrue.__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name or "tests" in name]


@pytest.mark.parametrize("package", ["stilltrue", "server", "tools", "store"])
def test_every_file_of_a_package_is_in_the_wheel(wheel: Path, package: str) -> None:
    """Byte for byte, including the tokenizer of the default model."""
    shipped = zipfile.ZipFile(wheel)
    under = "stilltrue" if package == "stilltrue" else f"stilltrue/rooms/{package}"
    files = [path for path in (ROOT / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for path in files:
        assert shipped.read(f"{under}/{path.relative_to(ROOT / package).as_posix()}") == path.read_bytes()
    assert package != "store" or any(path.match("data/minilm/*") for path in files)


def test_licence_and_notice_are_shipped(wheel: Path) -> None:
    """The wheel contains the license terms and the notice about the tokenizer."""
    names = zipfile.ZipFile(wheel).namelist()
    assert len([name for name in names if name.endswith(("licenses/LICENSE", "licenses/NOTICE"))]) == 2


def test_the_code_that_runs_is_that_of_the_wheel(installed: Installed) -> None:
    """In the new environment `stilltrue` is imported from the wheel, not from this checkout."""
    code = "import stilltrue, sys; print(stilltrue.__file__, *sys.path, sep='\\n')"
    with installed.start("python", "-c", code, stderr=subprocess.PIPE) as process:
        file, *path = process.communicate(timeout=60)[0].decode().splitlines()
    assert Path(file).is_relative_to(installed.bin.parent)
    assert str(ROOT) not in path


@dataclass(frozen=True, slots=True)
class Conversation:
    """Raw JSON-RPC over pipes, one message per line. A line that is not JSON-RPC fails the test."""

    to: IO[bytes]
    back: IO[bytes]

    def send(self, **message: Any) -> None:
        self.to.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.to.flush()

    def ask(self, number: int, method: str, **params: Any) -> Any:
        """Send a request and return its result, skipping notifications."""
        self.send(id=number, method=method, params=params)
        while line := self.back.readline():
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message["result"]
        raise AssertionError(f"the server ended before it answered {method}")


@contextmanager
def conversation(installed: Installed, *command: str, log: Path) -> Iterator[Conversation]:
    """A server process in the environment; it ends when its input does."""
    with log.open("wb") as stderr, installed.start(*command, stderr=stderr) as process:
        assert process.stdin
        assert process.stdout
        yield Conversation(process.stdin, process.stdout)
        process.stdin.close()
        rest = process.stdout.read()
        code = process.wait(timeout=60)
    assert (rest, code) == (b"", 0), log.read_text(errors="replace")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("command", [("stilltrue", "serve"), ("python", "-m", "stilltrue", "serve")])
def test_the_server_works_in_a_project_with_the_same_names(
    installed: Installed, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """With the project in the working folder and on PYTHONPATH, a client gets our tools and nothing but JSON."""
    with conversation(installed, *command, log=tmp_path / "stderr") as client:
        hello = client.ask(
            1,
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "0"},
        )
        client.send(method="notifications/initialized")
        assert hello["serverInfo"]["name"] == "stilltrue"
        assert {tool["name"] for tool in client.ask(2, "tools/list")["tools"]} >= TOOLS
        remembered = client.ask(3, "tools/call", name="remember", arguments={"text": "Priya prefers tea."})
        assert not remembered.get("isError"), remembered
    assert "the project ran" not in (tmp_path / "stderr").read_text(errors="replace")
