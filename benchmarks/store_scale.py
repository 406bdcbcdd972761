"""The store at scale: a run with nothing to do, and `mloml status`, per number of cells.

The records are made up, the rest is real: written by the store, found by a whole run of Table II's study.

python benchmarks/store_scale.py                 # 1,000, 10,000 and 100,000 cells
python benchmarks/store_scale.py 1000 5000       # other numbers
"""

import contextlib
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import measure

from mloml.config.compose import compose_study
from mloml.config.schema import Study
from mloml.experiments.cell import Cell, versions
from mloml.experiments.key import key_fields
from mloml.experiments.status import main as status
from mloml.experiments.store import Record, Store
from mloml.experiments.study import make_plan, run_study

DATASETS = ("iris", "wine", "ionosphere", "balance", "pima")
PAIRS = len(DATASETS) * 10
"""Of a dataset and an algorithm: a study of 100,000 cells has 2,000 splits of each."""


def a_study(results: str, cells: int) -> Study:
    """Return a study of five bundled datasets and ten algorithms with so many cells."""
    study = compose_study("table2", [f"datasets=[{','.join(DATASETS)}]", f"protocol.splits={cells // PAIRS}"])
    execution = replace(study.execution, results=results)
    return replace(study, algorithms=study.algorithms[: PAIRS // len(DATASETS)], execution=execution)


def a_record(cell: Cell) -> Record:
    """Return a record of the usual size; its error follows from the split."""
    return {
        "dataset": cell.dataset,
        "algorithm": cell.algorithm.name,
        "protocol": cell.protocol.name,
        "split": cell.split,
        "key": cell.key,
        "error": (cell.split % 50) / 100,
        "chosen": {"gamma": 0.01},
        "grid": [
            {"params": {"gamma": 10.0**-i}, "error": 0.1, "seconds": 0.02, "test": 0.1} for i in range(7)
        ],
        "layer_errors": None,
        "scan_errors": None,
        "seconds": {"total": 0.25, "select": 0.2, "fit": 0.04, "test": 0.01},
        "counters": {"n_triplets": 1500, "n_updates": [700, 650, 600], "n_cone_failures": [0, 0, 0]},
        "preprocessing": {"pca": None, "pca_fitted_on": None, "features": 4},
        "seeds": {"split": 123456789, "folds": 123456789, "stream": 123456789},
        "versions": versions(),
        "checksum": cell.checksum,
        "warnings": [],
        "status": "ok",
        "key_fields": key_fields(cell),
    }


def quietly(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of one call and what it returned; what it prints is thrown away."""
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        found = action()
    return time.perf_counter() - start, found


def scale(cells: int) -> measure.Row:
    """Return the seconds that the store's own work takes with so many cells."""
    with tempfile.TemporaryDirectory() as results:
        study = a_study(results, cells)
        store = Store(Path(results, "store"))
        with mock.patch.object(os, "fsync"):  # made up, so nothing is lost in a power cut
            fill, wanted = quietly(lambda: [store.put(c, a_record(c)) for c in make_plan(study, print).cells])
        idle, result = quietly(lambda: run_study(study))
        assert result.reused == len(wanted), "not all cells were found"
        checked, code = quietly(lambda: status(["--results", results]))
        assert code == 0, "the artefact does not match the store"
    return {"cells": len(wanted), "put s": fill, "nothing to do s": idle, "status s": checked}


def main(sizes: list[int]) -> list[measure.Row]:
    """Measure every size in turn."""
    return measure.write("store_scale", [scale(size) for size in sizes])


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1_000, 10_000, 100_000])
