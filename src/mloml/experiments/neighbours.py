"""The paper's classifier and its errors: 5 nearest neighbours, uniform votes, every tie decided by a rule.

Neighbours are ordered by squared distance, computed by differences in float64 (``squared_distance`` of
``learners/neighbours.py``), then by row index; vote ties go to the smallest label, or to the class of the
nearest neighbour among those tied (``ties="nearest"``). Balance is full of exact ties, so a search through
``|a|² - 2ab + |b|²`` alone would change its error: that formula only finds candidates here.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from mloml.arrays import Array, Codes, Index
from mloml.learners.compiled import ready
from mloml.learners.neighbours import halvings, majority, most_similar_rows, nearest_rows

# Products are made of this many test rows and training rows at a time: few enough to stay in the cache.
_TEST_ROWS, _TRAIN_ROWS = 128, 4096

# Multiplications of one core.
_PRODUCTS_PER_MINUTE = 1.2e12

# What NumPy and the learners raise when a step size is too large for the data.
DIVERGED = (ArithmeticError, np.linalg.LinAlgError)


def nearest_neighbours(train: Array, test: Array, k: int) -> Index:
    """Return the row indices of the ``k`` nearest training rows of each test row, nearest first.

    Parameters
    ----------
    train, test : (n, d) and (m, d) arrays of floats smaller than 1e150, so that their squares are finite
    k : int
        Number of neighbours; with fewer training rows than that, all of them are returned.

    Notes
    -----
    Candidates are found from ``|a|² + 2 (|b|²/2 - ab)``, with ``a`` and ``b`` taken relative to the mean
    training row and the bracket as one inner product of d + 1 terms. With ``r = |a| + max |b|`` and
    ``u = 2⁻⁵³``, the errors of this and of the exact distance together are at most ``(2 d + 8) u r²`` for any
    order of sums, with or without fused multiply-add, and ``6 (d + 1)`` times the smallest normal number for
    underflow. The margin is larger, so a row whose rough distance exceeds the k-th by more than the margin is
    not among the k nearest.

    Examples
    --------
    >>> nearest_neighbours(np.array([[0.0], [2.0], [2.0], [9.0]]), np.array([[1.0]]), k=2)
    array([[0, 1]])
    """
    ready("neighbours")
    train, test = _plain(train), _plain(test)
    (n, d), m = train.shape, len(test)
    if k < 1 or n < 1:
        raise ValueError(f"k={k} neighbours among {n} training rows; at least 1 of both is needed")
    neighbours = np.empty((m, min(k, n)), dtype=np.int64)
    distances = np.full(neighbours.shape, np.inf)
    centre = train.mean(axis=0)
    near, far = train - centre, test - centre
    near_squares, far_squares = (near**2).sum(axis=1), (far**2).sum(axis=1)
    columns = np.vstack([near.T, near_squares / 2])
    rows = np.column_stack([-far, np.ones(m)])
    double = np.finfo(np.float64)
    lengths = np.sqrt(far_squares) + np.sqrt(near_squares.max())
    margins = (d + 5) * double.eps * lengths**2 + 8 * (d + 1) * double.tiny
    blocks = np.array(halvings(0, d))
    parts = [(first, columns[:, first : first + _TRAIN_ROWS].copy()) for first in range(0, n, _TRAIN_ROWS)]
    room = np.empty(min(m, _TEST_ROWS) * min(n, _TRAIN_ROWS))  # new room for each product takes as long as it
    minutes = n * m * (d + 1) / _PRODUCTS_PER_MINUTE
    if minutes >= 1:  # nothing else is heard of it meanwhile
        line = f"mloml: neighbours of {m} rows among {n}: about {minutes:.0f} minutes"
        print(line, file=sys.stderr, flush=True)
    for start in range(0, m, _TEST_ROWS):
        some = slice(start, start + _TEST_ROWS)
        for first, part in parts:
            shape = len(rows[some]), part.shape[1]
            rough = np.matmul(rows[some], part, out=room[: shape[0] * shape[1]].reshape(shape))
            nearest_rows(
                rough, far_squares[some], margins[some], train, first, test[some], blocks, distances[some],
                neighbours[some],
            )  # fmt: skip
    return neighbours


def predict(train: Array, codes: Codes, test: Array, k: int, ties: str = "smallest") -> Codes:
    """Classify the test rows by their ``k`` nearest training rows.

    ``codes`` are the classes of the training rows as integers from 0 on; for ``ties`` see :func:`vote`.

    >>> predict(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1, 1, 0, 0]), np.array([[1.5], [0.1]]), k=4)
    array([0, 0])
    """
    return vote(nearest_neighbours(train, test, k), codes, ties)


def predict_by_similarity(similarity: Array, codes: Codes, k: int, ties: str = "smallest") -> Codes:
    """Classify rows by the ``k`` training rows (columns of ``similarity``) most similar to each.

    Entries must be finite; of equal ones the first columns count.

    >>> predict_by_similarity(np.array([[0.1, 0.7, 0.7, 0.2]]), np.array([2, 1, 0, 0]), k=1)
    array([1])
    """
    ready("neighbours")
    columns = np.empty((len(similarity), min(k, similarity.shape[1])), dtype=np.int64)
    most_similar_rows(_plain(similarity), columns)
    return vote(columns, codes, ties)


def vote(neighbours: Index, codes: Codes, ties: str = "smallest") -> Codes:
    """Return each row's majority class; ties go to the smallest label, or to that of the nearest row.

    >>> vote(np.array([[0, 1, 2, 3]]), np.array([1, 0, 0, 1]), ties="nearest")
    array([1])
    """
    if ties == "nearest":
        classes = codes[neighbours]
        votes = (classes[:, :, None] == classes[:, None, :]).sum(axis=2)
        return classes[np.arange(len(classes)), votes.argmax(axis=1)]  # the first of the largest
    ready("neighbours")
    codes, winners = _plain(codes, np.int64), np.empty(len(neighbours), dtype=np.int64)
    majority(_plain(neighbours, np.int64), codes, np.empty(codes.max() + 1, dtype=np.int64), winners)
    return winners


class Diverged(ArithmeticError):
    """The learner's output is not finite."""


@dataclass(frozen=True)
class Rows:
    """Rows to take neighbours from and rows to classify, with their class codes.

    Parameters
    ----------
    X_fit, y_fit : the rows learnt from, which are also the neighbours
    X_score, y_score : the rows whose classes are predicted
    k : int
        Number of neighbours.
    ties : {"smallest", "nearest"}
        See :func:`vote`.
    """

    X_fit: Array
    y_fit: Codes
    X_score: Array
    y_score: Codes
    k: int
    ties: str = "smallest"

    def mistakes(self, learner: Any, **options: Any) -> int:
        """Count the wrong predictions of a fitted learner, or None for one that diverged.

        ``options`` go to ``transform`` (``layer=2``). A learner with ``similarity`` (OASIS, and a MOML whose
        metric has become indefinite) has no distance and is judged by that, the row to classify on the left.

        Raises
        ------
        Diverged
            When the learner is None, its output is not finite or it declares itself ``diverged_``.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            if learner is None or getattr(learner, "diverged_", False):
                raise Diverged(f"{type(learner).__name__} diverged")
            if hasattr(learner, "similarity"):
                similarity = _finite(learner.similarity(self.X_score, self.X_fit))
                predicted = predict_by_similarity(similarity, self.y_fit, self.k, self.ties)
            else:
                neighbours = _finite(learner.transform(self.X_fit, **options))
                rows = _finite(learner.transform(self.X_score, **options))
                predicted = predict(neighbours, self.y_fit, rows, self.k, self.ties)
        return int(np.sum(predicted != self.y_score))

    def error(self, learner: Any, **options: Any) -> float:
        """Return the share of wrong predictions; 1.0 when the learner diverged, never NaN."""
        try:
            return self.mistakes(learner, **options) / len(self.y_score)
        except DIVERGED:
            return 1.0

    def layer_errors(self, learner: Any) -> list[float] | None:
        """Return the error on the output of each metric layer, or None for a learner without layers."""
        if not hasattr(learner, "layers_"):
            return None
        return [self.error(learner, layer=layer) for layer in range(1, len(learner.layers_) + 1)]

    def scan_errors(self, learner: Any) -> list[float] | None:
        """Return the error after each scan of one training run, or None for a learner that makes no scans."""
        if not hasattr(learner, "iter_scans"):
            return None
        errors: list[float] = []
        try:
            errors.extend(map(self.error, clone(learner).iter_scans(self.X_fit, self.y_fit)))
        except DIVERGED:
            errors += [1.0] * (learner.get_params()["scans"] - len(errors))
        return errors


def _plain(values: ArrayLike, kind: Any = np.float64) -> NDArray[Any]:
    """Return an array as compiled code wants it: contiguous and writable."""
    return np.require(values, kind, ["C", "W"])


def _finite(output: Array) -> Array:
    # Squared distances must be finite as well, hence the square root of the largest number.
    if not np.all(np.abs(output) < 1e150):
        raise Diverged("the output is not finite")
    return output
