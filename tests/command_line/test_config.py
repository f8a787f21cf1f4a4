"""Settings: where they come from, which one counts, and how a wrong one is refused."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from datetime import UTC
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from server.config.load import Config, load
from server.config.reference import example
from server.config.settings import CLASS_KEYS, KEYS
from stilltrue.classes import DEFAULT_CLASSES, Classes
from stilltrue.errors import BadConfig

ROOT = Path(__file__).resolve().parents[2]
DOCS = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A person with an empty home folder, so that nobody's own settings take part."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def toml(tmp_path: Path) -> Callable[[str], Path]:
    """Write a settings file."""

    def write(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refusal(**given: Any) -> BadConfig:
    """How these settings are refused."""
    with pytest.raises(BadConfig) as caught:
        load(**{"environ": {}, **given})
    assert "\n" not in str(caught.value)
    return caught.value


def test_nothing_given_is_the_defaults() -> None:
    """A start without file, variables and flags is a start at the defaults, with the default classes."""
    assert load(environ={}) == Config()
    assert dict(load(environ={}).classes) == {klass.name: klass for klass in DEFAULT_CLASSES}


def test_flags_win_over_variables_and_variables_over_the_file(toml: Callable[[str], Path]) -> None:
    """Each source stands over the next, key by key."""
    file = toml("[recall]\nbudget_tokens = 1\nmax_chains = 1\ncandidates = 1")
    environ = {"STILLTRUE_RECALL_BUDGET_TOKENS": "2", "STILLTRUE_RECALL_MAX_CHAINS": "2"}
    recall = load({"recall.budget_tokens": "3"}, environ, file).recall
    assert (recall.budget_tokens, recall.max_chains, recall.candidates) == (3, 2, 1)


def test_the_file_is_that_of_the_flag_then_the_variable_then_the_user(tmp_path: Path, nobody: Path) -> None:
    """`--config` wins over STILLTRUE_CONFIG, and that over the file in the user's folder; each alone is read."""
    usual = platformdirs.user_config_path("stilltrue", appauthor=False) / "config.toml"
    files = [tmp_path / "flag.toml", tmp_path / "variable.toml", usual]
    for workers, path in enumerate(files, 1):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[server]\nworkers = {workers}", encoding="utf-8")
    environ = {"STILLTRUE_CONFIG": str(files[1])}
    found = [load(environ=environ, file=files[0]), load(environ=environ), load(environ={"STILLTRUE_CONFIG": ""})]
    assert [config.server.workers for config in found] == [1, 2, 3]
    assert [config.file for config in found] == files


def test_every_key_can_be_given_in_all_three_ways(toml: Callable[[str], Path]) -> None:
    """The same value of the same key, by file, variable and flag, is the same configuration."""
    for key in KEYS:
        other = {bool: "false" if key.default else "true", int: "7", float: "1.0"}.get(key.check.kind)
        words = {"engine": "none", "log_level": "error", "zone": "Europe/Berlin", "confirm": "elicit"}
        words |= {"era": "handshake", "allowed_origins": "https://app.example.com", "body_limit_bytes": "4096"}
        words |= {"endpoint": "https://storage.example.com"}
        other = words.get(key.name) or other or "event"
        spelled = other if key.check.kind is not str else f'"{other}"'
        by_file = load(environ={}, file=toml(f"[{key.section}]\n{key.name} = {spelled}"))
        assert by_file == load(environ={key.variable: other}) == load({key.dotted: other}, {}) != Config()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("[recall]\nbudget = 5", ["section [recall]", "recall.budget;", "recall.budget_tokens"]),
        ("[memory]\nbudget_tokens = 5", ["section [memory]", "nearest known one is recall.budget_tokens"]),
        ("[recal]\nbudget_tokens = 5", ["[recal];", "nearest known one is [recall]"]),
        ("budget_tokens = 5", ["above the sections", "nearest known one is recall.budget_tokens"]),
        ("recall = 5", ["above the sections", "nearest known one is recall"]),
        ("[classes.note]\nhalf_life = 5", ["section [classes.note]", "classes.note.half_life_days"]),
        ('[memory]\ndefault_class = "alergy"', ["memory.default_class", "nearest known one is allergy"]),
        ('["a\\nb"]\nx = 1', ["no setting [a b]", "known are [store]"]),
    ],
)
def test_an_unknown_name_in_the_file_is_refused_with_the_nearest(
    toml: Callable[[str], Path], given: str, words: list[str]
) -> None:
    """The message names the file, the section, the name and the nearest known one, in one line."""
    message = refusal(file=toml(given)).message
    assert all(word in message for word in [str(toml(given)), *words])


def test_an_unknown_flag_is_refused_and_an_unknown_variable_only_warned_of() -> None:
    """A client or a script may have set a variable with our prefix for itself; the nearest setting is named."""
    found = load(environ={"STILLTRUE_STORE_URL": "x", "STILLTRUE_RECALL_MAX_CHAINS": "2"})
    assert found.warnings == (
        "environment variable STILLTRUE_STORE_URL: there is no setting STILLTRUE_STORE_URL; "
        "the nearest known one is STILLTRUE_STORE_URI. It is ignored.",
    )
    assert found.recall.max_chains == 2
    assert "flag store.url: there is no setting store.url; the nearest" in refusal(flags={"store.url": "x"}).message


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("recall.budget_tokens", "-1", "a whole number from 1 to 1000000, not -1"),
        ("recall.budget_tokens", '"many"', "a whole number from 1 to 1000000, not 'many'"),
        ("recall.budget_tokens", "12.0", "a whole number from 1 to 1000000, not 12.0"),
        ("recall.budget_tokens", "true", "a whole number from 1 to 1000000, not True"),
        ("recall.mmr_lambda", "7", "a number from 0 to 1, not 7"),
        ("recall.mmr_lambda", "nan", "a number from 0 to 1, not nan"),
        ("store.lock_timeout_s", "inf", "a number from 0 to 3600, not inf"),
        ("store.lock_timeout_s", "0x1" + "0" * 300, "a number from 0 to 3600, not 172184794"),
        (
            "store.uri",
            '"gs://bucket"',
            "a folder on this machine, s3://BUCKET/PREFIX or db://NAME, not 'gs://bucket'",
        ),
        ("store.uri", '"s3://key:secret@bucket/x"', "a folder on this machine, s3://BUCKET/PREFIX or db://NAME"),
        ("store.uri", '"s3://bucket/x?versions"', "a folder on this machine, s3://BUCKET/PREFIX or db://NAME"),
        ("store.endpoint", '"storage.example.com"', "a URL such as https://storage.example.com, or empty"),
        ("store.uri", '"~nobody-has-this-name/x"', "a folder on this machine"),
        ("store.uri", "[1, 2]", "a folder on this machine, s3://BUCKET/PREFIX or db://NAME, not [1, 2]"),
        ("embedding.engine", '"fake"', "one of auto, onnx, sentence-transformers, none, not 'fake'"),
        ("embedding.allow_download", '"yes"', "true or false, not 'yes'"),
        ("memory.zone", '"Europe/Berln"', "an IANA time zone such as UTC or Europe/Berlin, not 'Europe/Berln'"),
        ("memory.zone", '"America"', "an IANA time zone such as UTC or Europe/Berlin, not 'America'"),
        ("memory.zone", '"../../etc/passwd"', "an IANA time zone such as UTC or Europe/Berlin"),
        ("memory.default_subject", '"  "', "text of 1 to 200 characters"),
        ("memory.default_subject", '"a\\u0000b"', "text of 1 to 200 characters"),
        ("classes.note.half_life_days", "0", "a number of days above 0, or inf, not 0"),
        ("classes.note.half_life_days", "nan", "a number of days above 0, or inf, not nan"),
        ("classes.note.cardinality", '"few"', "one of one, many, not 'few'"),
    ],
)
def test_a_value_that_a_key_cannot_have_is_refused(
    toml: Callable[[str], Path], key: str, value: str, wanted: str
) -> None:
    """The message names the key, the place, what was wanted and what is there."""
    section, _, name = key.rpartition(".")
    message = refusal(file=toml(f"[{section}]\n{name} = {value}")).message
    assert f"section [{section}]: {key} has to be {wanted}" in message


@pytest.mark.parametrize(("text", "meant"), [("yes", True), ("1", True), ("OFF", False), ("False", False)])
def test_switches_are_read_from_the_usual_words(text: str, meant: bool) -> None:
    """What people write for true and false in a variable is read; anything else is refused."""
    assert load(environ={"STILLTRUE_EMBEDDING_ALLOW_DOWNLOAD": text}).embedding.allow_download is meant
    assert "true or false, not 'maybe'" in refusal(flags={"embedding.allow_download": "maybe"}).message


def test_a_value_is_checked_where_another_wins_over_it(toml: Callable[[str], Path]) -> None:
    """A wrong line in the file does not lie in wait behind a variable."""
    file = toml("[server]\nworkers = 0")
    assert "server.workers" in refusal(file=file, environ={"STILLTRUE_SERVER_WORKERS": "2"}).message


def test_three_weights_of_zero_are_refused() -> None:
    """A ranking needs something to rank by."""
    names = ["recall.weight_relevance", "recall.weight_recency", "recall.weight_importance"]
    assert f"{', '.join(names)} are all 0" in refusal(flags=dict.fromkeys(names, "0")).message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[recall\n", "this is no TOML: Expected ']'"),
        ("[store]\nuri = 'ä'".encode("latin-1"), "this is no UTF-8 text"),
        (None, "there is no file"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    """A file that was named has to be there and to be TOML; it is never passed over."""
    path = tmp_path / "mine.toml"
    if content is not None:
        path.write_bytes(content)
    assert words in refusal(file=path).message
    assert words in refusal(environ={"STILLTRUE_CONFIG": str(path)}).message
    assert "cannot be read" in refusal(file=tmp_path).message


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    """A file that an editor on Windows saved is read."""
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf[server]\r\nworkers = 2\r\n")
    assert load(environ={}, file=path).server.workers == 2


def test_a_class_is_changed_key_by_key_or_added(toml: Callable[[str], Path]) -> None:
    """A default class keeps what is not said; `inf` takes its half-life away; a new name is a new class."""
    file = toml(
        "[classes]\nnote.half_life_days = inf\nworking_context.half_life_days = 7\nmedication.requirement = true"
    )
    classes = load(environ={}, file=file).classes
    assert classes["note"].half_life_days is None
    assert (classes["working_context"].half_life_days, classes["working_context"].cardinality) == (7, "one")
    assert classes.requirements == Classes().requirements | {"medication"}
    assert set(classes) == {*Classes(), "medication"}


@pytest.mark.parametrize("name", ["Note", "my-class", '"a b"', "x" * 41, '""'])
def test_a_class_with_an_odd_name_is_refused(toml: Callable[[str], Path], name: str) -> None:
    """Class names are part of what agents write, so there is one way to write them."""
    assert "lower-case letters" in refusal(file=toml(f"[classes.{name}]\nrequirement = true")).message


def test_a_class_that_is_no_table_is_refused(toml: Callable[[str], Path]) -> None:
    """Neither the classes nor one class can be a plain value."""
    assert "classes is no table" in refusal(file=toml("classes = 3")).message
    assert "classes.note is no table" in refusal(file=toml("[classes]\nnote = 3")).message


def test_the_store_lies_in_the_users_data_folder_unless_told(nobody: Path, tmp_path: Path) -> None:
    """Empty is the data folder, "~" the home folder, and a relative path starts in the working folder."""
    assert load(environ={}).store.folder().is_relative_to(nobody)
    assert load(environ={}).store.folder().parts[-2:] == ("stilltrue", "local")
    assert load({"store.uri": "~/mine"}, {}).store.folder() == nobody / "mine"
    assert load({"store.uri": "mine"}, {}).store.folder() == tmp_path / "mine"
    assert load({"store.uri": "mine"}, {}).store.location() == str(tmp_path / "mine")


@pytest.mark.parametrize("uri", ["s3://bucket", "s3://my.bucket-1/team/memory", "s3://bucket/x/", "db://memories"])
def test_a_store_need_not_be_a_folder(uri: str) -> None:
    """A uri is kept as it is but for a slash at its end; it is no path, and nothing of it is resolved."""
    store = load({"store.uri": uri}, {}).store
    assert (store.remote, store.location()) == (True, uri.rstrip("/"))


def test_a_subject_is_kept_in_its_one_spelling() -> None:
    """The default subject is the one that notes are stored under, however it was typed."""
    assert load({"memory.default_subject": " Priya "}, {}).memory.default_subject == "priya"


def test_the_zone_is_one_that_dates_take() -> None:
    """UTC needs no database of zones; any other is looked up."""
    assert load(environ={}).memory.tzinfo() is UTC
    assert str(load({"memory.zone": "Europe/Berlin"}, {}).memory.tzinfo()) == "Europe/Berlin"


def test_the_configuration_cannot_be_changed() -> None:
    """What a process was started with is what it runs with."""
    config = load(environ={})
    with pytest.raises(FrozenInstanceError):
        config.recall.budget_tokens = 5  # type: ignore[misc]
    assert not hasattr(config, "__dict__")
    assert not hasattr(config.recall, "__dict__")


def test_the_example_file_shows_every_key_at_its_default(toml: Callable[[str], Path]) -> None:
    """config.example.toml is what the table of keys says, and reading it changes nothing."""
    committed = (ROOT / "config.example.toml").read_text(encoding="utf-8")
    assert committed == example(), "run `make docs`"
    assert load(environ={}, file=toml(committed)) == Config()
    assert all(re.search(rf"^{key.name} = ", committed, re.MULTILINE) for key in KEYS)


def test_every_key_is_documented() -> None:
    """docs/configuration.md has each key with its variable, default and rule, as the table of keys says them."""
    block = runpy.run_path(str(ROOT / "docs" / "build.py"))
    assert block["block"](DOCS).strip() == block["reference"]().strip(), "run `make docs`"
    assert all(f"| `{key.name}` | `{key.variable}` |" in DOCS for key in KEYS)
    assert all(f"| `{key.name}` |" in DOCS for key in CLASS_KEYS)


def test_what_the_docs_show_is_what_happens(toml: Callable[[str], Path]) -> None:
    """The file in docs/configuration.md loads, and the messages are those that the mistakes bring."""
    shown = re.findall(r"```(\w+)\n(.*?)```", DOCS, re.DOTALL)
    config = load(environ={}, file=toml(dict(shown)["toml"]))
    assert (config.memory.zone, config.classes["medication"].requirement) == ("Europe/Berlin", True)
    unknown, wrong = dict(shown)["text"].splitlines()
    refused = refusal(file=toml("[recall]\nbudget = 5")).message
    assert unknown.split("config.toml")[1] == refused.split("config.toml")[1]
    assert wrong == refusal(environ={"STILLTRUE_RECALL_MMR_LAMBDA": "nan"}).message


def test_reading_the_settings_loads_nothing_heavy() -> None:
    """Every start waits for this import, so it brings in no library but platformdirs."""
    code = "import sys, server.config.load as c; c.load(environ={}); print(*{n.partition('.')[0] for n in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"numpy", "pydantic", "lancedb", "pyarrow", "mcp", "rich", "onnxruntime", "asyncio"}
