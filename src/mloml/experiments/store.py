"""Where finished cells are kept: one small file each, whole or absent."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mloml.errors import CellFileError, StoreError
from mloml.files import clear, reason, write_atomically

if TYPE_CHECKING:
    import pandas as pd

    from mloml.experiments.cell import Cell

Record = dict[str, Any]

# Columns of ``cells.csv``; of a key it has the digits that the cell's file is named by.
COLUMNS = ("dataset", "algorithm", "split", "error", "chosen", "seconds", "status", "protocol", "key")

DIGITS = 16

# A record takes a few thousand bytes; whatever is larger than this is none.
MOST_BYTES = 1 << 26

# Three hundred years: no cell takes longer.
MOST_SECONDS = 1e10

_FRAME = b'{"sha256": "%s", "record":\n%s\n}\n'
_BODY, _END = _FRAME.index(b"%s\n}") - 2 + 64, len(b"\n}\n")


class DamagedError(Exception):
    """The bytes are not a whole record; the message says in what way."""


def pack(record: Record) -> bytes:
    """Return the content of a record's file: JSON with a checksum in which every byte counts.

    >>> print(pack({"error": 0.5}).decode(), end="")
    {"sha256": "...", "record":
    {"error":0.5}
    }
    """
    body = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
    return _FRAME % (sha256(body).hexdigest().encode(), body)


def unpack(content: bytes) -> Record:
    """Return the record in a file's content, or raise a :class:`DamagedError`."""
    body = content[_BODY:-_END]
    if content != _FRAME % (sha256(body).hexdigest().encode(), body):
        raise DamagedError("it is truncated, or its checksum differs")
    try:
        record = json.loads(body)
        names = [record[name] for name in ("dataset", "algorithm", "key")]
        error, seconds = record["error"], record["seconds"]["total"]
        whole = type(record["split"]) is int and isinstance(record["chosen"], dict)
    except (ValueError, RecursionError, KeyError, TypeError):
        raise DamagedError("it is not a cell") from None
    if not whole or not all(isinstance(name, str) for name in names):
        raise DamagedError("it is not a cell")
    if not (_is_between(error, 1) and _is_between(seconds, MOST_SECONDS)):
        raise DamagedError(f"its error {error!r:.20} or its time {seconds!r:.20} cannot be")
    return dict(record)


class Store:
    """A folder of cells, shared by all studies, runs and machines that see it.

    A cell is the file ``<dataset>/<algorithm>/<split>-<key>.json``: its record and the record's checksum.
    It appears under that name in one step (written beside, synchronised, renamed), so a crash at any
    moment leaves it whole or absent. A file that was damaged later, or that holds another cell, counts as
    absent: it is noted in ``damaged`` and replaced when the cell is computed again. Failures are never
    stored.

    Parameters
    ----------
    folder : path
        Usually ``results/store``; made when the first cell is stored.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.damaged: dict[Path, str] = {}

    def path(self, cell: Cell) -> Path:
        """Return the file of a cell."""
        return self.folder / cell.dataset / cell.algorithm.name / _file_name(cell.split, cell.key)

    def claim(self, cell: Cell, kind: str) -> Path:
        """Return the file that whoever computes the cell locks (``lock``) or writes to (``note``)."""
        return self.folder / ".claims" / f"{cell.key[:32]}.{kind}"

    def get(self, cell: Cell) -> Record | None:
        """Return the record of a cell, or None when it has to be computed.

        This is the one way to ask whether a cell is done: for a study, for every backend and for its workers.

        Raises
        ------
        CellFileError
            When something else than a file that can be read has the cell's name.
        """
        return self.read(self.path(cell), cell.key)

    def get_all(self, cells: Iterable[Cell]) -> dict[str, Record]:
        """Return the records of those cells that are done, by key; what cannot be read is left to its job."""
        found = {}
        for cell in cells:
            with suppress(CellFileError):
                found[cell.key] = self.get(cell)
        return {key: record for key, record in found.items() if record is not None}

    def put(self, cell: Cell, record: Record) -> Path:
        """Store the record of a finished cell; it survives a crash from here on."""
        path = self.path(cell)
        write_atomically(path, pack(record))
        return path

    def clear_leftovers(self) -> None:
        """Remove what killed processes left half-written."""
        for pattern in (".*.tmp", "*/*/.*.tmp"):
            clear(self.folder, pattern)

    def read(self, path: Path, key: str | None = None) -> Record | None:
        """Return the record in a file; None, and a note in ``damaged``, when it is not whole."""
        try:
            record = unpack(_content(path))
            own = record["dataset"], record["algorithm"], _file_name(record["split"], record["key"])
            if path.parts[-3:] != own or (key is not None and record["key"] != key):
                raise DamagedError("it holds another cell")
        except FileNotFoundError:
            return None
        except DamagedError as error:
            self.damaged[path] = str(error)
            return None
        except OSError as error:
            raise CellFileError(f"{path}: cannot be read ({reason(error)})") from None
        return record

    def read_cell(self, dataset: str, algorithm: str, split: int, key: str) -> Record | None:
        """Return the record of a cell that is known by its row in ``cells.csv``."""
        return self.read(self.folder / dataset / algorithm / _file_name(split, key))

    def require_writable(self) -> None:
        """Raise a :class:`StoreError` when nothing could be stored, before hours are spent."""
        probe = self.folder / f".{uuid4().hex}.tmp"
        try:
            write_atomically(probe, "")
        except StoreError as error:
            problem = str(error).removeprefix(f"{probe}: ")
            raise StoreError(f"execution.results={self.folder.parent}: {problem}") from None
        probe.unlink(missing_ok=True)


def cells_frame(
    cells: Iterable[Cell], records: Mapping[str, Record], states: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return the frame behind ``cells.csv``: one row per cell.

    Parameters
    ----------
    cells : iterable of Cell
        In the order of the rows.
    records : mapping
        Records of the finished ones by key.
    states : mapping, optional
        What became of others by key: ``failed``, ``killed`` or ``timeout``; ``missing`` by default.
    """
    import pandas as pd

    rows = []
    for cell in cells:
        record, state = records.get(cell.key), (states or {}).get(cell.key, "missing")
        found: tuple[Any, ...] = (None, None, None, state)
        if record is not None:
            chosen = json.dumps(record["chosen"], sort_keys=True)
            found = record["error"], chosen, round(record["seconds"]["total"], 6), "ok"
        names = cell.dataset, cell.algorithm.name, cell.split
        rows.append((*names, *found, cell.protocol.name, cell.key[:DIGITS]))
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"error": "float64", "seconds": "float64", "split": "int64"})


def _file_name(split: int, key: str) -> str:
    return f"{split}-{key[:DIGITS]}.json"


def _content(path: Path) -> bytes:
    """Return the content of a file; anything else of that name is an error, and never waited for."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"it is a {'folder' if stat.S_ISDIR(status.st_mode) else 'pipe or device'}")
    if status.st_size > MOST_BYTES:
        raise DamagedError("it is too large for a cell")
    return path.read_bytes()


def _is_between(value: Any, most: float) -> bool:
    """Tell whether a value is a number from 0 to ``most``; NaN is not."""
    return type(value) in (int, float) and 0 <= value <= most
