"""How good a metric is for search: scores of rankings and of comparisons, for learners and pipelines.

``recall_at_k``, ``precision_at_k`` and ``mean_reciprocal_rank`` are scorers as scikit-learn takes them: each
row of ``X`` in turn is the query, all other rows are ranked, and those of its class are what it looks for.
Queries whose class has no other row are left out. Equally near rows come in the order of ``X``.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length

from mloml.arrays import Array
from mloml.learners.comparisons import require_in_range, rows_and_places

# Distances that are held at a time.
AT_ONCE = 2**22


def recall_at_k(estimator: Any, X: ArrayLike, y: ArrayLike, k: int = 1) -> float:
    """Return the share of queries with a row of their class among the k nearest.

    Parameters
    ----------
    estimator : fitted learner, or pipeline that ends with one
        Something with ``transform``, or with ``similarity``.
    X : array-like or sparse matrix of shape (n, d)
        Rows.
    y : array-like of shape (n,)
        Their classes.
    k : int, default=1
        How many rows a query gets.

    Examples
    --------
    >>> from functools import partial
    >>> from mloml import OPML
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), OPML(gamma=1e-2, random_state=0))
    >>> cross_val_score(model, X, y, scoring=partial(recall_at_k, k=1)).mean().round(3)
    np.float64(0.994)
    """
    return float(np.mean([found[:k].any() for found in _rankings(estimator, X, y, k)]))


def precision_at_k(estimator: Any, X: ArrayLike, y: ArrayLike, k: int = 1) -> float:
    """Return the share of a query's class among its k nearest rows, averaged over queries.

    See ``recall_at_k`` for the parameters.
    """
    return float(np.mean([found[:k].mean() for found in _rankings(estimator, X, y, k)]))


def mean_reciprocal_rank(estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return the mean of 1 / rank of the nearest row of the query's class; see ``recall_at_k``."""
    return float(np.mean([1.0 / (1 + found.argmax()) for found in _rankings(estimator, X, y, 1)]))


def triplet_accuracy(estimator: Any, X: ArrayLike, triplets: ArrayLike | None = None) -> float:
    """Return the share of triplets (x, xp, xq) in which x is nearer to xp than to xq.

    Parameters
    ----------
    estimator : fitted learner, or pipeline that ends with one
        Something with ``transform``, or with ``similarity``.
    X : array-like or sparse matrix of shape (n, d), or array-like of shape (t, 3, d)
        Rows that ``triplets`` name by their numbers, or the triplets themselves.
    triplets : array-like of int, shape (t, 3), optional
        Numbers of x, xp and xq in ``X``.

    Examples
    --------
    >>> from mloml import OPML
    >>> X = [[[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]]
    >>> triplet_accuracy(OPML(gamma=0.1).partial_fit_triplets(X), X)
    0.5
    """
    X, index = rows_and_places(X, triplets, "triplets", 3)
    learner, rows = _last(estimator, X)
    require_in_range(index, rows, "triplets")
    if hasattr(learner, "similarity"):
        x, xp, xq = (rows[index[:, side]] for side in range(3))
        near, far = (-_similarity_of_pairs(learner, x, others) for others in (xp, xq))
    else:
        Z = _mapped(learner, rows)
        x, xp, xq = (Z[index[:, side]] for side in range(3))
        near, far = (((x - others) ** 2).sum(axis=1) for others in (xp, xq))
    return float(np.mean(near < far))


def _rankings(estimator: Any, X: ArrayLike, y: ArrayLike, k: int) -> Iterator[NDArray[np.bool_]]:
    """Yield for each query which of the other rows, nearest first, are of its class."""
    labels = np.asarray(y)
    learner, rows = _last(estimator, X)
    check_consistent_length(rows, labels)
    n = len(labels)
    if not 1 <= k < n:
        raise ValueError(f"k is {k!r}, expected an integer from 1 to {n - 1}, the number of other rows")
    compares = hasattr(learner, "similarity")
    Z, found, step = rows if compares else _mapped(learner, rows), False, max(1, AT_ONCE // n)
    for first in range(0, n, step):
        queries = np.arange(first, min(first + step, n))
        ranks = -learner.similarity(Z[queries], Z) if compares else cdist(Z[queries], Z, "sqeuclidean")
        for i, distances in zip(queries, ranks, strict=True):
            order = np.argsort(distances, kind="stable")
            of_class = labels[order[order != i]] == labels[i]
            if of_class.any():
                found = True
                yield of_class
    if not found:
        raise ValueError("y has no class of two rows: there is nothing to find")


def _last(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return a pipeline's learner and the rows as that sees them, if it compares rows; else what is given."""
    rows: Any = X if issparse(X) else np.asarray(X)
    if isinstance(estimator, Pipeline) and hasattr(estimator[-1], "similarity"):
        return estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else rows
    return estimator, rows


def _mapped(learner: Any, rows: Any) -> Array:
    Z: Any = learner.transform(rows)
    return np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z)


def _similarity_of_pairs(learner: Any, left: Any, right: Any) -> Array:
    step = 256  # all are compared with all
    parts = [slice(i, i + step) for i in range(0, left.shape[0], step)]
    return np.concatenate([learner.similarity(left[part], right[part]).diagonal() for part in parts])
