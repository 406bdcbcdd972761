"""What choosing the depth costs, and what it gains over fixed depths.

python benchmarks/depth.py                 # six halves of fourteen sets, three activations
python benchmarks/depth.py --halves 1 relu # quicker

The cost is that of a fit with ``n_layers="auto"`` less that of its validation fits (their scoring counts),
relative to one fit of ``max_layers`` layers, in seconds of the processor. The errors are those of 5-NN on
standardised features, with the learners' defaults. The sets are those of the trial that the choice was
designed on. The design aimed at a cost of at most 1.3 and, with relu, at errors of at most one layer's + .01
and below those of three layers.
"""

import argparse
import time
import warnings
from collections.abc import Sequence
from typing import Any

import measure
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from mloml import MLOML, Euclidean
from mloml.datasets import DataSettings, catalogue, load
from mloml.experiments.neighbours import Rows

SETS = (
    "iris", "wine", "ionosphere", "balance", "pima", "glass", "vehicle", "sonar", "vowel", "bands",
    "newthyroid", "segment", "banknote", "haberman",
)  # fmt: skip
SHAPES = ((150, 4), (1000, 20), (1500, 60))  # of the rows that cost is measured on
DEPTHS = {"one": 1, "three": 3, "five": 5, "auto": "auto"}
REPEATS = 9


class Timed(MLOML):
    """Notes the processor's seconds in the fits of its validation."""

    spent = 0.0

    def _fit_steps(self, *arguments: Any) -> Any:
        start = time.process_time()
        found = super()._fit_steps(*arguments)
        self.spent += time.process_time() - start
        return found


def cost(n: int, d: int) -> measure.Row:
    """Measure fits to drawn rows, the step size given; the least of some repeats, for others may compute."""
    X, y = make_classification(n, d, n_informative=max(2, d // 4), n_redundant=0, random_state=0)
    alone, beyond = [], []
    for _ in range(REPEATS):
        for depth, seconds in ((5, alone), ("auto", beyond)):
            model, start = Timed(n_layers=depth, gamma=0.01, random_state=0), time.process_time()
            model.fit(X, y)
            seconds.append(time.process_time() - start - model.spent)
    one, other = min(alone), min(beyond)
    return {"rows": n, "features": d, "one fit": one, "auto, less validation": other, "cost": other / one}


def errors(dataset: str, activation: str, halves: int) -> measure.Row:
    """Return the mean errors over some halves of a set, and the mean of the chosen depths."""
    data = load(catalogue()[dataset], DataSettings(offline=True))
    found: list[list[float]] = []
    splits = StratifiedShuffleSplit(halves, test_size=0.5, random_state=0)
    for fit, score in splits.split(data.X, data.y):
        X = StandardScaler().fit(data.X[fit]).transform(data.X)
        rows = Rows(X[fit], data.y[fit], X[score], data.y[score], 5)
        models: list[Any] = [Euclidean()]
        models += [MLOML(n_layers=n, activation=activation, random_state=0) for n in DEPTHS.values()]
        fitted = [model.fit(rows.X_fit, rows.y_fit) for model in models]
        found.append([*(rows.error(model) for model in fitted), fitted[-1].n_layers_])
    means = np.mean(found, axis=0).tolist()
    named = dict(zip(("euclidean", *DEPTHS, "layers"), means, strict=True))
    return {"activation": activation, "dataset": dataset, **named}


def main(halves: int, activations: Sequence[str]) -> list[measure.Row]:
    """Write both."""
    cost(50, 4)  # compiles
    measure.write("depth_cost", [cost(*shape) for shape in SHAPES])
    rows: list[measure.Row] = []
    for activation in activations:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a learner warns of shows in its errors
            mine = [errors(dataset, activation, halves) for dataset in SETS]
        means = {name: float(np.mean([row[name] for row in mine])) for name in list(mine[0])[2:]}
        rows += [*mine, {"activation": activation, "dataset": "mean", **means}]
    return measure.write("depth", rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("activations", nargs="*", default=[], help="relu, sigmoid, tanh")
    parser.add_argument("--halves", type=int, default=6, help="random halves of each set")
    given = parser.parse_args()
    main(given.halves, given.activations or ["relu", "sigmoid", "tanh"])
