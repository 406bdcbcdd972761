"""Everything measured on the paper's theory, data set by data set."""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config
from sklearn.utils import check_random_state

from mloml.arrays import Array, Codes, Triplets
from mloml.config.schema import Study
from mloml.datasets import load
from mloml.experiments.refit import Halves, halves, refit
from mloml.learners import PaperMLOML
from mloml.learners.triplets import scan_triplets
from mloml.paper.proposition1 import layer_geometry
from mloml.paper.theorem1 import follow, layers_frame
from mloml.paper.theorem2 import HORIZONS, regrets

# The paper's grid of step sizes.
GAMMAS = (1e-4, 1e-3, 1e-2, 1e-1)
# On longer streams the eigenvalues of every 50th step only are computed.
MANY_STEPS = 10_000
# Theorem 2 is followed to this many triplets per scan of the protocol: 100,000 for the paper's 20.
TRIPLETS_PER_SCAN = 5000

# Frames by name: theorem1, theorem2, weights, geometry.
Evidence = dict[str, pd.DataFrame]


def gather_evidence(study: Study, records: Sequence[dict[str, Any]], n_jobs: int) -> Evidence:
    """Return the evidence over all data sets that have finished cells."""
    datasets = [c.name for c in study.datasets if any(r["dataset"] == c.name for r in records)]
    jobs = [
        delayed(_one_dataset)(study, [record for record in records if record["dataset"] == name], name)
        for name in datasets
    ]
    with parallel_config("loky", inner_max_num_threads=1):
        found = Parallel(n_jobs=n_jobs)(jobs)
    return {claim: pd.concat([each[claim] for each in found], ignore_index=True) for claim in found[0]}


def _one_dataset(study: Study, records: Sequence[dict[str, Any]], name: str) -> Evidence:
    data = load(next(config for config in study.datasets if config.name == name), study.data)
    half, n_scans = halves(data, study.protocol, 0), study.protocol.scans
    horizons = [T for T in HORIZONS if TRIPLETS_PER_SCAN * n_scans >= T]
    evidence = {
        "theorem1": definiteness(half, n_scans),
        "theorem2": regrets(*stream_differences(half.X, half.y, max(horizons), half.seed), horizons),
        "weights": follow_weights(half, n_scans),
        "geometry": geometry(study, records),
    }
    for frame in evidence.values():
        frame.insert(0, "dataset", name)
    return evidence


def definiteness(half: Halves, n_scans: int) -> pd.DataFrame:
    """Follow a 3-layer MLOML-r over the stream with every step size of the grid."""
    every = 1 if len(half.X) * n_scans <= MANY_STEPS else 50
    parts = []
    for gamma in GAMMAS:
        stream = islice(triplet_scans(half.y, half.seed), n_scans)
        parts.append(layers_frame(follow(half.X, stream, gamma, every=every)).assign(gamma=gamma))
    return pd.concat(parts, ignore_index=True)


def geometry(study: Study, records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Measure the layers of every chosen model on its test half."""
    parts = []
    for record in records:
        model = refit(study, record)
        test, codes = model.half.X_test, model.half.y_test
        outputs = [model.learner.transform(test, layer=i + 1) for i in range(len(model.learner.layers_))]
        parts.append(layer_geometry(outputs, codes, scan_triplets(codes)).assign(split=record["split"]))
    return pd.concat(parts, ignore_index=True)


def follow_weights(
    half: Halves,
    n_scans: int,
    activations: Sequence[str] = ("relu", "sigmoid", "tanh"),
    rates: Sequence[float] = (1e-4, 1e-3, 1e-2),
    local_losses: Sequence[str] = ("scaled", "hinge"),
) -> pd.DataFrame:
    """Return the weights ``w_i`` of the local losses of a 3-layer FBP model after each scan.

    The derivative of the loss by ``w_i`` is the layer's local loss, which is never negative, so gradient
    descent can only lower ``w_i``; the learner stops it at 0.

    Returns
    -------
    DataFrame
        activation, local_loss, rate, scan, layer, weight; a diverged run ends early.
    """
    rows = []
    for activation, local_loss, rate in product(activations, local_losses, rates):
        model = PaperMLOML(
            activation=activation, propagation="fbp", gamma=1e-2, rate=rate, local_loss=local_loss,
            scans=n_scans, random_state=half.seed, scale=None,
        )  # fmt: skip
        for scan, learned in enumerate(model.iter_scans(half.X, half.y), start=1):
            if learned.diverged_:
                break
            for layer, weight in enumerate(learned.w_, start=1):
                rows.append((activation, local_loss, rate, scan, layer, float(weight)))
    return pd.DataFrame(rows, columns=["activation", "local_loss", "rate", "scan", "layer", "weight"])


def triplet_scans(codes: Codes, seed: int) -> Iterator[Triplets]:
    """Yield the triplets of one scan after the other, reshuffled each time, without end."""
    random = check_random_state(seed)
    while True:
        yield scan_triplets(codes, random.permutation(len(codes)))


def stream_differences(X: Array, codes: Codes, T: int, seed: int) -> tuple[Array, Array]:
    """Return ``x - xp`` and ``x - xq`` of the first T triplets of the stream.

    >>> P, Q = stream_differences(np.eye(4), np.array([0, 0, 1, 1]), 5, seed=0)
    >>> P.shape, Q.shape
    ((5, 4), (5, 4))
    """
    scans: list[Triplets] = []
    for triplets in triplet_scans(codes, seed):
        if not len(triplets):
            raise ValueError("no triplet can be formed: give rows of at least two classes, two of one")
        scans.append(triplets)
        if sum(map(len, scans)) >= T:
            break
    t, p, q = np.concatenate(scans)[:T].T
    return X[t] - X[p], X[t] - X[q]
