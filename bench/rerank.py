"""How long does a cross-encoder take for 50 candidates? Known architectures with random weights, run by the product.

Latency does not depend on the weights. How well a cross-encoder ranks is not measured here, since that takes real
weights. Requires the `sentence-transformers` extra.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.report import finish, table
from bench.stage import rows
from store.embed.cross_encoder import load_reranker

CANDIDATES = 50
TOKENIZER = Path(__file__).resolve().parent.parent / "store" / "embed" / "data" / "minilm" / "tokenizer.json"
ARCHITECTURES = {
    "tiny": ("as ms-marco-TinyBERT-L2-v2", 2, 128),
    "small": ("as ms-marco-MiniLM-L2-v2", 2, 384),
    "usual": ("as ms-marco-MiniLM-L6-v2", 6, 384),
}


def main(argv: Sequence[str]) -> int:
    """Time each architecture. Returns 2 if the library is not installed."""
    options = argparse.ArgumentParser(prog="python -m bench rerank")
    options.add_argument("--rounds", type=int, default=15, help="how often the 50 candidates are scored")
    options.add_argument("--only", choices=ARCHITECTURES, help="only this architecture")
    chosen = options.parse_args(argv)
    if find_spec("sentence_transformers") is None:
        print("This benchmark needs: pip install 'stilltrue[sentence-transformers]'", file=sys.stderr)
        return 2
    texts = [row["text"] for row in rows("fillers")][:CANDIDATES]
    figures = [_timed(name, texts, chosen.rounds) for name in ARCHITECTURES if chosen.only in (None, name)]
    print(table(
        ["architecture", "layers", "width", "p50 ms", "p95 ms"],
        [[each["model"], each["layers"], each["width"], each["p50_ms"], each["p95_ms"]] for each in figures],
    ))  # fmt: skip
    finish({"models": figures})
    return 0


def _timed(name: str, texts: Sequence[str], rounds: int) -> dict[str, Any]:
    model, layers, width = ARCHITECTURES[name]
    with tempfile.TemporaryDirectory() as folder:
        _make(Path(folder), layers, width)
        reranker = load_reranker(folder)
        took: list[float] = []
        scores: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        for _ in range(rounds):
            began = perf_counter()
            scores = reranker.score("Where does the team eat on Thursday?", texts)
            took.append((perf_counter() - began) * 1e3)
    return {
        "model": model,
        "layers": layers,
        "width": width,
        "candidates": len(scores),
        "finite": bool(np.isfinite(scores).all()),
        "p50_ms": round(median(took), 1),
        "p95_ms": round(sorted(took)[int(0.95 * (len(took) - 1))], 1),
    }


def _make(folder: Path, layers: int, width: int) -> None:
    """Save a cross-encoder of this size with random weights, in the library's format."""
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    config = BertConfig(
        vocab_size=30_522,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 32 if width > 128 else 2,
        intermediate_size=4 * width,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_file=str(TOKENIZER),
        model_max_length=512,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="[UNK]",
    ).save_pretrained(folder)
