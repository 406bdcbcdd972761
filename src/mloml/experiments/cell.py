"""One cell of a study: one dataset under one algorithm, by one protocol, in one split.

The cell is the unit of work, of caching and of failure. Its key is the hash of what its result follows from;
running it gives a record that can be written as JSON.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
import time
import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from mloml.config.lookup import is_stream_classifier, learner_class, parameter_names
from mloml.errors import ConfigError
from mloml.experiments.key import key_fields, key_of
from mloml.experiments.neighbours import Rows
from mloml.experiments.preprocessing import needs_pca
from mloml.experiments.selection import select, tuned_grid, unused_parameters
from mloml.experiments.splits import derive_seed, fold_indices, halves

if TYPE_CHECKING:
    from mloml.config.schema import Algorithm, ProtocolConfig
    from mloml.datasets import Dataset

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "mloml")


@dataclass(frozen=True)
class Cell:
    """What one error rate follows from.

    Parameters
    ----------
    dataset, checksum : str
        Name of the dataset (the seeds follow from it) and hash of its content.
    algorithm : Algorithm
    protocol : ProtocolConfig
    split : int
    record : tuple of str
        What to record besides the error: ``"layers"`` (of every metric layer), ``"scans"`` (after every
        scan).
    features : int, optional
        Number of features, if known. Data too narrow for PCA then have the same cells whatever the PCA
        settings.
    """

    dataset: str
    checksum: str
    algorithm: Algorithm
    protocol: ProtocolConfig
    split: int
    record: tuple[str, ...] = ()
    features: int | None = None

    @cached_property
    def key(self) -> str:
        """Hash of what the result follows from, see :func:`mloml.experiments.key.key_fields`."""
        return key_of(key_fields(self))

    def seed(self, *purpose: object) -> int:
        """Return the seed of one purpose: ``"split"``, ``"folds"``, ``"stream"`` or a fold's stream."""
        return derive_seed(self.protocol.seed, self.dataset, self.split, *purpose)


def cells_of_splits(first: Cell, splits: int) -> list[Cell]:
    """Return the cells that differ from one in their split only; their keys cost next to nothing."""
    fields = key_fields(first)
    cells = [dataclasses.replace(first, split=split) for split in range(splits)]
    for cell in cells:
        cell.__dict__["key"] = key_of(fields | {"split": cell.split})
    return cells


def run_cell(cell: Cell, data: Dataset) -> dict[str, Any]:
    """Learn, choose and test; return the cell's record.

    Numerical libraries use one thread inside, so that the numbers do not depend on how many cells run at
    once.
    """
    if data.checksum != cell.checksum:
        raise ValueError(f"{cell.dataset}: the data's checksum is {data.checksum}, not {cell.checksum}")
    start = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        half, folds = _rows(cell, data)
        learner = make_learner(cell)
        grid = tuned_grid(learner, cell.algorithm.params, cell.algorithm.grid)
        selection = select(learner, grid, half, folds)
        layers = half.layer_errors(selection.learner) if "layers" in cell.record else None
        scans = half.scan_errors(selection.learner) if "scans" in cell.record else None
    seconds = {"total": time.perf_counter() - start, **selection.seconds}
    pca = cell.protocol.pca if needs_pca(data.X.shape[1], cell.protocol.pca) else None
    return {
        "dataset": cell.dataset,
        "algorithm": cell.algorithm.name,
        "protocol": cell.protocol.name,
        "split": cell.split,
        "key": cell.key,
        "error": selection.error,
        "chosen": selection.chosen,
        "grid": selection.grid,
        "layer_errors": layers,
        "scan_errors": scans,
        "seconds": seconds,
        "counters": _counters(selection.learner),
        "preprocessing": {
            "pca": pca and ("centred" if pca.centred else "uncentred"),
            "pca_fitted_on": pca and pca.fit,  # one fitted on all rows has seen the test half
            "rows": cell.protocol.rows,
            "features": half.X_fit.shape[1],
        },
        "seeds": {purpose: cell.seed(purpose) for purpose in ("split", "folds", "stream")},
        "versions": versions(),
        "checksum": data.checksum,
        "warnings": sorted({str(warning.message) for warning in caught}),
        "status": "ok",
    }


def make_learner(cell: Cell) -> BaseEstimator:
    """Return the algorithm's learner, unfitted: its own parameters, the protocol's scans, the split's seed.

    An algorithm may have its own number of scans; it sees the same first ones as all others then.
    A null parameter with a grid keeps the learner's default until a candidate sets it, as does one that the
    learner does not use; any other null is passed on.
    """
    algorithm = cell.algorithm
    kind = learner_class(algorithm.learner)
    if is_stream_classifier(kind):
        raise ConfigError(f"{algorithm.learner} maps no rows, it classifies a stream: set protocol.window")
    known = parameter_names(kind)
    own = {name: value for name, value in algorithm.params.items() if value is not None}
    learner = kind(**own)
    nulls = algorithm.params.keys() - own.keys() - algorithm.grid.keys() - unused_parameters(learner)
    from_protocol = {"scans": cell.protocol.scans, "random_state": cell.seed("stream")}
    settings = {name: value for name, value in from_protocol.items() if name in known and name not in own}
    return learner.set_params(**dict.fromkeys(nulls), **settings)


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries a result depends on."""
    libraries = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    return {"python": platform.python_version(), **libraries}


def _rows(cell: Cell, data: Dataset) -> tuple[Rows, list[tuple[Rows, int]]]:
    """Return the training half with its test half, and its folds with the seed of each."""
    protocol, how = cell.protocol, (cell.protocol.neighbours, cell.protocol.ties)
    X, y, X_test, y_test, _ = halves(data, protocol, cell.split)
    pairs = fold_indices(y, cell.split, protocol.seed, cell.dataset, protocol.folds)
    folds = [
        (Rows(X[fit], y[fit], X[validate], y[validate], *how), cell.seed("stream", fold))
        for fold, (fit, validate) in enumerate(pairs)
    ]
    return Rows(X, y, X_test, y_test, *how), folds


def _counters(learner: Any) -> dict[str, Any]:
    """Return the chosen learner's counts of triplets, updates and cone failures (lists: per layer)."""
    names = ("n_triplets", "n_updates", "n_cone_failures")
    values = {name: getattr(learner, f"{name}_", None) for name in names}
    return {name: None if value is None else np.asarray(value).tolist() for name, value in values.items()}
