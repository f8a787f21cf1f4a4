"""Generate config.example.toml and the tables of docs/configuration.md from the table of settings.

Run `make docs` after a change to server/config/settings.py; tests/command_line/test_config.py fails until then.
"""

from pathlib import Path

from server.config.reference import example, reference

ROOT = Path(__file__).resolve().parent.parent
BEGIN = "<!-- begin: written by `make docs` -->\n"
END = "<!-- end -->\n"


def block(text: str) -> str:
    """The text between the two marks of a page."""
    return text.split(BEGIN, 1)[1].split(END, 1)[0]


if __name__ == "__main__":
    (ROOT / "config.example.toml").write_text(example(), encoding="utf-8", newline="\n")
    page = ROOT / "docs" / "configuration.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace(block(text), f"\n{reference()}\n"), encoding="utf-8", newline="\n")
