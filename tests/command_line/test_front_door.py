"""The entry point finds our own packages and keeps stdout clean until the command runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "stilltrue"

CLI = """
import os, subprocess, sys
print("noise from Python")
os.write(1, b"noise from native code\\n")
subprocess.run([sys.executable, "-c", "print('noise from a child')"])
sys.stdout.write("noise without a line end")

def main(argv=None, parent=None, quiet=None):
    import store, tools
    print("ours", *sys.argv[1:], flush=True)
    return 3
"""


@pytest.fixture(params=["wheel", "checkout"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The real entry point with packages that print while loading, laid out as in a wheel or a checkout."""
    site = tmp_path / "site"
    rooms = site / "stilltrue" / "rooms" if request.param == "wheel" else site
    (site / "stilltrue").mkdir(parents=True)
    for name in ("__init__.py", "__main__.py"):
        shutil.copy(PACKAGE / name, site / "stilltrue" / name)
    for room in ("server", "tools", "store"):
        (rooms / room).mkdir(parents=True)
        (rooms / room / "__init__.py").touch()
    (rooms / "server" / "cli").mkdir()
    (rooms / "server" / "cli" / "__init__.py").touch()
    (rooms / "server" / "cli" / "main.py").write_text(CLI)
    return site


@pytest.fixture
def decoy(tmp_path: Path) -> Path:
    """A project with its own `server.py`, `tools/`, `store/` and `platformdirs.py`."""
    decoy = tmp_path / "project"
    for name in ("server.py", "platformdirs.py", "tools/__init__.py", "store/__init__.py"):
        (decoy / name).parent.mkdir(parents=True, exist_ok=True)
        (decoy / name).write_text("raise SystemExit('the project ran instead of stilltrue')")
    return decoy


def run(*command: str, cwd: Path, path: list[Path]) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments, working folder and PYTHONPATH."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    env.pop("PYTHONSAFEPATH", None)
    return subprocess.run([sys.executable, *command], cwd=cwd, env=env, capture_output=True, text=True, timeout=60)


def test_noise_while_loading_goes_to_stderr(site: Path, tmp_path: Path) -> None:
    """Output of modules, native code and child processes during the import never reaches stdout."""
    done = run("-m", "stilltrue", "serve", cwd=tmp_path, path=[site])
    assert (done.stdout, done.returncode) == ("ours serve\n", 3)
    assert done.stderr.count("noise") == 4


def test_a_project_with_the_names_of_our_packages_is_not_imported(site: Path, decoy: Path) -> None:
    """Neither the working folder nor an earlier entry of PYTHONPATH replaces our modules."""
    call = "import sys; from stilltrue.__main__ import main; sys.exit(main())"
    for command in (["-m", "stilltrue"], ["-c", call]):
        done = run(*command, cwd=decoy, path=[decoy, site])
        assert (done.stdout, done.returncode) == ("ours\n", 3), done.stderr


def test_the_working_folder_is_not_searched(site: Path, decoy: Path) -> None:
    """With `python -m`, a project's module does not replace a library of the same name either."""
    cli = next(site.rglob("cli/main.py"))
    cli.write_text(f"import platformdirs\n{CLI}")
    done = run("-m", "stilltrue", cwd=decoy, path=[site])
    assert (done.stdout, done.returncode) == ("ours\n", 3), done.stderr


@pytest.mark.parametrize(
    "start",
    ["import server", "import tools", "import sys, types; sys.modules['store'] = types.ModuleType('store')"],
)
def test_a_foreign_module_that_is_already_loaded_is_reported(site: Path, tmp_path: Path, start: str) -> None:
    """A module that took one of our names at startup is reported with its location, and nothing runs."""
    foreign = tmp_path / "foreign"
    (foreign / "tools").mkdir(parents=True)
    (foreign / "tools" / "__init__.py").touch()
    (foreign / "server.py").touch()
    (foreign / "sitecustomize.py").write_text(start)
    done = run("-m", "stilltrue", cwd=tmp_path, path=[foreign, site])
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr.startswith("stilltrue: the module ")
    assert done.stderr.count("\n") == 1
