"""Stand-ins for what lies outside: a model for tests of mechanics, and a hub on this machine.

`FakeEmbedder` knows words and no meanings: nothing that a test claims about meaning may rest on it.
It lives here and not in the product, so that no configuration can choose it.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from numpy.typing import NDArray

from stilltrue.retrieval.late_interaction import sketch
from store.embed.pieces import cut
from store.port import Encoded, Fingerprint

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """A hashed bag of words in 64 dimensions: the same in every process, and never a model."""

    fingerprint = Fingerprint(model="fake-bag-of-words", sha256="0" * 64, dimension=64)

    def pieces(self, text: str) -> list[str]:
        """Slices of at most 200 words."""
        return cut(text, 200, lambda part: len(part.split()))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), 64), unit rows. A text without words points along the first axis."""
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _words(text):
                row += word
            row[0] += not row.any()
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The same vectors, each with its words as a sketch."""
        axes = np.eye(64, dtype=np.float32)
        words = [np.array(_words(text), dtype=np.float32).reshape(-1, 64) for text in texts]
        return [
            Encoded(vector, sketch(tokens, axes)) for vector, tokens in zip(self.embed(texts), words, strict=True)
        ]


class OtherModel(FakeEmbedder):
    """Another stand-in: 96 dimensions, along which the words lie otherwise, and a window of 50 words."""

    fingerprint = Fingerprint(model="fake-other", sha256="1" * 64, dimension=96)

    def pieces(self, text: str) -> list[str]:
        """Slices of at most 50 words."""
        return cut(text, 50, lambda part: len(part.split()))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), 96), unit rows: nothing before the last 64 numbers."""
        return np.pad(super().embed(texts)[:, ::-1], ((0, 0), (32, 0)))


def _words(text: str) -> list[NDArray[np.float32]]:
    axes = np.eye(64, dtype=np.float32)
    return [axes[zlib.crc32(word.encode()) % 64] for word in _WORD.findall(text.lower())]


@contextmanager
def hub(files: Mapping[str, bytes] | None) -> Iterator[str]:
    """The address of a model hub that serves `files` under any model's name; with None it never answers."""
    over = threading.Event()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if files is None:
                over.wait(60)
                return
            _, _, path = self.path.partition("/resolve/" + "a" * 40 + "/")
            if path:
                self._send(files[path], {"ETag": f'"{zlib.crc32(files[path]):08x}"', "X-Repo-Commit": "a" * 40})
            elif "/tree/" in self.path:
                tree = [{"type": "file", "path": p, "size": len(c), "oid": "b" * 40} for p, c in files.items()]
                self._send(json.dumps(tree).encode())
            else:
                self._send(json.dumps({"id": "priya/model", "sha": "a" * 40, "siblings": []}).encode())

        do_HEAD = do_GET  # noqa: N815

        def _send(self, body: bytes, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(200)
            for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        over.set()
        server.shutdown()
        server.server_close()
