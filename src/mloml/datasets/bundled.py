"""Data sets that come with the package or with scikit-learn."""

from __future__ import annotations

import gzip
import hashlib
import io
from importlib import resources

from mloml.config.schema import DatasetConfig
from mloml.datasets.dataset import Dataset, Table, make_dataset
from mloml.datasets.read import read_csv

FILES = resources.files("mloml.datasets") / "files"  # its README.md states source and licence of each


def load_bundled(config: DatasetConfig) -> Dataset:
    """Load the bundled data set."""
    if config.name in ("iris", "wine"):
        import sklearn
        from sklearn import datasets

        data = getattr(datasets, f"load_{config.name}")()
        # scikit-learn numbers the wines from 0, UCI from 1
        labels = [str(data.target_names[k] if config.name == "iris" else k + 1) for k in data.target]
        table = Table(data.data, labels, f"scikit-learn's {config.name}")
        return make_dataset(config, table, "bundled", {"package": f"scikit-learn {sklearn.__version__}"})
    name = f"{config.name}.csv.gz"
    packed = (FILES / name).read_bytes()
    table = read_csv(io.BytesIO(gzip.decompress(packed)), f"bundled {name}", label="label")
    provenance = {"file": name, "sha256": hashlib.sha256(packed).hexdigest()}
    return make_dataset(config, table, "bundled", provenance)
