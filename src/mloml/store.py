"""Where finished cells are kept: one small file each, whole or absent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mloml.errors import StoreError
from mloml.files import write_atomically as write_atomically
from mloml.leftovers import clear

if TYPE_CHECKING:
    import pandas as pd

    from mloml.evaluation.cell import Cell

Record = dict[str, Any]

COLUMNS = ("dataset", "algorithm", "split", "error", "chosen", "seconds", "status", "protocol", "key")
"""Columns of ``cells.csv``."""

STATES = ("ok", "failed", "killed", "timeout", "missing")
"""What can become of a cell; ``missing`` has not been computed."""


class Store:
    """A folder of cells, shared by all studies, runs and machines that see it.

    A cell is the file ``<dataset>/<algorithm>/<split>-<key>.json``: its record and the record's checksum.
    It appears under that name in one step (written beside, synchronised, renamed), so a crash at any
    moment leaves it whole or absent. A file that was damaged later counts as absent: it is noted in
    ``damaged`` and replaced when the cell is computed again. Failures are never stored.

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
        return self.folder / cell.dataset / cell.algorithm.name / f"{cell.split}-{cell.key[:16]}.json"

    def claim_path(self, cell: Cell) -> Path:
        """Return the file that whoever computes the cell holds a lock on meanwhile."""
        return self.folder / ".claims" / cell.key[:32]

    def get(self, cell: Cell) -> Record | None:
        """Return the record of a cell, or None when it has to be computed."""
        record = self.read(self.path(cell))
        return record if record is not None and record.get("key") == cell.key else None

    def put(self, cell: Cell, record: Record) -> Path:
        """Store the record of a finished cell; it survives a crash from here on."""
        path = self.path(cell)
        text = json.dumps({"sha256": _checksum(record), "record": record}, sort_keys=True, indent=1)
        write_atomically(path, text + "\n")
        return path

    def discard_debris(self, cell: Cell) -> None:
        """Remove what a crash in the middle of writing this cell left beside it; its claim must be held."""
        path = self.path(cell)
        for leftover in path.parent.glob(f".{path.name}-*.tmp"):
            leftover.unlink(missing_ok=True)

    def clear_leftovers(self) -> None:
        """Remove what killed runs left half-written, whichever cells it was; nobody living loses anything."""
        for pattern in (".probe-*", ".*.tmp", "*/*/.*.tmp"):
            clear(self.folder, pattern)

    def read(self, path: Path) -> Record | None:
        """Return the record in a file; None, and a note in ``damaged``, when it is not whole."""
        try:
            content = json.loads(path.read_bytes())
            record: Record = content["record"]
            if content["sha256"] != _checksum(record):
                self.damaged[path] = "its checksum differs"
                return None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValueError, KeyError, TypeError):
            self.damaged[path] = "it is truncated or no cell"
            return None
        return record

    def siblings(self, cell: Cell) -> Iterator[Record]:
        """Yield the stored records of the same dataset, algorithm, split and protocol with another key."""
        own = self.path(cell)
        for path in sorted(own.parent.glob(f"{cell.split}-*.json")):
            record = self.read(path) if path != own else None
            if record is not None and record.get("protocol") == cell.protocol.name:
                yield record

    def records(self) -> Iterator[Record]:
        """Yield every whole record in the store."""
        for path in sorted(self.folder.glob("*/*/*.json")):
            record = self.read(path)
            if record is not None:
                yield record

    def frame(self, cells: Sequence[Cell]) -> pd.DataFrame:
        """Return one row per cell, in the order given; those not stored have status ``missing``."""
        found = {cell.key: self.get(cell) for cell in cells}
        return cells_frame(cells, {key: record for key, record in found.items() if record is not None})

    def require_writable(self) -> None:
        """Raise a :class:`StoreError` when nothing could be stored, before hours are spent."""
        probe = self.folder / f".probe-{uuid4().hex}"
        write_atomically(probe, "")
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
        What became of others by key, one of :data:`STATES`; ``missing`` by default.
    """
    import pandas as pd

    rows = []
    for cell in cells:
        record = records.get(cell.key)
        state = "ok" if record is not None else (states or {}).get(cell.key, "missing")
        rows.append(
            {
                "dataset": cell.dataset,
                "algorithm": cell.algorithm.name,
                "split": cell.split,
                "error": record["error"] if record is not None else None,
                "chosen": json.dumps(record["chosen"], sort_keys=True) if record is not None else None,
                "seconds": round(record["seconds"]["total"], 6) if record is not None else None,
                "status": state,
                "protocol": cell.protocol.name,
                "key": cell.key,
            }
        )
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"error": "float64", "seconds": "float64", "split": "int64"})


def _checksum(record: Record) -> str:
    canonical = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()
