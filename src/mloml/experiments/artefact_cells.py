"""The cells behind an artefact, read back from its manifest and ``cells.csv``, to be computed again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mloml.config.schema import Algorithm, PcaConfig, ProtocolConfig
from mloml.datasets.catalogue import DatasetConfig, DataSettings, catalogue
from mloml.errors import ConfigError, MlomlError
from mloml.experiments.job import Job
from mloml.experiments.store import Store

if TYPE_CHECKING:
    from mloml.datasets import Dataset
    from mloml.experiments.cell import Cell


T = TypeVar("T")


class SkippedError(MlomlError):
    """A cell cannot be computed again here; the message says why."""


@dataclass(frozen=True)
class Entry:
    """A finished cell as ``cells.csv`` has it."""

    dataset: str
    algorithm: str
    split: int
    error: float
    chosen: dict[str, Any]
    key: str

    def __str__(self) -> str:
        """Return the cell's name as other messages have it."""
        return f"{self.dataset}/{self.algorithm}, split {self.split}"


@dataclass
class ArtefactCells:
    """An artefact's finished cells and what they were computed from."""

    folder: Path
    manifest: dict[str, Any]
    entries: list[Entry]
    store: Store

    def job(self, entry: Entry) -> Job:
        """Return the job that computes a cell again, on the data of then; it has no store to write to."""
        from mloml.datasets import pin
        from mloml.experiments.cell import Cell

        algorithm = self._algorithm(entry.algorithm)
        config, data = self._data(entry.dataset)
        record = tuple(self.manifest["config"].get("record", ()))
        features = data.X.shape[1]
        cell = Cell(entry.dataset, data.checksum, algorithm, self._protocol, entry.split, record, features)
        return Job(cell, config, pin(data, self._settings), store="", run="")

    def is_of_this_code(self, entry: Entry, cell: Cell) -> bool:
        """Tell whether a cell was made by the code and the versions of this process."""
        from mloml.experiments.cell import versions

        return cell.key == entry.key and self._versions(entry) == versions()

    def _versions(self, entry: Entry) -> dict[str, str] | None:
        name = f"{entry.split}-{entry.key[:16]}.json"
        record = self.store.read(self.store.folder / entry.dataset / entry.algorithm / name)
        if record is not None:
            return record.get("versions")
        groups = self.manifest.get("cell_versions") or [{"versions": self.manifest.get("versions")}]
        return groups[0]["versions"] if len(groups) == 1 else None

    def _algorithm(self, name: str) -> Algorithm:
        from mloml import learners

        given = next((one for one in self.manifest["config"]["algorithms"] if one["name"] == name), None)
        if given is None:
            raise SkippedError(f"the manifest does not describe the algorithm {name}")
        # A class of somebody's own is imported because they ask for it, never because a result names it.
        if given["learner"] not in learners.__all__:
            raise SkippedError(f"{given['learner']} is not a class of this package")
        return _understood(Algorithm, given)

    @cached_property
    def _protocol(self) -> ProtocolConfig:
        given = dict(self.manifest["config"]["protocol"])
        pca = _understood(PcaConfig, given.pop("pca", {}))
        return _understood(ProtocolConfig, given | {"pca": pca})

    @cached_property
    def _settings(self) -> DataSettings:
        given = self.manifest["config"].get("data", {})
        return DataSettings(source=given.get("source", "auto"), offline=bool(given.get("offline", False)))

    @cached_property
    def _loaded(self) -> dict[str, tuple[DatasetConfig, Dataset] | str]:
        return {}

    def _data(self, name: str) -> tuple[DatasetConfig, Dataset]:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        found = self._loaded[name]
        if isinstance(found, str):
            raise SkippedError(found)
        return found

    def _load(self, name: str) -> tuple[DatasetConfig, Dataset] | str:
        """Return a dataset of the catalogue, or why there is none; no address of a manifest is followed."""
        from mloml.datasets import load

        config = catalogue().get(name)
        if config is None:
            return f"{name} is not in the catalogue, and the manifest does not say where its file was"
        try:
            data = load(config, self._settings)
        except MlomlError as error:
            return str(error)
        recorded = self.manifest["datasets"].get(name, {}).get("checksum")
        return (config, data) if data.checksum == recorded else f"{name}: the data here are not those of then"


def read_artefact(folder: Path, store: Store) -> ArtefactCells:
    """Read an artefact; one line says what is wrong with it."""
    import pandas as pd

    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        cells = pd.read_csv(folder / "cells.csv", dtype={"error": str})  # exact, whatever pandas does
        done = cells[cells["status"] == "ok"]
        columns = (done[name] for name in ("dataset", "algorithm", "split", "error", "chosen", "key"))
        entries = [
            Entry(dataset, algorithm, split, float(error), json.loads(chosen), key)
            for dataset, algorithm, split, error, chosen, key in zip(*columns, strict=True)
        ]
        if not isinstance(manifest["config"]["algorithms"], list):
            raise TypeError("algorithms")
    except FileNotFoundError as error:
        name = Path(error.filename).name
        raise MlomlError(f"{folder}: there is no {name}, so there are no cells to compute") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise MlomlError(f"{folder}: manifest.json or cells.csv is damaged") from None
    return ArtefactCells(folder, manifest, entries, store)


def _understood(kind: type[T], given: dict[str, Any]) -> T:
    try:
        return kind(**given)
    except (TypeError, ConfigError) as error:
        raise SkippedError(f"its {kind.__name__} is of another version of mloml: {error}") from None
