"""Very many features: a diagonal metric and one of low rank beside what one would do without them.

python benchmarks/high_dimension.py

Accuracy of 5-NN and seconds of fitting, on three sets: words (:mod:`planted_words`, sparse), digits with
10,000 columns of noise, and the 310 features of lsvt as they are but standardised (left out without lsvt:
``mloml data fetch lsvt``). Rows have length 1. Each step size is the best of three on a quarter of the
training rows that is held out.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import measure
import numpy as np
from planted_words import planted_words
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from mloml import MLOML, MOML, DiagonalMOML, LowRankMOML
from mloml.datasets import DataSettings, catalogue, load
from mloml.errors import MlomlError

SCANS, NOISE_COLUMNS, NOISE = 5, 10_000, 0.1
STEPS = {"wide": (1.0, 10.0, 100.0), "usual": (0.01, 0.1, 0.3)}

Split = tuple[Any, np.ndarray, Any, np.ndarray]


def words(seed: int) -> Split:
    (X, y, _), (X_test, y_test, _) = planted_words(4_000, 2 * seed), planted_words(1_000, 2 * seed + 1)
    return X, y, X_test, y_test


def noisy_digits(seed: int) -> Split:
    X, y = load_digits(return_X_y=True)
    noise = np.random.default_rng(seed).normal(scale=NOISE, size=(len(X), NOISE_COLUMNS))
    X, X_test, y, y_test = train_test_split(np.hstack([X / 16, noise]), y, stratify=y, random_state=seed)
    return X, y, X_test, y_test


def lsvt(seed: int) -> Split:
    data = load(catalogue()["lsvt"], DataSettings(offline=True))
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.5, stratify=data.y, random_state=seed)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


SETS: dict[str, tuple[Callable[[int], Split], int, int]] = {  # how it is made, rank, seeds
    "planted words, d = 50,000": (words, 50, 2),
    "digits + noise, d = 10,064": (noisy_digits, 20, 1),
    "lsvt, d = 310": (lsvt, 20, 10),
}


def methods(k: int, d: int, n: int, sparse: bool) -> dict[str, tuple[tuple[float, ...], Callable[..., Any]]]:
    """Return, for each method, the step sizes to choose from and how it is made of one."""
    common = {"scans": SCANS, "random_state": 0}
    usual, wide = STEPS["usual"], STEPS["wide"]
    found: dict[str, tuple[tuple[float, ...], Callable[..., Any]]] = {
        "cosine 5-NN": ((0.0,), lambda _: Normalizer()),
        f"TruncatedSVD to {k} + MOML": (
            usual,
            lambda g: make_pipeline(TruncatedSVD(k, random_state=0), Normalizer(), MOML(gamma=g, **common)),
        ),
        "MOML, diagonal": (wide, lambda g: make_pipeline(Normalizer(), DiagonalMOML(gamma=g, **common))),
        f"MOML, rank {k}": (
            usual,
            lambda g: make_pipeline(Normalizer(), LowRankMOML(n_components=k, gamma=g, **common)),
        ),
        f"MLOML, rank {k}": (
            usual,
            lambda g: make_pipeline(Normalizer(), MLOML(gamma=g, n_components=k, **common)),
        ),
    }
    if not sparse:
        axes = min(100, n - 1)
        found["PCA as in the paper + MOML"] = (
            usual,
            lambda g: make_pipeline(PCA(axes, random_state=0), Normalizer(), MOML(gamma=g, **common)),
        )
        if d < 1000:
            found["MOML, all features"] = (
                usual,
                lambda g: make_pipeline(Normalizer(), MOML(gamma=g, **common)),
            )
    return found


def accuracy(model: Any, X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray) -> float:
    mapped = model.fit(X, y).transform(X)
    nearest = KNeighborsClassifier(5, algorithm="brute").fit(mapped, y)
    return float(nearest.score(model.transform(X_test), y_test))


def compare(split: Split, k: int) -> dict[str, tuple[float, float, float]]:
    """Return accuracy, seconds of the last fit and chosen step size of each method."""
    X, y, X_test, y_test = split
    part, held, y_part, y_held = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    found = {}
    for name, (steps, make) in methods(k, X.shape[1], part.shape[0], not isinstance(X, np.ndarray)).items():
        scores = [accuracy(make(g), part, y_part, held, y_held) if len(steps) > 1 else 0.0 for g in steps]
        step = steps[int(np.argmax(scores))]
        start = time.perf_counter()
        model = make(step).fit(X, y)
        spent = time.perf_counter() - start
        nearest = KNeighborsClassifier(5, algorithm="brute").fit(model.transform(X), y)
        found[name] = float(nearest.score(model.transform(X_test), y_test)), spent, step
    return found


def main() -> list[measure.Row]:
    table = []
    for title, (make, k, seeds) in SETS.items():
        try:
            runs = [compare(make(seed), k) for seed in range(seeds)]
        except MlomlError as missing:
            print(missing)
            continue
        plain = np.mean([run["cosine 5-NN"][0] for run in runs])
        for name in runs[0]:
            scores, seconds, steps = zip(*(run[name] for run in runs), strict=True)
            row = {"set": title, "method": name, "seeds": seeds, "accuracy": float(np.mean(scores))}
            row |= {"deviation": float(np.std(scores)), "- cosine 5-NN": float(np.mean(scores) - plain)}
            table.append(
                row | {"fit s": float(np.median(seconds)), "step sizes": f"{min(steps)}-{max(steps)}"}
            )
        print(f"{title}: done", flush=True)
    measure.write("high_dimension", table)
    return table


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # a step size that is too long shows in its accuracy
    main()
