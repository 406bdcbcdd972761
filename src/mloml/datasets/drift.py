"""Streams with drift, drawn by river's generators: concepts one after the other, or one that moves."""

from itertools import islice
from typing import Any

import numpy as np

from mloml.datasets.dataset import Table
from mloml.errors import RIVER, DatasetUnavailableError

_LED = {"noise_percentage": 0.1, "irrelevant_features": True}
_RBF = {"n_classes": 4, "n_features": 10, "n_centroids": 50, "n_drift_centroids": 50, "change_speed": 1e-4}
# The class in ``river.datasets.synth`` and the parameters of each concept; equally many rows of each.
CONCEPTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "sea": ("SEA", [{"variant": variant, "noise": 0.1} for variant in range(4)]),
    "agrawal": ("Agrawal", [{"classification_function": f, "perturbation": 0.05} for f in (0, 2, 4, 6)]),
    "stagger": ("STAGGER", [{"classification_function": f} for f in (0, 1, 2, 0)]),
    "led": ("LEDDrift", [{**_LED, "n_drift_features": n} for n in (0, 3, 5, 7)]),
    "rbf": ("RandomRBFDrift", [_RBF]),
    "hyperplane": ("Hyperplane", [{"n_features": 10, "n_drift_features": 5, "mag_change": 1e-3}]),
}


def drift_points(generator: str | None, rows: int) -> list[int]:
    """Return the rows before which a concept gives way to the next; none for other data.

    >>> drift_points("sea", 8000), drift_points("rbf", 8000), drift_points(None, 8000)
    ([2000, 4000, 6000], [], [])
    """
    count = len(CONCEPTS[generator][1]) if generator in CONCEPTS else 1
    return [rows * part // count for part in range(1, count)]


def drifting(generator: str, rows: int, seed: int) -> Table:
    """Draw a stream."""
    try:
        from river.datasets import synth
    except ImportError:
        raise DatasetUnavailableError(f"{generator} is drawn by river: {RIVER}") from None
    name, concepts = CONCEPTS[generator]
    edges = [0, *drift_points(generator, rows), rows]
    X, labels = [], []
    for part, options in enumerate(concepts):
        number = 1000 * seed + part
        seeds = ("seed_model", "seed_sample") if name == "RandomRBFDrift" else ("seed",)
        source = getattr(synth, name)(**options, **dict.fromkeys(seeds, number))
        for x, y in islice(source, edges[part + 1] - edges[part]):
            X.append([float(value) for value in x.values()])
            labels.append(str(int(y)))
    return Table(np.array(X), labels, f"generated {generator}")
