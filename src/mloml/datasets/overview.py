"""Sizes of the datasets as they are here, beside the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from mloml.datasets.catalogue import DatasetConfig, DataSettings
from mloml.datasets.dataset import Dataset
from mloml.datasets.loading import load
from mloml.errors import DatasetUnavailableError

SIZES = ("instances", "features", "classes")


def overview(
    configs: Mapping[str, DatasetConfig], settings: DataSettings, paper: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, Dataset]]:
    """Load every dataset and put its size beside the paper's.

    Parameters
    ----------
    configs : the datasets, by name; a variant is compared with the paper's row of its base.
    settings : where data may come from.
    paper : the paper's table 1, columns dataset, instances, features, classes.

    Returns
    -------
    frame : one row per dataset: ``paper_*`` and own instances, features, classes (missing where the data
        are), source, note, and why it is missing.
    loaded : the datasets that are here, without their features (PEMS-SF alone takes half a gigabyte).
    """
    figures = paper.set_index("dataset")
    rows, loaded = [], {}
    for name, config in configs.items():
        row: dict[str, object] = {"dataset": name, "note": config.note or "", "missing": ""}
        printed = config.base or name
        if printed in figures.index:
            row |= {f"paper_{size}": figures.loc[printed, size] for size in SIZES}
        try:
            data = load(config, settings)
        except DatasetUnavailableError as error:
            row |= {"source": "missing", "missing": str(error)}
        else:
            found = (*data.X.shape, len(data.labels))
            row |= dict(zip(SIZES, found, strict=True))
            row["source"] = "regenerated" if data.regenerated else data.source
            loaded[name] = _without_features(data)
        rows.append(row)
    columns = ["dataset", *(f"paper_{size}" for size in SIZES), *SIZES, "source", "note", "missing"]
    frame = pd.DataFrame(rows, columns=columns)
    numbers = columns[1:-3]
    frame[numbers] = frame[numbers].astype("Int64")
    return frame, loaded


def _without_features(data: Dataset) -> Dataset:
    return Dataset(
        data.name, data.X[:0].copy(), data.y, data.labels, data.checksum, data.source, data.regenerated,
        data.provenance,
    )  # fmt: skip
