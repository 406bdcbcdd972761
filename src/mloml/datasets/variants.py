"""The paper's accidental variants of two datasets, made from the true ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mloml.datasets.catalogue import DatasetConfig
from mloml.datasets.dataset import Dataset, make_dataset
from mloml.datasets.table import Table
from mloml.errors import ConfigError


def last_column(base: Dataset) -> Table:
    """Take the last feature for the label, and the label for the first feature.

    UCI's SPECT files have the diagnosis in the first column; reading the last column as the label
    predicts one of the 22 partial diagnoses from the others and the diagnosis itself.
    """
    diagnosis = np.array([float(label) for label in base.labels])[base.y]
    X = np.column_stack([diagnosis, base.X[:, :-1]])
    return Table(X, [str(value) for value in base.X[:, -1]], f"{base.name} with its last column as label")


def indicators(base: Dataset) -> Table:
    """Append the label to the features, as one column per class: +1 for the row's own, else -1.

    UCI's theorem proving files have six such columns after the 51 features; counting all 57 as
    features lets a metric read off the label.
    """
    codes = np.where(base.y[:, None] == np.arange(len(base.labels)), 1.0, -1.0)
    labels = [base.labels[code] for code in base.y]
    return Table(np.hstack([base.X, codes]), labels, f"{base.name} with its labels as features")


VARIANTS: dict[str, Callable[[Dataset], Table]] = {"last_column": last_column, "indicators": indicators}


def derive(config: DatasetConfig, base: Dataset) -> Dataset:
    """Return the variant of a dataset that ``config`` asks for."""
    if config.variant not in VARIANTS:
        known = ", ".join(VARIANTS)
        raise ConfigError(f"dataset.variant: '{config.variant}' is none of {known}")
    provenance = {**base.provenance, "base": base.name, "variant": config.variant}
    table = VARIANTS[config.variant](base)
    return make_dataset(config, table, base.source, provenance, base.regenerated)
