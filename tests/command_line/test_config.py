"""Settings: where they come from, which source wins, and how an invalid one is refused."""

from __future__ import annotations

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
from server.config.settings import KEYS
from stilltrue.classes import DEFAULT_CLASSES, Classes
from stilltrue.errors import BadConfig

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def empty_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty home folder, so that no settings of the machine take part."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def toml(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes a settings file and returns its path."""

    def write(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refusal(**given: Any) -> BadConfig:
    """The error with which these settings are refused."""
    with pytest.raises(BadConfig) as caught:
        load(**{"environ": {}, **given})
    assert "\n" not in str(caught.value)
    return caught.value


def test_without_settings_every_key_has_its_default() -> None:
    """Without a file, variables and flags, the configuration is the default one, with the default classes."""
    assert load(environ={}) == Config()
    assert dict(load(environ={}).classes) == {klass.name: klass for klass in DEFAULT_CLASSES}


def test_flags_override_variables_and_variables_override_the_file(toml: Callable[[str], Path]) -> None:
    """The order applies to each key separately."""
    file = toml("[recall]\nbudget_tokens = 1\nmax_chains = 1\ncandidates = 1")
    environ = {"STILLTRUE_RECALL_BUDGET_TOKENS": "2", "STILLTRUE_RECALL_MAX_CHAINS": "2"}
    recall = load({"recall.budget_tokens": "3"}, environ, file).recall
    assert (recall.budget_tokens, recall.max_chains, recall.candidates) == (3, 2, 1)


def test_the_file_is_named_by_the_flag_or_the_variable_or_is_the_users_own(tmp_path: Path, empty_home: Path) -> None:
    """`--config` wins over STILLTRUE_CONFIG, which wins over the file in the user's folder; only one is read."""
    usual = platformdirs.user_config_path("stilltrue", appauthor=False) / "config.toml"
    files = [tmp_path / "flag.toml", tmp_path / "variable.toml", usual]
    for workers, path in enumerate(files, 1):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[server]\nworkers = {workers}", encoding="utf-8")
    environ = {"STILLTRUE_CONFIG": str(files[1])}
    found = [load(environ=environ, file=files[0]), load(environ=environ), load(environ={"STILLTRUE_CONFIG": ""})]
    assert [config.server.workers for config in found] == [1, 2, 3]
    assert [config.file for config in found] == files


def test_every_key_can_be_set_by_file_variable_and_flag(toml: Callable[[str], Path]) -> None:
    """All three give the same configuration for the same value."""
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
        ("[memory]\nbudget_tokens = 5", ["section [memory]", "closest name is recall.budget_tokens"]),
        ("[recal]\nbudget_tokens = 5", ["[recal];", "closest name is [recall]"]),
        ("budget_tokens = 5", ["above the sections", "closest name is recall.budget_tokens"]),
        ("recall = 5", ["above the sections", "closest name is recall"]),
        ("[classes.note]\nhalf_life = 5", ["section [classes.note]", "classes.note.half_life_days"]),
        ('[memory]\ndefault_class = "alergy"', ["memory.default_class", "closest name is allergy"]),
        ('["a\\nb"]\nx = 1', ["unknown setting [a b]", "the known names are [store]"]),
    ],
)
def test_an_unknown_name_in_the_file_is_refused_with_a_suggestion(
    toml: Callable[[str], Path], given: str, words: list[str]
) -> None:
    """The message names the file, the section, the name and the closest known name, on one line."""
    message = refusal(file=toml(given)).message
    assert all(word in message for word in [str(toml(given)), *words])


def test_an_unknown_flag_is_refused_and_an_unknown_variable_only_warned_of() -> None:
    """A client or a script may have set a variable with our prefix for itself; the nearest setting is named."""
    found = load(environ={"STILLTRUE_STORE_URL": "x", "STILLTRUE_RECALL_MAX_CHAINS": "2"})
    assert found.warnings == (
        "environment variable STILLTRUE_STORE_URL: unknown setting STILLTRUE_STORE_URL; "
        "the closest name is STILLTRUE_STORE_URI. It is ignored.",
    )
    assert found.recall.max_chains == 2
    assert "flag store.url: unknown setting store.url; the closest" in refusal(flags={"store.url": "x"}).message


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
def test_an_invalid_value_is_refused(toml: Callable[[str], Path], key: str, value: str, wanted: str) -> None:
    """The message names the key and its section, what was expected and what was found."""
    section, _, name = key.rpartition(".")
    message = refusal(file=toml(f"[{section}]\n{name} = {value}")).message
    assert f"section [{section}]: {key} has to be {wanted}" in message


@pytest.mark.parametrize(("text", "meant"), [("yes", True), ("1", True), ("OFF", False), ("False", False)])
def test_a_switch_accepts_the_usual_words(text: str, meant: bool) -> None:
    """The common words for true and false are accepted in a variable; anything else is refused."""
    assert load(environ={"STILLTRUE_EMBEDDING_ALLOW_DOWNLOAD": text}).embedding.allow_download is meant
    assert "true or false, not 'maybe'" in refusal(flags={"embedding.allow_download": "maybe"}).message


def test_a_value_is_checked_even_if_another_overrides_it(toml: Callable[[str], Path]) -> None:
    """A mistake in the file is reported even while a variable hides it."""
    file = toml("[server]\nworkers = 0")
    assert "server.workers" in refusal(file=file, environ={"STILLTRUE_SERVER_WORKERS": "2"}).message


def test_three_weights_of_zero_are_refused() -> None:
    """The ranking needs at least one weight above 0."""
    names = ["recall.weight_relevance", "recall.weight_recency", "recall.weight_importance"]
    assert f"{', '.join(names)} are all 0" in refusal(flags=dict.fromkeys(names, "0")).message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[recall\n", "not valid TOML: Expected ']'"),
        ("[store]\nuri = 'ä'".encode("latin-1"), "not valid UTF-8"),
        (None, "there is no file"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    """A file that was named has to exist and be valid TOML; it is never ignored."""
    path = tmp_path / "mine.toml"
    if content is not None:
        path.write_bytes(content)
    assert words in refusal(file=path).message
    assert words in refusal(environ={"STILLTRUE_CONFIG": str(path)}).message
    assert "cannot be read" in refusal(file=tmp_path).message


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    """Editors on Windows begin a file with one."""
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf[server]\r\nworkers = 2\r\n")
    assert load(environ={}, file=path).server.workers == 2


def test_a_default_class_is_changed_key_by_key_and_a_new_one_is_added(toml: Callable[[str], Path]) -> None:
    """Keys that are not set keep their value; `inf` removes the half-life; a new name adds a class."""
    file = toml(
        "[classes]\nnote.half_life_days = inf\nworking_context.half_life_days = 7\nmedication.requirement = true"
    )
    classes = load(environ={}, file=file).classes
    assert classes["note"].half_life_days is None
    assert (classes["working_context"].half_life_days, classes["working_context"].cardinality) == (7, "one")
    assert classes.requirements == Classes().requirements | {"medication"}
    assert set(classes) == {*Classes(), "medication"}


@pytest.mark.parametrize("name", ["Note", "my-class", '"a b"', "x" * 41, '""'])
def test_a_class_with_an_invalid_name_is_refused(toml: Callable[[str], Path], name: str) -> None:
    """Agents write class names, so there is only one way to spell them."""
    assert "lower-case letters" in refusal(file=toml(f"[classes.{name}]\nrequirement = true")).message


def test_a_class_that_is_not_a_table_is_refused(toml: Callable[[str], Path]) -> None:
    """Neither `classes` nor a single class can be a plain value."""
    assert "classes is not a table" in refusal(file=toml("classes = 3")).message
    assert "classes.note is not a table" in refusal(file=toml("[classes]\nnote = 3")).message


def test_the_store_is_in_the_users_data_folder_by_default(empty_home: Path, tmp_path: Path) -> None:
    """Empty means the data folder, "~" the home folder, and a relative path starts in the working folder."""
    assert load(environ={}).store.folder().is_relative_to(empty_home)
    assert load(environ={}).store.folder().parts[-2:] == ("stilltrue", "local")
    assert load({"store.uri": "~/mine"}, {}).store.folder() == empty_home / "mine"
    assert load({"store.uri": "mine"}, {}).store.folder() == tmp_path / "mine"
    assert load({"store.uri": "mine"}, {}).store.location() == str(tmp_path / "mine")


@pytest.mark.parametrize("uri", ["s3://bucket", "s3://my.bucket-1/team/memory", "s3://bucket/x/", "db://memories"])
def test_a_store_can_be_remote(uri: str) -> None:
    """A URI is not a path: it is not resolved, and only loses its trailing slash."""
    store = load({"store.uri": uri}, {}).store
    assert (store.remote, store.location()) == (True, uri.rstrip("/"))


def test_the_default_subject_is_normalized() -> None:
    """However it is typed, it becomes the spelling that notes are stored under."""
    assert load({"memory.default_subject": " Priya "}, {}).memory.default_subject == "priya"


def test_the_zone_becomes_a_tzinfo() -> None:
    """UTC works without a time zone database; any other zone is looked up."""
    assert load(environ={}).memory.tzinfo() is UTC
    assert str(load({"memory.zone": "Europe/Berlin"}, {}).memory.tzinfo()) == "Europe/Berlin"


def test_the_configuration_is_immutable() -> None:
    """A process keeps the settings it was started with."""
    config = load(environ={})
    with pytest.raises(FrozenInstanceError):
        config.recall.budget_tokens = 5  # type: ignore[misc]
    assert not hasattr(config, "__dict__")
    assert not hasattr(config.recall, "__dict__")


def test_loading_the_settings_imports_nothing_heavy() -> None:
    """Every start waits for this import, so platformdirs is the only library it uses."""
    code = (
        "import sys, server.config.load as c; c.load(environ={}); print(*{n.partition('.')[0] for n in sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"numpy", "pydantic", "lancedb", "pyarrow", "mcp", "rich", "onnxruntime", "asyncio"}
