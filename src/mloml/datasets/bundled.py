"""Datasets that come with the package or with scikit-learn."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Callable
from importlib import resources

from mloml.datasets.catalogue import DatasetConfig
from mloml.datasets.dataset import Dataset, make_dataset
from mloml.datasets.parsers import read_csv
from mloml.datasets.table import Table

FILES = resources.files("mloml.datasets") / "files"  # its README.md states source and licence of each


def _iris() -> Table:
    from sklearn.datasets import load_iris

    data = load_iris()
    return Table(data.data, [str(data.target_names[k]) for k in data.target], "scikit-learn's iris")


def _wine() -> Table:
    from sklearn.datasets import load_wine

    data = load_wine()  # numbered from 0; UCI numbers from 1
    return Table(data.data, [str(k + 1) for k in data.target], "scikit-learn's wine")


_FROM_SKLEARN: dict[str, Callable[[], Table]] = {"iris": _iris, "wine": _wine}


def load_bundled(config: DatasetConfig) -> Dataset:
    """Load the bundled dataset."""
    if config.name in _FROM_SKLEARN:
        import sklearn

        table = _FROM_SKLEARN[config.name]()
        return make_dataset(config, table, "bundled", {"package": f"scikit-learn {sklearn.__version__}"})
    name = f"{config.name}.csv.gz"
    packed = (FILES / name).read_bytes()
    where = f"bundled {name}"
    table = read_csv(io.BytesIO(gzip.decompress(packed)), label="label", where=where)
    provenance = {"file": name, "sha256": hashlib.sha256(packed).hexdigest()}
    return make_dataset(config, table, "bundled", provenance)
