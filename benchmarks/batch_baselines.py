"""metric-learn's LMNN, run by `batch.py` in an environment of its own; knows nothing of this package.

python batch_baselines.py rows.npz learn_rate seconds out.npz

Writes the trace of (seconds, objective) of accepted points, the final factor, and whether it stopped by
itself (its own rule or 1000 iterations) or was cut off after the given seconds.
"""

import sys
import time
import warnings

import numpy as np
from metric_learn import LMNN


class CutOffError(Exception):
    """The time is up."""


class TracedLMNN(LMNN):
    """metric-learn's LMNN that remembers when it reached which objective."""

    def _loss_grad(self, X, L, *args):
        result = super()._loss_grad(X, L, *args)
        elapsed = time.perf_counter() - self.began
        if not self.trace or result[1] <= self.trace[-1][1]:
            self.trace.append((elapsed, result[1]))
            self.best = L.copy()
        if elapsed > self.limit:
            raise CutOffError
        return result


def main(rows: str, learn_rate: float, limit: float, out: str) -> None:
    data = np.load(rows)
    model = TracedLMNN(
        init="identity",
        n_neighbors=3,
        regularization=1 - float(data["mu"]),
        learn_rate=learn_rate,
        max_iter=1000,
    )
    model.trace, model.limit, model.began = [], limit, time.perf_counter()
    try:
        model.fit(data["X"], data["y"])
        finished = True
    except CutOffError:
        finished = False
    seconds = time.perf_counter() - model.began
    np.savez(out, trace=np.array(model.trace), L=model.best, finished=finished, seconds=seconds)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
