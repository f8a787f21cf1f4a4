"""An object storage of this machine: the S3 of moto, over HTTP, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from store.lance.store import LanceStore
from store.open import open_store

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "a-secret-of-the-tests"}
REGION = "us-east-1"

# One request after the other: moto looks whether an object is there and then writes it, which threads would come
# between. Object storage does both in one step.
_SERVER = """
import logging
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app))
print(server.port, flush=True)
server.serve_forever()
"""


@dataclass(frozen=True)
class Bucket:
    """A bucket, in which each test has a prefix of its own."""

    endpoint: str
    numbers: Iterator[int]

    def prefix(self) -> str:
        """The uri of a place where nothing is yet."""
        return f"s3://memories/{next(self.numbers)}"

    def store(self, uri: str) -> LanceStore:
        """The store at a uri, opened in this process."""
        return open_store(uri, endpoint=self.endpoint, region=REGION)

    def flags(self, uri: str) -> tuple[str, ...]:
        """What tells a server to serve this store. The model plays no part in what is kept."""
        settings = (f"store.endpoint={self.endpoint}", f"store.region={REGION}", "embedding.engine=none")
        return ("--store", uri, *(word for each in settings for word in ("--set", each)))


@contextmanager
def serving() -> Iterator[Bucket]:
    """The object storage, with an empty bucket."""
    with subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            endpoint = f"http://127.0.0.1:{int(process.stdout.readline())}"
            urllib.request.urlopen(urllib.request.Request(f"{endpoint}/memories", method="PUT")).close()
            yield Bucket(endpoint, count())
        finally:
            process.kill()
