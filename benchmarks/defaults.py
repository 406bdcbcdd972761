"""What the learners' default settings gain on data that nothing was chosen on.

python benchmarks/defaults.py                       # 5 x 5-fold on twelve sets
python benchmarks/defaults.py --repeats 1 MLOML NCA # quicker, and only these, beside plain 5-NN

The accuracy of 5-NN on standardised features, before and after each learner's ``fit``. The twelve sets are
those of the study `beyond` that took no part when ``gamma="auto"`` was designed. "MOML, 1e-4" is what its
default was before.

The design aimed at a mean gain of .008 for MOML, OPML and MLOML, and at losses of at most .015 on any set.
The losses are within that (.013 at most), the gains are not: +.004, +.002 and +.002. Nothing is judged here.
"""

import argparse
import sys
import warnings
from typing import Any

import measure
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

from mloml import KISSME, LEGO, LMNN, MLOML, MOML, OASIS, OPML, RDML, SLMOML, Euclidean
from mloml.datasets import DataSettings, catalogue, load
from mloml.experiments.neighbours import Rows

UNSEEN = (
    "appendicitis", "bands", "banknote", "glass", "haberman", "movement_libras",
    "newthyroid", "page_blocks", "pc1", "phoneme", "reaven_miller", "sonar",
)  # fmt: skip
LEARNERS: dict[str, Any] = {
    **{kind.__name__: kind(random_state=0) for kind in (MOML, OPML, MLOML, LEGO, RDML, OASIS, SLMOML)},
    **{f"{kind.__name__}, 1e-4": kind(gamma=1e-4, random_state=0) for kind in (MOML, OPML, MLOML)},
    "LMNN": LMNN(),
    "KISSME": KISSME(),
    "NCA": NeighborhoodComponentsAnalysis(max_iter=30, random_state=0),
}


def accuracy(learner: Any, dataset: str, repeats: int) -> float:
    """Return the mean accuracy of 5-NN after standardising and learning."""
    data = load(catalogue()[dataset], DataSettings(offline=True))
    found = []
    for fit, score in RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0).split(
        data.X, data.y
    ):
        scaler = StandardScaler().fit(data.X[fit])
        X = scaler.transform(data.X)
        rows = Rows(X[fit], data.y[fit], X[score], data.y[score], 5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a learner warns of shows in its accuracy
            found.append(1.0 - rows.error(clone(learner).fit(rows.X_fit, rows.y_fit)))
    return float(np.mean(found))


def main(repeats: int, names: list[str]) -> list[measure.Row]:
    """Write the gain of each learner on each set, on average and at the least."""
    learners = {"plain": Euclidean()} | {name: LEARNERS[name] for name in names}
    scores = Parallel(n_jobs=-1)(
        delayed(accuracy)(learner, dataset, repeats) for dataset in UNSEEN for learner in learners.values()
    )
    table = np.reshape(scores, (len(UNSEEN), len(learners)))
    gains = table - table[:, :1]
    rows = [
        {"dataset": dataset, "plain": plain} | dict(zip(names, map(float, gain[1:]), strict=True))
        for dataset, plain, gain in zip(UNSEEN, map(float, table[:, 0]), gains, strict=True)
    ]
    means = dict(zip(names, map(float, gains[:, 1:].mean(axis=0)), strict=True))
    least = dict(zip(names, map(float, gains[:, 1:].min(axis=0)), strict=True))
    rows.append({"dataset": "mean", "plain": float(table[:, 0].mean())} | means)
    rows.append({"dataset": "least"} | least)
    return measure.write("defaults", rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("learners", nargs="*", metavar="learner", help="; ".join(LEARNERS))
    parser.add_argument("--repeats", type=int, default=5, help="of the 5-fold cross-validation")
    given = parser.parse_args()
    unknown = sorted(set(given.learners) - set(LEARNERS))
    if unknown:
        sys.exit(f"error: {', '.join(unknown)}: not one of {', '.join(LEARNERS)}")
    main(given.repeats, given.learners or list(LEARNERS))
