"""A stored cell as bytes: JSON for everybody, with a checksum in which every single byte counts."""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from typing import Any

Record = dict[str, Any]

_BEGIN, _MIDDLE, _END = b'{"sha256": "', b'", "record":\n', b"\n}\n"
_DIGITS = 64
_BODY = len(_BEGIN) + _DIGITS + len(_MIDDLE)

MOST_BYTES = 1 << 26
"""A record takes a few thousand bytes; whatever is larger than this is none."""


MOST_SECONDS = 1e10
"""Three hundred years: no cell takes longer."""


class DamagedError(Exception):
    """The bytes are not a whole record; the message says in what way."""


def pack(record: Record) -> bytes:
    """Return the content of a record's file.

    >>> print(pack({"error": 0.5}).decode(), end="")
    {"sha256": "...", "record":
    {"error":0.5}
    }
    """
    body = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
    return b"".join((_BEGIN, sha256(body).hexdigest().encode(), _MIDDLE, body, _END))


def unpack(content: bytes) -> Record:
    """Return the record in a file's content, or raise a :class:`DamagedError`."""
    body = content[_BODY : -len(_END)]
    frame = content[: len(_BEGIN)], content[_BODY - len(_MIDDLE) : _BODY], content[-len(_END) :]
    if frame != (_BEGIN, _MIDDLE, _END):
        return _unpack_old(content)
    if content[len(_BEGIN) : len(_BEGIN) + _DIGITS] != sha256(body).hexdigest().encode():
        raise DamagedError("its checksum differs")
    return _checked(_parsed(body))


def read(path: str) -> bytes:
    """Return the content of a file; anything else of that name is an error, and never waited for."""
    # Without O_NONBLOCK a pipe would hold us until somebody writes into it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"it is a {'folder' if stat.S_ISDIR(status.st_mode) else 'pipe or device'}")
        if status.st_size > MOST_BYTES:
            raise DamagedError("it is too large for a cell")
        content = os.read(descriptor, status.st_size + 1)
        if len(content) != status.st_size:
            raise DamagedError("it changed while it was read")
        return content
    finally:
        os.close(descriptor)


def _unpack_old(content: bytes) -> Record:
    """Read what earlier versions wrote: an indented document, whose white space was not covered."""
    if not content.startswith(b'{\n "record"'):
        raise DamagedError("it is truncated or no cell")
    document = _parsed(content)
    record = document.get("record")
    canonical = json.dumps(record, sort_keys=True, separators=(",", ":"))
    if document.get("sha256") != sha256(canonical.encode()).hexdigest():
        raise DamagedError("its checksum differs")
    return _checked(record)


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise DamagedError("it is truncated or no cell") from None


def _checked(record: Any) -> Record:
    """Refuse a record without what tables read, or with an error that no classifier can have."""
    try:
        error, seconds = record["error"], record["seconds"]["total"]
        named = all(isinstance(record[name], str) for name in ("dataset", "algorithm", "key"))
        whole = named and type(record["split"]) is int and isinstance(record["chosen"], dict)
    except (KeyError, TypeError):
        raise DamagedError("it is truncated or no cell") from None
    if not whole:
        raise DamagedError("it is truncated or no cell")
    if not (_is_between(error, 1) and _is_between(seconds, MOST_SECONDS)):
        raise DamagedError(f"its error {error!r:.20} or its time {seconds!r:.20} cannot be")
    return record


def _is_between(value: Any, most: float) -> bool:
    """Tell whether a value is a number from 0 to ``most``; NaN is not."""
    return type(value) in (int, float) and 0 <= value <= most
