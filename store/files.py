"""What keeps a store whole: one writer at a time, and in a folder on the disk before it is acknowledged."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic

from filelock import FileLock, Timeout

from stilltrue.errors import StoreTrouble
from store.errors import trouble

_POLL_S = 0.002
"""How often a waiting writer looks at the lock. A write holds it for some 20 ms."""


class ThreadLock:
    """A lock between the threads of this process; a thread may take it again. People are told of it by `name`."""

    def __init__(self, name: str, timeout_s: float) -> None:
        self._name = name
        self._timeout_s = timeout_s
        self._threads = threading.Lock()
        self._owner: int | None = None

    @property
    def is_mine(self) -> bool:
        """Whether this thread holds it."""
        return self._owner == threading.get_ident()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the lock. Raises StoreTrouble where it cannot be had in time."""
        if self.is_mine:
            yield
            return
        try:
            self._acquire(self._timeout_s)
        except Timeout:
            raise StoreTrouble(
                f"Another writer held {self._name} for more than {self._timeout_s:g} seconds.",
                "Nothing was written. Try again; if it stays so, end the server on this store that hangs.",
            ) from None
        except OSError as error:
            raise trouble(self._name, "to be locked", error) from error
        try:
            yield
        finally:
            self._release()

    @contextmanager
    def tried(self) -> Iterator[bool]:
        """Holds the lock if nobody else does, without waiting; yields whether it could be had."""
        try:
            self._acquire(0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            self._release()

    def _acquire(self, timeout_s: float) -> None:
        if not self._threads.acquire(timeout=timeout_s):
            raise Timeout(self._name)
        self._owner = threading.get_ident()

    def _release(self) -> None:
        self._owner = None
        self._threads.release()


class ProcessLock(ThreadLock):
    """A lock between all threads of all processes that open the same file; a thread may take it again.

    It is the operating system's lock on an open file: it ends with its process, however that ends.
    """

    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__(str(path), timeout_s)
        self._file = FileLock(path, thread_local=False)

    def _acquire(self, timeout_s: float) -> None:
        deadline = monotonic() + timeout_s
        super()._acquire(timeout_s)
        try:
            self._file.acquire(timeout=max(deadline - monotonic(), 0), poll_interval=_POLL_S)
        except BaseException:
            super()._release()
            raise

    def _release(self) -> None:
        self._file.release()
        super()._release()


class Syncer:
    """Puts what LanceDB wrote on the disk. LanceDB itself never does.

    A version may rest on files that another process wrote and did not put on the disk yet (a compaction that was
    killed, say). So everything that this object has not seen on the disk before is put there, not only what
    this process wrote.
    """

    def __init__(self, dataset: Path) -> None:
        self._dataset = dataset
        self._mutex = threading.Lock()
        self._seen: dict[str, frozenset[str]] = {}

    def sync(self, version: int) -> None:
        """Returns when `version` of the dataset, and all that it rests on, would survive a power cut."""
        with self._mutex:
            try:
                self._sync(version)
            except BaseException:
                # Nobody knows what did reach the disk: the next time, nothing counts as seen.
                self._seen.clear()
                raise

    def _sync(self, version: int) -> None:
        if not self._seen:
            _fsync(self._dataset.parent)
            _fsync(self._dataset)
        # The manifest comes last: once it is on the disk, all that it names is.
        for index in self._new("_indices"):
            folder = self._dataset / "_indices" / index
            for name in _names(folder):
                _fsync(folder / name)
            _fsync(folder)
        for kind in ("data", "_deletions"):
            for name in self._new(kind):
                _fsync(self._dataset / kind / name)
        _fsync(self._dataset / "_indices")
        _fsync(self._dataset / "data")
        _fsync(self._dataset / "_deletions")
        # Names count down: this version and all later ones are the names up to its own.
        for name in self._new("_versions"):
            if name.endswith(".manifest") and name <= manifest_name(version):
                _fsync(self._dataset / "_versions" / name)
        _fsync(self._dataset / "_versions")

    def _new(self, folder: str) -> frozenset[str]:
        """The names in a folder that were not there the last time."""
        names = _names(self._dataset / folder)
        new = names - self._seen.get(folder, frozenset())
        self._seen[folder] = names
        return new


def manifest_name(version: int) -> str:
    """The file that makes a version exist. Its number counts down, so that the newest comes first in a listing."""
    return f"{2**64 - 1 - version:020d}.manifest"


def write_whole(path: Path, content: bytes) -> None:
    """Replaces a file so that it holds the old or the new content at any moment, and the new one on return."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _fsync(path.parent)


def remove_drafts(dataset: Path) -> None:
    """Removes what LanceDB was writing when a process was killed; it does so itself never.

    A draft gets its name when it is whole. To be called with all who write there kept out.
    """
    for draft in dataset.rglob(".tmp*"):
        draft.unlink(missing_ok=True)


def bytes_under(folder: Path) -> int:
    """How many bytes the files under a folder hold, but for those that upkeep removes at this moment."""
    sizes = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            sizes += file.stat().st_size if file.is_file() else 0
    return sizes


def sync_folder(folder: Path) -> None:
    """Puts on the disk which files a folder has."""
    _fsync(folder)


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except FileNotFoundError:
        return frozenset()


def _fsync(path: Path) -> None:
    """A file that is gone by now was cleaned up as no longer needed: there is nothing to keep of it."""
    if os.name == "nt" and path.is_dir():
        return  # Windows has no such call for folders; NTFS journals their changes.
    try:
        descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
