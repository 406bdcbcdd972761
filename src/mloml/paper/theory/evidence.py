"""All evidence on the theory from one dataset, and over the datasets of a study."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import pandas as pd
from joblib import Parallel, delayed, parallel_config

from mloml.paper.theory.bounds import HORIZONS, regrets
from mloml.paper.theory.definiteness import follow
from mloml.paper.theory.findings import Evidence
from mloml.paper.theory.proposition import layer_geometry
from mloml.paper.theory.streams import differences, scans
from mloml.paper.theory.weights import follow_weights
from mloml.datasets import load
from mloml.experiments.refit import Halves, halves, refit
from mloml.learners.triplets import scan_triplets

if TYPE_CHECKING:
    from mloml.config.schema import Study

GAMMAS = (1e-4, 1e-3, 1e-2, 1e-1)
"""The paper's grid of step sizes."""

WEIGHTS_GAMMA = 1e-2
MANY_STEPS = 10_000
"""Streams longer than this have their eigenvalues computed in every 50th step only."""

TRIPLETS_PER_SCAN = 5000
"""Theorem 2 is followed to this many triplets per scan of the protocol: 100,000 for the paper's 20."""


def gather_evidence(study: Study, records: Sequence[dict[str, Any]], n_jobs: int) -> Evidence:
    """Return one frame per claim over all datasets that have finished cells."""
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
    half = halves(data, study.protocol, 0)
    evidence = {
        "theorem1": definiteness(half, study.protocol.scans),
        "theorem2": regret(half, study.protocol.scans),
        "weights": follow_weights(half, WEIGHTS_GAMMA, study.protocol.scans),
        "geometry": geometry(study, records),
    }
    return {claim: frame.assign(dataset=name).pipe(_dataset_first) for claim, frame in evidence.items()}


def definiteness(half: Halves, n_scans: int) -> pd.DataFrame:
    """Follow a 3-layer MLOML-r over the stream with every step size of the grid."""
    every = 1 if len(half.X) * n_scans <= MANY_STEPS else 50
    tracks = {
        gamma: follow(half.X, islice(scans(half.y, half.seed), n_scans), gamma, every=every)
        for gamma in GAMMAS
    }
    return pd.concat(
        [track.frame().assign(gamma=gamma) for gamma, track in tracks.items()], ignore_index=True
    )


def regret(half: Halves, n_scans: int) -> pd.DataFrame:
    """Follow MOML's recursion to growing horizons of the same stream."""
    horizons = [T for T in HORIZONS if TRIPLETS_PER_SCAN * n_scans >= T]
    return regrets(*differences(half.X, half.y, max(horizons), half.seed), horizons)


def geometry(study: Study, records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Measure the layers of every chosen model on its test half."""
    parts = []
    for record in records:
        model = refit(study, record)
        test, codes = model.half.X_test, model.half.y_test
        outputs = [model.learner.transform(test, layer=i + 1) for i in range(len(model.learner.layers_))]
        frame = layer_geometry(outputs, codes, scan_triplets(codes))
        parts.append(frame.assign(split=record["split"]))
    return pd.concat(parts, ignore_index=True)


def _dataset_first(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["dataset", *(column for column in frame.columns if column != "dataset")]]
