"""Time of the update loops of OPML and MOML alone: same triplets, one thread (Figure 4)."""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from mloml.paper.theory.streams import scans
from mloml.arrays import Array, Codes, Triplets
from mloml.experiments.refit import Halves
from mloml.learners.triplets import differences

if TYPE_CHECKING:
    from mloml.learners import MOML, OPML

GAMMA = 1e-3
"""Step size of all three: the default of the released OPML code; no step leaves the cone with it."""
COLUMNS = ("method", "run", "features", "triplets", "updates", "cone_failures", "seconds")


def time_updates(half: Halves, n_scans: int, repeats: int = 9) -> pd.DataFrame:
    """Time the compiled update loops over the same triplets.

    The methods take turns, so that a busy moment of the machine meets all of them.  Drawing triplets,
    checking input and, for "moml" (the explicit metric), the decomposition of M are not included;
    "moml_frame" keeps a factor of M up to date in every step.

    Returns
    -------
    DataFrame
        One row per run, columns :data:`COLUMNS`.
    """
    from mloml.learners import MOML, OPML

    learners = {"opml": OPML(GAMMA), "moml": MOML(GAMMA, cone="free"), "moml_frame": MOML(GAMMA)}
    # One call for all scans: what is timed is the compiled loop, not the way into it.
    triplets = np.concatenate(list(islice(scans(half.y, half.seed), n_scans)))
    rows = []
    with threadpool_limits(1):
        for run in range(-1, repeats):  # the first compiles and warms the caches
            for name, learner in learners.items():
                seconds = _run(learner, half.X, half.y, triplets)
                if run >= 0:
                    rows.append((name, run, half.X.shape[1], *_counts(learner, triplets), seconds))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _run(learner: MOML | OPML, X: Array, y: Codes, triplets: Triplets) -> float:
    """Return the seconds of the updates, from the learner's start to its last triplet."""
    learner._forget()
    learner._state = learner._new_state(X.shape[1], X)
    D = np.empty((len(triplets), 3, X.shape[1]))
    differences(X, triplets, D)
    start = time.perf_counter()
    learner._learn(D, triplets)
    seconds = time.perf_counter() - start
    learner._finish()
    return seconds


def _counts(learner: MOML | OPML, triplets: Triplets) -> tuple[int, int, int]:
    return len(triplets), learner.n_updates_, learner.n_cone_failures_
