"""Where finished cells are kept: one small file each, whole or absent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mloml.errors import CellFileError, StoreError
from mloml.files import clear, write_atomically
from mloml.experiments import cell_file
from mloml.experiments.collector import collector_at_rest

if TYPE_CHECKING:
    import pandas as pd

    from mloml.experiments.cell import Cell

Record = dict[str, Any]

COLUMNS = ("dataset", "algorithm", "split", "error", "chosen", "seconds", "status", "protocol", "key")
"""Columns of ``cells.csv``."""

STATES = ("ok", "failed", "killed", "timeout", "missing")
"""What can become of a cell; ``missing`` has not been computed."""


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
        return Path(self._name(cell))

    def claim_path(self, cell: Cell) -> Path:
        """Return the file that whoever computes the cell holds a lock on meanwhile."""
        return self.folder / ".claims" / cell.key[:32]

    def get(self, cell: Cell) -> Record | None:
        """Return the record of a cell, or None when it has to be computed.

        This is the one way to ask whether a cell is done: for a study, for every backend and for its workers.

        Raises
        ------
        CellFileError
            When something else than a file that can be read has the cell's name.
        """
        return self._read(self._name(cell), cell.key)

    def get_all(self, cells: Iterable[Cell]) -> dict[str, Record]:
        """Return the records of those cells that are done, by key.

        What cannot be read is left to the cell's own job: it concerns no other.
        """
        found = {}
        with collector_at_rest():
            for cell in cells:
                try:
                    record = self.get(cell)
                except CellFileError:
                    continue
                if record is not None:
                    found[cell.key] = record
        return found

    def put(self, cell: Cell, record: Record) -> Path:
        """Store the record of a finished cell; it survives a crash from here on."""
        path = self.path(cell)
        write_atomically(path, cell_file.pack(record))
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

    def read(self, path: str | Path) -> Record | None:
        """Return the record in a file; None, and a note in ``damaged``, when it is not whole."""
        return self._read(str(path))

    def siblings(self, cells: Iterable[Cell]) -> Iterator[tuple[Cell, list[Record]]]:
        """Yield each cell with the records of its dataset, algorithm, split and protocol under other keys.

        Every folder is listed once.
        """
        listings: dict[tuple[str, str], dict[str, list[str]]] = {}
        for cell in cells:
            place = cell.dataset, cell.algorithm.name
            if place not in listings:
                listings[place] = _by_split(self.folder.joinpath(*place))
            own = self._name(cell)
            paths = (path for path in listings[place].get(str(cell.split), ()) if path != own)
            found = (record for record in map(self._read_beside, paths) if record is not None)
            yield cell, [record for record in found if record.get("protocol") == cell.protocol.name]

    def _name(self, cell: Cell) -> str:
        # Text, because a study asks for every cell: paths would take most of the time.
        return f"{self.folder}/{cell.dataset}/{cell.algorithm.name}/{cell.split}-{cell.key[:16]}.json"

    def _read(self, path: str, key: str | None = None) -> Record | None:
        try:
            record = cell_file.unpack(cell_file.read(path))
            _require_own_file(record, path, key)
        except FileNotFoundError:
            return None
        except cell_file.DamagedError as error:
            self.damaged[Path(path)] = str(error)
            return None
        except OSError as error:
            raise CellFileError(f"{path}: cannot be read ({error.strerror or error})") from None
        return record

    def _read_beside(self, path: str) -> Record | None:
        try:
            return self._read(path)
        except CellFileError:  # nobody asked for this one
            return None

    def records(self) -> Iterator[Record]:
        """Yield every whole record in the store."""
        for path in sorted(self.folder.glob("*/*/*.json")):
            record = self._read_beside(str(path))
            if record is not None:
                yield record

    def frame(self, cells: Sequence[Cell]) -> pd.DataFrame:
        """Return one row per cell, in the order given; those not stored have status ``missing``."""
        return cells_frame(cells, self.get_all(cells))

    def require_writable(self) -> None:
        """Raise a :class:`StoreError` when nothing could be stored, before hours are spent."""
        probe = self.folder / f".probe-{uuid4().hex}"
        try:
            write_atomically(probe, "")
        except StoreError as error:
            reason = str(error).removeprefix(f"{probe}: ")
            raise StoreError(f"execution.results={self.folder.parent}: {reason}") from None
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

    cells = list(cells)
    found = [records.get(cell.key) for cell in cells]
    states = states or {}
    columns: dict[str, list[Any]] = {
        "dataset": [cell.dataset for cell in cells],
        "algorithm": [cell.algorithm.name for cell in cells],
        "split": [cell.split for cell in cells],
        "error": [record and record["error"] for record in found],
        "chosen": [record and json.dumps(record["chosen"], sort_keys=True) for record in found],
        "seconds": [record and round(record["seconds"]["total"], 6) for record in found],
        "status": [
            "ok" if record else states.get(cell.key, "missing")
            for cell, record in zip(cells, found, strict=True)
        ],
        "protocol": [cell.protocol.name for cell in cells],
        "key": [cell.key for cell in cells],
    }
    frame = pd.DataFrame(columns, columns=list(COLUMNS))
    return frame.astype({"error": "float64", "seconds": "float64", "split": "int64"})


def _require_own_file(record: Record, path: str, key: str | None) -> None:
    """Refuse a record that belongs under another name: somebody swapped or copied files."""
    own = f"/{record['dataset']}/{record['algorithm']}/{record['split']}-{record['key'][:16]}.json"
    if not path.endswith(own) or (key is not None and record["key"] != key):
        raise cell_file.DamagedError("it holds another cell")


def _by_split(folder: Path) -> dict[str, list[str]]:
    """Return the cells in a folder by their split, in the order of their names."""
    found: dict[str, list[str]] = {}
    with suppress(FileNotFoundError, NotADirectoryError):
        for name in sorted(path.name for path in folder.iterdir()):
            split, dash, _ = name.partition("-")
            if dash and name.endswith(".json"):
                found.setdefault(split, []).append(f"{folder}/{name}")
    return found
