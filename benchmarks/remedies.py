"""Simple remedies against drift, tried on draws of the generators that no study uses.

python benchmarks/remedies.py            # draws 11 and 12 of six generators: some ten minutes of one core

A metric learns from a stream and is never told that the stream has changed. Tried here, each against the same
learner left alone and plain 5-NN, all over the last 1,000 samples:

forget R        after each sample the metric goes a share R of the way back to the identity
restart metric  when river's ADWIN finds a change of the errors, the metric begins anew on the same window
restart both    the window begins anew, too
restart window  the window alone begins anew
"""

import argparse
from collections import deque
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from river.drift import ADWIN

from mloml import MOML, MetricKNN
from mloml.datasets.drift import CONCEPTS, drifting
from mloml.experiments.prequential import standardised_so_far
from mloml.learners import ExplicitMLOML

ROWS, WINDOW, DRAWS = 8_000, 1_000, (11, 12)
STEPS, SHARES = (1e-2,), (1e-3, 1e-2)


def learners() -> dict[str, tuple[Any, float, str]]:
    """Return, by name: a learner of a metric, its rate of forgetting, and what is restarted."""
    found: dict[str, tuple[Any, float, str]] = {
        "plain": (None, 0.0, ""),
        "plain, restart window": (None, 0.0, "window"),
    }
    for name, learner in {"auto": MOML(random_state=0), **{f"{g:g}": MOML(gamma=g) for g in STEPS}}.items():
        found[name] = learner, 0.0, ""
        found |= {f"{name}, restart {what}": (learner, 0.0, what) for what in ("metric", "window", "both")}
    for g in STEPS:
        slow = ExplicitMLOML(n_layers=1, gamma=g, cone="split")
        found |= {f"{g:g}, forget {share:g}": (slow, share, "") for share in SHARES}
    return found


def accuracy(X: Any, y: Any, learner: Any, share: float, restart: str) -> float:
    """Predict every sample but the first, then learn from it."""
    model, errors, hits = MetricKNN(learner, window=WINDOW), ADWIN(), 0
    last: deque[tuple[Any, int]] = deque(maxlen=WINDOW)
    for i, (row, label) in enumerate(zip(X, y.tolist(), strict=True)):
        if i:
            wrong = model.predict_one(row) != label
            hits += not wrong
            errors.update(wrong)
            if restart and errors.drift_detected:
                model = restarted(model, learner, restart, last)
        model.learn_one(row, label)
        last.append((row, label))
        if share:
            layer = model.metric_._state.layers[0]
            layer.M = (1 - share) * layer.M + share * np.eye(len(layer.M))
    return hits / (len(y) - 1)


def restarted(model: MetricKNN, learner: Any, what: str, last: Any) -> MetricKNN:
    """Return a model whose metric or window, or both, begin anew."""
    new = MetricKNN(learner, window=WINDOW)
    if what == "metric":
        rows, labels = zip(*last, strict=True)
        new.partial_fit(np.array(rows), list(labels))
    elif what == "window" and model.metric_ is not None:
        row, label = last[-1]
        new.learn_one(row, label)
        new.metric_ = model.metric_
    return new


def measured(stream: str, draw: int, name: str) -> tuple[str, str, float]:
    """Return the accuracy of one learner on one draw."""
    table = drifting(stream, ROWS, draw)
    _, y = np.unique(table.labels, return_inverse=True)
    return stream, name, accuracy(standardised_so_far(table.X), y, *learners()[name])


def main() -> None:
    """Print each learner's accuracy, and what it gains over the same one left alone."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1)
    jobs = parser.parse_args().jobs
    work = [(stream, draw, name) for stream in CONCEPTS for draw in DRAWS for name in learners()]
    found = Parallel(jobs)(delayed(measured)(*one) for one in work)
    table = pd.DataFrame(found, columns=["stream", "learner", "accuracy"])
    wide = table.pivot_table("accuracy", "learner", "stream", sort=False)
    wide["mean"] = wide.mean(axis=1)
    print(wide.round(4).to_string())


if __name__ == "__main__":
    main()
