"""Data sets that need no fetching: bundled, made by a rule (balance, waveform), and the paper's variants."""

import gzip
import hashlib
import io
import itertools
from importlib import resources

import numpy as np

from mloml.arrays import Array
from mloml.config.schema import DatasetConfig
from mloml.datasets.dataset import Dataset, Table, make_dataset
from mloml.datasets.drift import CONCEPTS, drifting
from mloml.datasets.read import read_csv
from mloml.errors import ConfigError

FILES = resources.files("mloml.datasets") / "files"  # its README.md states source and licence of each
WAVEFORM_SEED = 1984  # the year of Breiman's book; any fixed number would do


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


def balance() -> Table:
    """Return all 625 states of a balance scale: UCI's file is this enumeration, in this order.

    The scale tips to the side with the larger product of weight and distance.

    >>> table = balance()
    >>> table.X.shape, [table.labels.count(side) for side in "LBR"]
    ((625, 4), [288, 49, 288])
    """
    X = np.array(list(itertools.product(range(1, 6), repeat=4)), dtype=np.float64)
    torque = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    labels = [{1.0: "L", 0.0: "B", -1.0: "R"}[sign] for sign in np.sign(torque).tolist()]
    return Table(X, labels, "generated balance")


def base_waves() -> Array:
    """Return Breiman's three triangular waves, one per row, on the positions 1..21."""
    position = np.arange(1, 22)
    return np.array([np.maximum(6 - np.abs(position - peak), 0) for peak in (11, 15, 7)], dtype=np.float64)


def waveform(rows: int = 5000, seed: int = WAVEFORM_SEED) -> Table:
    """Draw from Breiman's generator: class = a pair of waves, row = their random mixture plus noise.

    x = u h_a + (1 - u) h_b + e with u uniform on [0, 1] and e standard normal; classes 0, 1, 2 mix the
    waves (1, 2), (1, 3), (2, 3) and are equally likely. Values have two decimals, as in UCI's file.
    ``RandomState`` is used because its stream is frozen: the same rows for every NumPy.

    References
    ----------
    Breiman, Friedman, Olshen, Stone: Classification and Regression Trees, 1984, pages 49-55.

    >>> waveform(3).X.shape
    (3, 21)
    """
    rng = np.random.RandomState(seed)
    waves = base_waves()
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    kind = rng.randint(3, size=rows)
    u = rng.uniform(size=(rows, 1))
    X = u * waves[first[kind]] + (1 - u) * waves[second[kind]] + rng.standard_normal((rows, 21))
    return Table(np.round(X, 2), [str(k) for k in kind], "generated waveform")


def load_generated(config: DatasetConfig) -> Dataset:
    """Generate the data set; ``regenerated`` tells draws from the exact enumeration."""
    if config.generator in CONCEPTS:
        stream = drifting(config.generator, config.rows or 0, config.draw or 0)
        origin = {"generator": f"mloml.datasets.drift.{config.generator}", "seed": str(config.draw or 0)}
        return make_dataset(config, stream, "generated", origin)
    origin = {"generator": f"mloml.datasets.generated.{config.generator}"}
    if config.generator == "balance":
        return make_dataset(config, balance(), "generated", origin)
    seed = WAVEFORM_SEED if config.draw is None else config.draw
    return make_dataset(config, waveform(seed=seed), "generated", origin | {"seed": str(seed)}, True)


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


def derive(config: DatasetConfig, base: Dataset) -> Dataset:
    """Return the variant of a data set that ``config`` asks for."""
    variants = {"last_column": last_column, "indicators": indicators}
    if config.variant not in variants:
        raise ConfigError(f"dataset.variant={config.variant}: must be one of {', '.join(variants)}")
    provenance = {**base.provenance, "base": base.name, "variant": config.variant}
    return make_dataset(config, variants[config.variant](base), base.source, provenance, base.regenerated)
