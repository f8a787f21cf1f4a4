"""The wheel as a stranger installs it: one name, all its data, and a server that speaks in anybody's project."""

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
class Place:
    """An environment with the wheel in it, beside a project that uses the names of our rooms for its own."""

    bin: Path
    project: Path
    env: dict[str, str]

    def start(self, *command: str, stderr: IO[bytes] | int) -> subprocess.Popen[bytes]:
        """Start a command of the environment as a client would: in the project's folder, over pipes."""
        return subprocess.Popen(
            [self.bin / command[0], *command[1:]],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )


@pytest.fixture(scope="module")
def place(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A fresh environment that holds the wheel and sees the libraries of this one, but not this checkout.

    A .pth file adds a folder to the path and nothing else: the .pth files in that folder, by which an editable
    install is found, are not read.
    """
    home = tmp_path_factory.mktemp("place")
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
    return Place(bin_folder, project, env | {"STILLTRUE_STORE_URI": str(home / "memory")})


def test_one_name_enters_site_packages(wheel: Path) -> None:
    """Nothing but `stilltrue` and its metadata stands at the top of the wheel."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"stilltrue", f"stilltrue-{stilltrue.__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name or "tests" in name]


@pytest.mark.parametrize("room", ["stilltrue", "server", "tools", "store"])
def test_a_room_is_shipped_whole(wheel: Path, room: str) -> None:
    """Each file of a room is in the wheel byte for byte, the tokenizer of the default model included."""
    shipped = zipfile.ZipFile(wheel)
    under = "stilltrue" if room == "stilltrue" else f"stilltrue/rooms/{room}"
    files = [path for path in (ROOT / room).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for path in files:
        assert shipped.read(f"{under}/{path.relative_to(ROOT / room).as_posix()}") == path.read_bytes()
    assert room != "store" or any(path.match("data/minilm/*") for path in files)


def test_licence_and_notice_are_shipped(wheel: Path) -> None:
    """Who receives the wheel receives the terms, and the word of whose tokenizer is in it."""
    names = zipfile.ZipFile(wheel).namelist()
    assert len([name for name in names if name.endswith(("licenses/LICENSE", "licenses/NOTICE"))]) == 2


def test_the_code_that_runs_is_the_wheels(place: Place) -> None:
    """In the fresh environment `stilltrue` is what the wheel put there, not this checkout."""
    code = "import stilltrue, sys; print(stilltrue.__file__, *sys.path, sep='\\n')"
    with place.start("python", "-c", code, stderr=subprocess.PIPE) as process:
        file, *path = process.communicate(timeout=60)[0].decode().splitlines()
    assert Path(file).is_relative_to(place.bin.parent)
    assert str(ROOT) not in path


@dataclass(frozen=True, slots=True)
class Conversation:
    """Raw JSON-RPC over pipes, one message a line. A line that is no JSON-RPC fails the test."""

    to: IO[bytes]
    back: IO[bytes]

    def tell(self, **message: Any) -> None:
        self.to.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.to.flush()

    def ask(self, number: int, method: str, **params: Any) -> Any:
        """The result of a request; notifications that come before it are passed over."""
        self.tell(id=number, method=method, params=params)
        while line := self.back.readline():
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message["result"]
        raise AssertionError(f"the server ended before it answered {method}")


@contextmanager
def conversation(place: Place, *command: str, log: Path) -> Iterator[Conversation]:
    """A server process in the place, ended by the end of its input."""
    with log.open("wb") as stderr, place.start(*command, stderr=stderr) as process:
        assert process.stdin
        assert process.stdout
        yield Conversation(process.stdin, process.stdout)
        process.stdin.close()
        rest = process.stdout.read()
        code = process.wait(timeout=60)
    assert (rest, code) == (b"", 0), log.read_text(errors="replace")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("command", [("stilltrue", "serve"), ("python", "-m", "stilltrue", "serve")])
def test_the_server_speaks_in_a_project_with_the_same_names(
    place: Place, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """With the project in the working folder and on PYTHONPATH, a client gets our tools and clean JSON alone."""
    with conversation(place, *command, log=tmp_path / "stderr") as client:
        hello = client.ask(
            1,
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "0"},
        )
        client.tell(method="notifications/initialized")
        assert hello["serverInfo"]["name"] == "stilltrue"
        assert {tool["name"] for tool in client.ask(2, "tools/list")["tools"]} >= TOOLS
        remembered = client.ask(3, "tools/call", name="remember", arguments={"text": "Priya prefers tea."})
        assert not remembered.get("isError"), remembered
    assert "the project ran" not in (tmp_path / "stderr").read_text(errors="replace")
