"""Do the learners help with their default settings? Chosen on eight settings, judged on four others.

python benchmarks/defaults.py choose     # step sizes and activations, by 5-fold cross-validation on the eight
python benchmarks/defaults.py            # the defaults as they are, on all twelve, 5 x 5-fold

A setting is a dataset under a scaling; the score is the accuracy of 5-NN. The eight are scikit-learn's wine,
breast_cancer and digits and a generated set, under StandardScaler and under Normalizer. The four were named
before any learner had seen them, and play no part in the choice. None is a test half of the paper's tables.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import measure
import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
    make_gaussian_quantiles,
)
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from mloml import KISSME, LMNN, MLOML, MOML, OPML, Euclidean

SCALERS = {"standardised": StandardScaler(), "unit rows": Normalizer()}
GAMMAS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
ALLOWED_LOSS = 0.01


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


def accuracy(learner: Any, scaling: str, data: Any, repeats: int) -> float:
    """Return the mean accuracy of 5-NN after a scaler and a learner."""
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    model = make_pipeline(SCALERS[scaling], learner, KNeighborsClassifier())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(np.mean(cross_val_score(model, *data, cv=folds)))


def candidates() -> dict[str, Any]:
    """Return what the defaults are chosen from."""
    found: dict[str, Any] = {"Euclidean": Euclidean()}
    for gamma in GAMMAS:
        found[f"MOML {gamma:g}"] = MOML(gamma=gamma, random_state=0)
        found[f"OPML {gamma:g}"] = OPML(gamma=gamma, random_state=0)
        for activation in ("relu", "sigmoid", "tanh"):
            stack = MLOML(gamma=gamma, activation=activation, random_state=0)
            found[f"MLOML {activation} {gamma:g}"] = stack
    return found


def choose() -> None:
    """Print every candidate's gain over plain 5-NN on each of the eight settings, its least and its mean."""
    eight = [(name, scaling, data) for purpose, name, scaling, data in settings() if purpose == "chosen on"]
    names, learners = zip(*candidates().items(), strict=True)
    scores = Parallel(n_jobs=-1)(
        delayed(accuracy)(learner, scaling, data, 1) for learner in learners for _, scaling, data in eight
    )
    table = np.reshape(scores, (len(names), len(eight)))
    gains = table - table[names.index("Euclidean")]
    measure.write(
        "defaults_choice",
        (
            {"candidate": name, "least": float(row.min()), "mean": float(row.mean())}
            | {
                f"{dataset}, {scaling}": float(gain)
                for (dataset, scaling, _), gain in zip(eight, row, strict=True)
            }
            for name, row in zip(names, gains, strict=True)
        ),
    )


def judge() -> int:
    """Print the accuracy of the defaults beside other learners'; 1 when one falls below plain 5-NN."""
    learners = {
        "Euclidean": Euclidean(),
        "MOML": MOML(random_state=0),
        "OPML": OPML(random_state=0),
        "MLOML": MLOML(random_state=0),
        "LMNN": LMNN(),
        "KISSME": KISSME(),
        "NCA": NeighborhoodComponentsAnalysis(max_iter=30, random_state=0),
    }
    twelve = list(settings())
    scores = Parallel(n_jobs=-1)(
        delayed(accuracy)(learner, scaling, data, 5)
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
        for name in ("MOML", "OPML", "MLOML")
        if row[name] < row["Euclidean"] - ALLOWED_LOSS
    ]
    print("\n".join(below) or f"no default is more than {ALLOWED_LOSS} below plain 5-NN")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(choose() if sys.argv[1:] == ["choose"] else judge())
