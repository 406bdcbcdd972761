"""Do the learners help with their default settings? Chosen on eight settings, judged on four others.

python benchmarks/defaults.py --choose              # step sizes and activations, 5-fold, on the eight only
python benchmarks/defaults.py                       # the defaults as they are, on all twelve, 5-fold
python benchmarks/defaults.py --repeats 5           # 5 x 5-fold
python benchmarks/defaults.py --repeats 5 MLOML NCA # only these, beside plain 5-NN

A setting is a dataset under a scaling; the score is the accuracy of 5-NN. The eight are scikit-learn's wine,
breast_cancer and digits and a generated set, under StandardScaler and under Normalizer. The four were named
before any learner had seen them, and play no part in the choice. None is a test half of the paper's tables.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import measure
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
    make_gaussian_quantiles,
)
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.preprocessing import Normalizer, StandardScaler

from mloml import KISSME, LEGO, LMNN, MLOML, MOML, OASIS, OPML, RDML, SLMOML, Euclidean
from mloml.evaluation.scoring import Rows

SCALERS = {"standardised": StandardScaler(), "unit rows": Normalizer()}
STEPS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
NEIGHBOURS = 5
ALLOWED_LOSS = 0.01
PROMISED = ("MOML", "OPML", "MLOML")  # whose defaults may nowhere lose more than that


def chosen_on() -> dict[str, Any]:
    """Return the datasets that the defaults were chosen on."""
    return {
        "wine": load_wine(return_X_y=True),
        "breast_cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
        "generated": make_classification(3000, 54, n_informative=15, n_classes=7, random_state=0),
    }


def judged_on() -> Iterator[tuple[str, str, Any]]:
    """Yield the four settings that the defaults are judged on."""
    five = make_classification(
        2000, 20, n_informative=8, n_redundant=6, n_classes=5, class_sep=1.2, random_state=7
    )
    yield "five classes", "standardised", five
    yield "five classes", "unit rows", five
    X, progression = load_diabetes(return_X_y=True)
    yield (
        "diabetes in thirds",
        "standardised",
        (X, np.digitize(progression, np.quantile(progression, (1 / 3, 2 / 3)))),
    )
    yield (
        "shells",
        "unit rows",
        make_gaussian_quantiles(n_samples=1500, n_features=12, n_classes=4, random_state=3),
    )


def settings() -> Iterator[tuple[str, str, str, Any]]:
    """Yield (purpose, dataset, scaling, rows and labels) of all twelve settings."""
    for name, data in chosen_on().items():
        for scaling in SCALERS:
            yield "chosen on", name, scaling, data
    for name, scaling, data in judged_on():
        yield "judged on", name, scaling, data


def accuracies(
    learner: Any, values: Sequence[float] | None, scaling: str, data: Any, repeats: int, seed: int
) -> list[float]:
    """Return the mean accuracy of 5-NN after a scaler and a learner, for each value of its step size."""
    X, y = data
    found = []
    for fit, score in RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=seed).split(X, y):
        scaler = clone(SCALERS[scaling]).fit(X[fit])
        rows = Rows(scaler.transform(X[fit]), y[fit], scaler.transform(X[score]), y[score], NEIGHBOURS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a learner warns of shows in its accuracy
            if values is None:
                learners = [clone(learner).fit(rows.X_fit, rows.y_fit)]
            else:
                learners = learner.fit_grid(rows.X_fit, rows.y_fit, learner.step_parameter, values)
            found.append([1.0 - rows.error(fitted) for fitted in learners])
    return [float(mean) for mean in np.mean(found, axis=0)]


def candidates() -> dict[str, tuple[Any, tuple[float, ...] | None]]:
    """Return what the defaults are chosen from: learners, and the step sizes of each."""
    return {
        "Euclidean": (Euclidean(), None),
        "MOML": (MOML(random_state=0), STEPS),
        "OPML": (OPML(random_state=0), STEPS),
        "MLOML relu": (MLOML(activation="relu", random_state=0), STEPS[1:6]),
        "MLOML sigmoid": (MLOML(activation="sigmoid", random_state=0), STEPS[:6]),
        "MLOML tanh": (MLOML(activation="tanh", random_state=0), STEPS[1:5]),
        "LEGO": (LEGO(random_state=0), STEPS),
        "RDML": (RDML(random_state=0), STEPS),
        "RDML from I": (RDML(init="identity", random_state=0), STEPS),
        "OASIS": (OASIS(random_state=0), STEPS),
        "SLMOML": (SLMOML(random_state=0), STEPS),
    }


def choose() -> int:
    """Print every candidate's gain over plain 5-NN on each of the eight settings, its least and its mean."""
    eight = [(name, scaling, data) for purpose, name, scaling, data in settings() if purpose == "chosen on"]
    tried = candidates()
    scores = Parallel(n_jobs=-1)(
        delayed(accuracies)(learner, steps, scaling, data, repeats=1, seed=1)
        for learner, steps in tried.values()
        for _, scaling, data in eight
    )
    rows, plain = [], np.ravel(scores[: len(eight)])
    for i, (name, (_, steps)) in enumerate(tried.items()):
        gains = np.transpose(scores[i * len(eight) : (i + 1) * len(eight)]) - plain
        for step, gain in zip(steps or [None], gains, strict=True):
            rows.append(
                {"candidate": name, "step": step, "least": float(gain.min()), "mean": float(gain.mean())}
                | {f"{data}, {scaling}": float(g) for (data, scaling, _), g in zip(eight, gain, strict=True)}
            )
    measure.write("defaults_choice", rows)
    return 0


DEFAULTS: dict[str, Any] = {
    **{kind.__name__: kind(random_state=0) for kind in (MOML, OPML, MLOML, LEGO, RDML, OASIS, SLMOML)},
    "LMNN": LMNN(),
    "KISSME": KISSME(),
    "NCA": NeighborhoodComponentsAnalysis(max_iter=30, random_state=0),
}


def judge(repeats: int, names: Sequence[str]) -> int:
    """Print the accuracy of the defaults beside other learners'; 1 when one falls below plain 5-NN."""
    learners = {"Euclidean": Euclidean()} | {name: DEFAULTS[name] for name in names}
    twelve = list(settings())
    scores = Parallel(n_jobs=-1)(
        delayed(accuracies)(learner, None, scaling, data, repeats, seed=0)
        for _, _, scaling, data in twelve
        for learner in learners.values()
    )
    table = np.reshape(scores, (len(twelve), len(learners)))
    rows = [
        {"setting": f"{name}, {scaling}", "role": purpose} | dict(zip(learners, map(float, row), strict=True))
        for (purpose, name, scaling, _), row in zip(twelve, table, strict=True)
    ]
    measure.write("defaults", rows)
    below = [
        f"{row['setting']}: {name} {row[name]:.3f} < {row['Euclidean']:.3f}"
        for row in rows
        for name in PROMISED
        if name in row and row[name] < row["Euclidean"] - ALLOWED_LOSS
    ]
    print("\n".join(below) or f"no default is more than {ALLOWED_LOSS} below plain 5-NN")
    return 1 if below else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("learners", nargs="*", metavar="learner", help=", ".join(DEFAULTS))
    parser.add_argument("--choose", action="store_true", help="compare step sizes on the eight settings")
    parser.add_argument("--repeats", type=int, default=1, help="of the 5-fold cross-validation")
    given = parser.parse_args()
    unknown = sorted(set(given.learners) - set(DEFAULTS))
    if unknown:
        sys.exit(f"error: {', '.join(unknown)}: not one of {', '.join(DEFAULTS)}")
    sys.exit(choose() if given.choose else judge(given.repeats, given.learners or list(DEFAULTS)))
