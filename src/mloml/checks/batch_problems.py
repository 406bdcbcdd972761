"""Problems of the kernels that see all rows at once: triplets of a scan, neighbours, batch learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mloml.checks.problem import D, Problem, rows
from mloml.kernels.padding import padded_copy


def _triplet_pass() -> tuple[Any, ...]:
    codes = np.array([0, 0, 1, 1, 2, 0, 2, 2, 1, 0, 0, 1], dtype=np.intp)
    latest, slots = np.full(3, -1, dtype=np.intp), np.full(3, -1, dtype=np.intp)
    return codes, np.arange(12), 5, True, latest, slots, np.array([-1, -1, 0], dtype=np.intp)


def _nearest_rows() -> tuple[Any, ...]:
    train, test = rows(), rows(15)[12:]
    squares = (test**2).sum(axis=1)
    closeness = (test @ train.T - (train**2).sum(axis=1) / 2).astype(np.float32)
    distances, neighbours = np.full((3, 5), np.inf), np.zeros((3, 5), dtype=np.intp)
    return closeness, squares, np.full(3, 1e-4), 1.0, train, 0, test, distances, neighbours


def _majority() -> tuple[Any, ...]:
    neighbours = np.array([[0, 1, 2, 3, 4], [5, 4, 3, 2, 1], [2, 3, 0, 5, 1]], dtype=np.intp)
    return neighbours, np.array([2, 1, 1, 2, 0, 0], dtype=np.int64), 3


STARTS = (0, 4, 9, 12)


def _by_class() -> tuple[Any, ...]:
    """Return rows sorted by class, where classes start, the class of each row, and two targets of each."""
    starts = np.array(STARTS, dtype=np.intp)
    codes = np.repeat(np.arange(3), np.diff(starts))
    first = starts[codes]
    within, size = np.arange(12) - first, np.diff(starts)[codes]
    targets = np.column_stack([first + (within + 1) % size, first + (within + 2) % size])
    return rows(), starts, codes, np.ascontiguousarray(targets, dtype=np.intp)


def _lmnn() -> tuple[Any, ...]:
    from mloml.learners.impostors import LargeMargin

    X, starts, _, targets = _by_class()
    return _descent(LargeMargin(X, starts, targets).room)


def _lmnn_objective() -> tuple[Any, ...]:
    A, mu, room, *_, gradient = _lmnn()
    return A, mu, room, gradient


def _objective_is_right(arguments: tuple[Any, ...], value: Any) -> bool:
    from mloml.checks.plain_batch import lmnn_objective

    expected, gradient = lmnn_objective(*arguments[:3])
    return bool(np.isclose(value, expected, 1e-6, 1e-8) and np.allclose(arguments[3], gradient, 1e-6, 1e-8))


def _centres() -> tuple[Any, ...]:
    from mloml.learners.clusters import CentreMargin

    return _descent(CentreMargin(*_clustered()).room)


def _clusters() -> tuple[Any, ...]:
    from mloml.learners.clusters import ClusterMargin

    return _descent(ClusterMargin(*_clustered(whole=True)).room)


def _clustered(whole: bool = False) -> tuple[Any, ...]:
    from mloml.learners.clusters import Clustered

    X, _, codes, _ = _by_class()
    labels = np.array([0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1] if whole else [0, 1, 0, 1, 2, 2, 3, 3, 2, 4, 4, 4])
    data = Clustered.of(X, labels.astype(np.intp))
    scatter = data.apart.T @ data.apart
    return data, codes, np.linalg.eigh(scatter)[1], scatter


def _descent(room: Any) -> tuple[Any, ...]:
    """Return the arguments of a descent of a few steps from the identity."""
    from mloml.kernels.descent.lbfgs import new_memory

    return np.eye(D), 0.4, room, new_memory(D * D), 1e-4, 5, np.zeros((D, D))


def _judged_by(objective: str) -> Callable[[tuple[Any, ...], Any], bool]:
    """Return a judge of descents: value at the start, value and slope at the end, and that it went down."""

    def judge(arguments: tuple[Any, ...], status: Any) -> bool:
        from mloml.checks import plain_batch
        from mloml.kernels.descent.lbfgs import LAST, START

        A, mu, room, memory, *_, slope = arguments
        plain = getattr(plain_batch, objective)
        start, (end, gradient) = plain(np.eye(D), mu, room)[0], plain(A, mu, room)
        reported = memory.numbers[[START, LAST]]
        return bool(
            np.allclose(reported, [start, end], 1e-6, 1e-8)
            and np.allclose(slope, gradient, 1e-5, 1e-6)
            and end < 0.9 * start
        )

    return judge


def _lloyd() -> tuple[Any, ...]:
    X = rows()
    groups, centres = np.array([0, 7, 12], dtype=np.intp), np.array([0, 3, 5], dtype=np.intp)
    return X, groups, X[[0, 1, 2, 7, 8]].copy(), centres, np.empty(12, dtype=np.intp), 100


def _about_means() -> tuple[Any, ...]:
    X, labels = rows(), np.array([0, 1, 0, 2, 2, 1, 0, 2, 2, 2, 1, 0], dtype=np.intp)
    return X, labels, np.empty((3, D)), np.empty_like(X)


def _metric() -> tuple[Any, ...]:
    """Return what LMDML begins with: M, its inverse, h, the rows, the rows in blocks, units and places."""
    from mloml.kernels.lmdml_rows import in_blocks, no_products, places_of, units_of

    X = rows()
    units, places = units_of(X, 2.0), places_of(_by_class()[1])
    blocks = in_blocks(X, places, units[0])
    h = no_products(blocks)
    h[places] = 0.4 * units[1] * ((units[0] * X) ** 2).sum(axis=1)
    return (
        padded_copy(np.eye(D) * 0.4),
        padded_copy(np.eye(D) * 2.5),
        h,
        padded_copy(X),
        blocks,
        units,
        places,
    )


def _self_products() -> tuple[Any, ...]:
    M, _, h, X, _, units, places = _metric()
    return M, X, units, places, np.full_like(h, np.inf)


def _epoch() -> tuple[Any, ...]:
    _, starts, codes, targets = _by_class()
    return *_metric(), starts, codes, targets, np.arange(12)[::-1].copy(), 3, 13, 1, 2.0


def _mean_hinge() -> tuple[Any, ...]:
    M, _, h, X, blocks, units, places = _metric()
    _, starts, codes, targets = _by_class()
    return M, h, X, blocks, units, places, starts, codes, targets, np.arange(12)


_BATCH = "mloml.checks.plain_batch"

PROBLEMS = (
    Problem("triplets.triplet_pass", _BATCH, _triplet_pass),
    Problem("knn.nearest_rows", _BATCH, _nearest_rows),
    Problem("knn.most_similar_rows", _BATCH, lambda: (rows() @ rows().T, np.empty((12, 3), dtype=np.intp))),
    Problem("knn.majority", _BATCH, _majority),
    Problem(
        "neighbours.nearest_of_class", _BATCH, lambda: (*_by_class()[:2], np.empty((12, 2), dtype=np.intp))
    ),
    Problem("lmnn.objective", _BATCH, _lmnn_objective, judge=_objective_is_right),
    Problem("lmnn.descent", _BATCH, _lmnn, judge=_judged_by("lmnn_objective")),
    Problem("mlcc_lloyd.lloyd_in_groups", _BATCH, _lloyd),
    Problem("mlcc_lloyd.about_means", _BATCH, _about_means),
    Problem("mlcc.centre_descent", _BATCH, _centres, judge=_judged_by("centre_objective")),
    Problem("mlcc_whole.cluster_descent", _BATCH, _clusters, judge=_judged_by("cluster_objective")),
    Problem("lmdml_search.self_products", _BATCH, _self_products),
    Problem("lmdml.epoch", _BATCH, _epoch),
    Problem("lmdml.mean_hinge", _BATCH, _mean_hinge),
)
