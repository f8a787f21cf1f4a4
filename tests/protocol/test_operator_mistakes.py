"""What scripts get wrong around the server: unset variables, variables of others, options that do not apply."""

from __future__ import annotations

from pathlib import Path

import pytest
from http_server import data_of, stilltrue
from wire import wire

UNSET = ""
"""What `"$UNSET"` passes."""


@pytest.mark.parametrize("action", ["create", "list", "revoke"])
def test_a_token_of_an_unset_tenant_is_refused(tmp_path: Path, action: str) -> None:
    """It would open the personal memory; no file is made."""
    refused = stilltrue(tmp_path, "token", action, "--tenant", UNSET)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--tenant has to be" in refused.stderr
    assert not (data_of(tmp_path) / "tokens.json").exists()


def test_a_token_with_an_unset_name_is_refused(tmp_path: Path) -> None:
    """It does not become the default one."""
    refused = stilltrue(tmp_path, "token", "create", "--tenant", "acme", "--name", UNSET)
    assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.parametrize("arguments", [["token", "create"], ["token", "list"], ["demo"]])
def test_a_store_that_a_command_does_not_use_is_refused(tmp_path: Path, arguments: list[str]) -> None:
    """Who names a store means it."""
    refused = stilltrue(tmp_path, *arguments, "--store", tmp_path / "store")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"{arguments[0]} does not use --store." in refused.stderr


@pytest.mark.parametrize("arguments", [["serve"], ["status"], ["serve", "--http"]])
def test_an_unset_store_is_refused(tmp_path: Path, arguments: list[str]) -> None:
    """It would be the personal store."""
    refused = stilltrue(tmp_path, *arguments, "--store", UNSET)
    assert refused.returncode == 2
    assert "--store is empty." in refused.stderr


def test_a_variable_that_is_no_setting_warns_and_the_server_runs(tmp_path: Path) -> None:
    """The warning on stderr names it and the nearest setting."""
    strange = {"STILLTRUE_STORE_URL": "x", "STILLTRUE_TOKEN": "st_secret", "STILLTRUE_EMBEDDING_ENGINE": "none"}
    with wire(tmp_path, env=strange) as client:
        assert client.done("remember", text="Priya prefers tea.")["stored"]
        assert "WARNING: environment variable STILLTRUE_STORE_URL:" in client.stderr
        assert "STILLTRUE_STORE_URI. It is ignored." in client.stderr
        assert "WARNING: environment variable STILLTRUE_TOKEN:" in client.stderr
        assert "st_secret" not in client.stderr


def test_a_setting_with_a_wrong_value_stops_the_server(tmp_path: Path) -> None:
    """With exit code 2 and the variable's name."""
    with pytest.raises(AssertionError, match="the server ended"), wire(tmp_path, env={"STILLTRUE_HTTP_PORT": "many"}):
        pass
    assert "STILLTRUE_HTTP_PORT" in (tmp_path / "stderr-0").read_text()
