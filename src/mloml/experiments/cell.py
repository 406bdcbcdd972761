"""One cell of a study: one dataset under one algorithm, by one protocol, in one split.

The cell is the unit of work, of caching and of failure. Its key says what determines its result; running it
gives a record that can be written as JSON.
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

from mloml.errors import ConfigError, suggestion
from mloml.experiments.determinants import KeyMaker, determinants, key_of
from mloml.experiments.fingerprint import fingerprint
from mloml.experiments.lookup import learner_class, parameter_names, recordable
from mloml.experiments.preprocessing import needs_pca, prepare
from mloml.experiments.scoring import Rows
from mloml.experiments.selection import Selection, select, tuned_grid, unused_parameters
from mloml.experiments.splits import derive_seed, fold_indices, split_indices

if TYPE_CHECKING:
    from mloml.config.schema import Algorithm, ProtocolConfig
    from mloml.datasets import Dataset

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "mloml")


@dataclass(frozen=True)
class Cell:
    """What determines one error rate.

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
        """Hash of what determines the result, see :func:`mloml.experiments.determinants.determinants`."""
        return key_of(determinants(self))

    @property
    def code(self) -> str:
        """Hash of the code that computes the cell."""
        return fingerprint(self.algorithm.learner)

    @property
    def recorded(self) -> list[str]:
        """What is recorded besides the error: what was asked for and the learner has."""
        return sorted(set(self.record) & recordable(learner_class(self.algorithm.learner)))

    @property
    def too_narrow_for_pca(self) -> bool:
        """Whether the data are known to have too few features for PCA."""
        return self.features is not None and not needs_pca(self.features, self.protocol.pca)


def cells_of_splits(first: Cell, splits: int) -> list[Cell]:
    """Return the cells that differ from one in their split only; their keys cost next to nothing."""
    keys = KeyMaker(determinants(first))
    cells = [dataclasses.replace(first, split=split) for split in range(splits)]
    for cell in cells:
        cell.__dict__["key"] = keys.key(cell.split)
    return cells


def run_cell(cell: Cell, data: Dataset) -> dict[str, Any]:
    """Learn, choose and test; return the cell's record.

    Numerical libraries use one thread inside, so that the numbers do not depend on how many cells run at
    once.
    """
    if data.checksum != cell.checksum:
        raise ValueError(
            f"{cell.dataset}: the data's checksum is {data.checksum}, the cell's is {cell.checksum}"
        )
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
        "counters": counters(selection),
        "preprocessing": _preprocessing(data, cell.protocol, half),
        "seeds": {purpose: _seed(cell, purpose) for purpose in ("split", "folds", "stream")},
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
    known = parameter_names(kind)
    for name in {**algorithm.params, **algorithm.grid}:
        if name not in known:
            hint = suggestion(name, known)
            raise ConfigError(
                f"algorithm '{algorithm.name}': {kind.__name__} has no parameter '{name}'{hint}"
            )
    learner = kind(**{name: value for name, value in algorithm.params.items() if value is not None})
    ignored = set(algorithm.grid) | unused_parameters(learner)
    nulls = {name for name, value in algorithm.params.items() if value is None}
    settings: dict[str, Any] = dict.fromkeys(nulls - ignored)
    from_protocol = {"scans": cell.protocol.scans, "random_state": _seed(cell, "stream")}
    own = [name for name, value in algorithm.params.items() if value is not None]
    settings |= {name: value for name, value in from_protocol.items() if name in known and name not in own}
    return learner.set_params(**settings)


def counters(selection: Selection) -> dict[str, Any]:
    """Return the chosen learner's counts of triplets, updates and cone failures (lists: per layer)."""
    names = ("n_triplets", "n_updates", "n_cone_failures")
    values = {name: getattr(selection.learner, name + "_", None) for name in names}
    return {name: None if value is None else np.asarray(value).tolist() for name, value in values.items()}


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries a result depends on."""
    libraries = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    return {"python": platform.python_version(), **libraries}


def _seed(cell: Cell, *purpose: object) -> int:
    return derive_seed(cell.protocol.seed, cell.dataset, cell.split, *purpose)


def _rows(cell: Cell, data: Dataset) -> tuple[Rows, list[tuple[Rows, int]]]:
    """Return the training half with its test half, and its folds with the seed of each."""
    protocol, k = cell.protocol, cell.protocol.neighbours
    train, test = split_indices(data.y, cell.split, protocol.seed, cell.dataset)
    prepared = prepare(data, protocol.pca, train, protocol.rows)
    X, y = prepared[train], data.y[train]
    half = Rows(X, y, prepared[test], data.y[test], k)
    pairs = fold_indices(y, cell.split, protocol.seed, cell.dataset, protocol.folds)
    folds = [
        (Rows(X[fit], y[fit], X[validate], y[validate], k), _seed(cell, "stream", fold))
        for fold, (fit, validate) in enumerate(pairs)
    ]
    return half, folds


def _preprocessing(data: Dataset, protocol: ProtocolConfig, half: Rows) -> dict[str, Any]:
    """Return what was done to the rows; a PCA fitted on all rows has seen the test half, so it is said."""
    pca = protocol.pca
    wide = needs_pca(data.X.shape[1], pca)
    return {
        "pca": ("centred" if pca.centred else "uncentred") if wide else None,
        "pca_fitted_on": pca.fit if wide else None,
        "rows": protocol.rows,
        "features": half.X_fit.shape[1],
    }
