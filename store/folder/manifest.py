"""Reads from a Lance manifest which files its version consists of: as much as healing has to know.

The end of the file is the position of the manifest message (8 bytes), the format version (4) and `LANC`. There
stand the message's length (4 bytes, little endian) and the message, in protobuf; of its fields (table.proto of
Lance 13) these are read: 2 fragments -> 2 files -> 1 path, 7 the time of writing (1 seconds, 2 nanoseconds), and
6 the position of the index section, laid out alike, 1 indices -> 1 uuid -> 1 bytes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

MAGIC = b"LANC"
"""The last four bytes of every file that Lance finished writing."""

_FOOTER = 16
_FRAGMENTS, _INDEX_SECTION, _TIMESTAMP = 2, 6, 7


@dataclass(frozen=True, slots=True)
class Parts:
    """The files of one version: names under `data/`, and of folders under `_indices/`. Written at, since 1970."""

    data: frozenset[str]
    indices: frozenset[str]
    written_at_s: float


def parts_of(content: bytes) -> Parts:
    """What a manifest names. Raises ValueError where it is not whole."""
    if len(content) < _FOOTER or not content.endswith(MAGIC):
        raise ValueError("the end of the manifest is missing")
    manifest = _section(content, int.from_bytes(content[-_FOOTER : 8 - _FOOTER], "little"))
    files = [
        path.decode()
        for fragment in _within(manifest, _FRAGMENTS)
        for file in _within(fragment, 2)
        for path in _within(file, 1)
    ]
    indices = [
        str(uuid.UUID(bytes=identity))
        for position in _numbers(manifest, _INDEX_SECTION)
        for index in _within(_section(content, position), 1)
        for named in _within(index, 1)
        for identity in _within(named, 1)
    ]
    times = [
        sum(_numbers(timestamp, 1)) + sum(_numbers(timestamp, 2)) / 1e9 for timestamp in _within(manifest, _TIMESTAMP)
    ]
    return Parts(frozenset(files), frozenset(indices), max(times, default=0.0))


def _section(content: bytes, position: int) -> bytes:
    start = position + 4
    length = int.from_bytes(content[position:start], "little")
    if not 0 < length <= len(content) - start:
        raise ValueError(f"the manifest has no section at {position}")
    return content[start : start + length]


def _within(message: bytes, wanted: int) -> list[bytes]:
    """The values of a field that holds messages or bytes."""
    return [value for number, value in _fields(message) if number == wanted and isinstance(value, bytes)]


def _numbers(message: bytes, wanted: int) -> list[int]:
    """The values of a field that holds numbers."""
    return [value for number, value in _fields(message) if number == wanted and isinstance(value, int)]


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message in their order, by number."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise ValueError("the manifest holds a field without a number")
        if kind == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == 2:
            length, at = _varint(message, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"the manifest holds a field of the unknown kind {kind}")
        if at + length > len(message):
            raise ValueError("a field of the manifest is cut off")
        yield number, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message):
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError("a number in the manifest is cut off")
