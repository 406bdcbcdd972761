"""
Learning curve over scans
=========================

``iter_scans`` hands out the learner after each pass over the rows: when is enough enough?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from mloml import MLOML, MOML, OPML
from mloml.datasets import catalogue, load
from mloml.report.figures.style import style_of

data = load(catalogue()["ionosphere"])  # one of the data sets that come with the package
X, y = normalize(data.X), data.y
halves = list(StratifiedShuffleSplit(5, test_size=0.5, random_state=0).split(X, y))


def error(mapped, train, test):
    return 1 - KNeighborsClassifier(5).fit(mapped[train], y[train]).score(mapped[test], y[test])


def errors(learner):
    """Return the error after each scan, the mean over five halves."""
    curves = [
        [error(metric.transform(X), train, test) for metric in learner.iter_scans(X[train], y[train])]
        for train, test in halves
    ]
    return np.mean(curves, axis=0)


# %%
# ``fit`` would make the same twenty scans without the pauses.
learners = {
    "opml": OPML(gamma=1e-2, random_state=0),
    "moml": MOML(gamma=1e-2, random_state=0),
    "mloml_s": MLOML(activation="sigmoid", gamma=1e-2, random_state=0),
}
for name, learner in learners.items():
    look = style_of(name)  # the colour and marker that the method has in all figures
    plt.plot(
        range(1, 21), errors(learner), color=look.colour, marker=look.marker, label=type(learner).__name__
    )
plain = np.mean([error(X, train, test) for train, test in halves])
plt.axhline(plain, color="black", linestyle="--", label="Euclidean")
plt.xlabel("scans over the training half")
plt.ylabel("5-NN test error")
plt.xticks([1, 5, 10, 15, 20])
plt.legend()
plt.show()
