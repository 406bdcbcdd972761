"""How well a stream was predicted: hits by block, Cohen's kappa, and kappas against two trivial rules.

Every measure leaves the first sample out: nothing was learned before it.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mloml.arrays import Codes, Index

# A stream is divided into so many blocks of equally many samples, as nearly as that goes.
BLOCKS = 100


def blocks(rows: int) -> Index:
    """Return the block of every sample but the first.

    >>> blocks(5).tolist()
    [20, 40, 60, 80]
    """
    return np.arange(1, rows) * BLOCKS // rows


def last_label(y: Codes) -> int:
    """Count the hits of a classifier that repeats the last label.

    >>> last_label(np.array([0, 0, 1, 1, 0]))
    2
    """
    return int((y[1:] == y[:-1]).sum())


def majority(y: Sequence[int]) -> int:
    """Count the hits of a classifier that names the most frequent label so far, of ties the one seen first.

    >>> majority([0, 1, 1, 1])
    1
    """
    counts, hits = Counter(y[:1]), 0
    for label in y[1:]:
        hits += label == counts.most_common(1)[0][0]
        counts[label] += 1
    return int(hits)


def kappa(confusion: ArrayLike) -> float:
    """Return Cohen's kappa of a confusion matrix: true classes by predicted ones, and by "no answer".

    >>> round(kappa([[20, 5, 0], [10, 15, 0]]), 12)
    0.4
    """
    counts = np.asarray(confusion, dtype=float)
    shares = counts / counts.sum()
    by_chance = float(shares.sum(axis=1) @ shares.sum(axis=0)[:-1])
    return beyond(float(np.trace(shares)), by_chance)


def beyond(accuracy: float, baseline: float) -> float:
    """Return what an accuracy gains over a baseline, as a share of what there is to gain.

    With the accuracy of repeating the last label this is kappa-temporal, with that of the majority class
    kappa-M. NaN where the baseline makes no mistake.

    >>> round(beyond(0.9, 0.8), 12)
    0.5
    """
    return (accuracy - baseline) / (1 - baseline) if baseline < 1 else float("nan")
