"""Tiny fixed problems, one for every way in which Python calls a kernel.

A problem calls the compiled function and its plain NumPy counterpart, which has the same name and signature,
with the same arguments, of the very types that the learners use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mloml.kernels.padding import padded_copy, zeros
from mloml.kernels.stack import layout

D = 5
"""Features of a problem: more than four, so that a row takes two vectors, and not a multiple of four."""


@dataclass(frozen=True)
class Problem:
    """One call of a kernel.

    Parameters
    ----------
    kernel : str
        Module and function, such as ``opml.opml_scan``.
    reference : str
        The module with the plain function.
    arguments : callable
        Returns the arguments, new ones at each call.
    compared : callable, optional
        Returns, from the arguments after the call, what must agree; by default all arrays.
    plainly : callable, optional
        Returns the arguments of the plain function from those of the compiled one.
    judge : callable, optional
        Says, from the arguments after the call and its result, whether they are right: for a descent, which
        is compared with its plain objective at both ends.
    variant : str
        Tells problems of one kernel apart: other types of arguments are other compiled code.
    """

    kernel: str
    reference: str
    arguments: Callable[[], tuple[Any, ...]]
    compared: Callable[..., Any] = lambda *arguments: arguments
    plainly: Callable[..., tuple[Any, ...]] = lambda *arguments: arguments
    judge: Callable[[tuple[Any, ...], Any], bool] | None = None
    variant: str = ""

    @property
    def name(self) -> str:
        """Kernel and variant, such as ``stack.forward.fp_scan dense``."""
        return f"{self.kernel} {self.variant}".strip()


def _rows(n: int = 12) -> Any:
    """Return rows of a norm near 1; written out by sines, so that no library's random numbers matter."""
    return np.sin(np.arange(1.0, n * D + 1).reshape(n, D) ** 1.5) * 0.7


def _triplets(count: int = 14, n: int = 12) -> Any:
    k = np.arange(count)
    return np.column_stack([k % n, (k + 2 + k % 3) % n, (k + 6 + k % 2) % n]).astype(np.intp)


def _online(*settings: Any) -> Callable[[], tuple[Any, ...]]:
    return lambda: (_rows(), _triplets(), np.eye(D), *settings, np.zeros(layout.INTEGERS, dtype=np.int64))


def _diagonal(rows: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a scan that shortens pulls, for these rows, ending in its counts."""
    counts = np.zeros(layout.INTEGERS, dtype=np.int64)
    return *rows, _triplets(), np.ones(D), 0.6, 0.1, 0.2, layout.PAPER, counts


def _low_rank(rows: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a scan of a factor of two rows that shortens pushes, for these rows, ending in its counts."""
    counts = np.zeros(layout.INTEGERS, dtype=np.int64)
    return *rows, _triplets(), np.cos(np.arange(2.0 * D)).reshape(D, 2), 0.8, np.zeros((14, 3, 2)), counts


def _factor(*arguments: Any) -> Any:
    """Of a low-rank scan's arguments the factor, the outputs, and the counts of updates and short pushes."""
    return arguments[-4], arguments[-2], arguments[-1][:2]


def _sparse_rows() -> tuple[Any, ...]:
    """Return the rows with a third of their entries left out: entries, features, and where rows start."""
    from scipy.sparse import csr_array

    X = _rows()
    X.ravel()[::3] = 0.0
    sparse = csr_array(X)
    return sparse.data, sparse.indices.astype(np.int32), sparse.indptr.astype(np.int64)


def _sparse_square(step: float) -> tuple[Any, ...]:
    return *_sparse_rows(), *_online(step)()[1:]


def _square(*arguments: Any) -> Any:
    """Of such a scan's arguments the matrix, and the counts of updates and of cone failures."""
    return arguments[4], arguments[-1][:2]


def _weights(*arguments: Any) -> Any:
    """Of a diagonal scan's arguments the weights, and the counts of updates and of shortened pulls."""
    return arguments[-6], arguments[-1][:2]


def _learned(*arguments: Any) -> Any:
    """Of a scan's arguments the matrix, and the counts of updates and of cone failures."""
    return arguments[2], arguments[-1][:2]


def _stack(kinds: tuple[int, ...], step: float) -> tuple[Any, ...]:
    """Return what all scans of a stack begin with, and its workspace."""
    n, m = len(kinds), zeros(D).size
    L, K = zeros(n, m, D), zeros(n, m, D)
    L[:, range(D), range(D)] = K[:, range(D), range(D)] = 1.0
    numbers = np.zeros((n, layout.FLOATS))
    numbers[:] = [step, 0.1, 2.0, 1.0, 0.1, 0.1]
    options = np.zeros((n, layout.CHOICES), dtype=np.int64)
    options[:, layout.KIND] = kinds
    options[:, layout.POLICY] = [layout.CLIP if kind == layout.SYMMETRIC else layout.SPLIT for kind in kinds]
    counts = np.zeros((n, layout.INTEGERS), dtype=np.int64)
    rows, V = padded_copy(_rows()), zeros(n * layout.ROWS, m)
    return (rows, _triplets(), L, K, V, numbers, counts, options, layout.TANH), zeros(2, m, m)


QUICK = (layout.FRAME, layout.OPML, layout.FRAME)
DENSE = (layout.CHOLESKY, layout.SYMMETRIC, layout.LEGO, layout.RDML)


def _fp(kinds: tuple[int, ...]) -> tuple[Any, ...]:
    common, work = _stack(kinds, 0.1)
    return (*common, work, None if kinds == QUICK else work, D)


def _bp() -> tuple[Any, ...]:
    return (*_stack(QUICK, 0.1)[0], 0.1, 0.01, D)


def _fbp(kinds: tuple[int, ...]) -> tuple[Any, ...]:
    common, work = _stack(kinds, 0.1)
    return (*common, 0.05, 0.01, 2, False, False, work, None if kinds == QUICK else work, D)


def _layers(*arguments: Any) -> Any:
    """Of a stack's arguments the layers, the weights, and the counts of updates and of cone failures."""
    return arguments[2][:, :D, :D], arguments[5], arguments[6][:, :2]


def _without_dense(*arguments: Any) -> tuple[Any, ...]:
    return (*arguments[:-2], arguments[-1])


def _moml() -> tuple[Any, ...]:
    m = zeros(D).size  # rows too: kernels take two at a time
    M = zeros(m, D)
    M[range(D), range(D)] = 1.0
    room, work = zeros(layout.ROWS, D), zeros(2, m, D)
    counts = np.zeros((1, layout.INTEGERS), dtype=np.int64)[0]
    rows = padded_copy(_rows())
    return rows, _triplets(), M, room, np.array([0.999]), counts, 0.1, layout.CLIP, layout.PAPER, work, D


def _triplet_pass() -> tuple[Any, ...]:
    codes = np.array([0, 0, 1, 1, 2, 0, 2, 2, 1, 0, 0, 1], dtype=np.intp)
    latest, slots = np.full(3, -1, dtype=np.intp), np.full(3, -1, dtype=np.intp)
    return codes, np.arange(12), 5, True, latest, slots, np.array([-1, -1, 0], dtype=np.intp)


def _one_row() -> tuple[Any, ...]:
    """Let a row of the first of two classes arrive after one of the second."""
    latest, slots, state = (np.array(known, dtype=np.intp) for known in ([3, 4], [0, 1], [1, 0, 2]))
    return _rows()[5], 2.0, 0, 5, True, _rows()[3:5].copy(), latest, slots, state, zeros(3, D)


def _nearest_rows() -> tuple[Any, ...]:
    train, test = _rows(), _rows(15)[12:]
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
    return _rows(), starts, codes, np.ascontiguousarray(targets, dtype=np.intp)


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
    apart = data.apart()
    return data, codes[data.order], np.eye(D), apart.T @ apart


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
    X = _rows()
    groups, centres = np.array([0, 7, 12], dtype=np.intp), np.array([0, 3, 5], dtype=np.intp)
    return X, groups, X[[0, 1, 2, 7, 8]].copy(), centres, np.empty(12, dtype=np.intp), 100


def _metric() -> tuple[Any, ...]:
    """Return what LMDML begins with: M, its inverse, h, the rows, the rows in blocks, units and places."""
    from mloml.kernels.lmdml_rows import in_blocks, no_products, places_of, units_of

    X = _rows()
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


_ONLINE, _STACKS, _BATCH = (f"mloml.checks.plain_{kind}" for kind in ("online", "stack", "batch"))

PROBLEMS = (
    Problem("opml.opml_scan", _ONLINE, _online(0.1), _learned),
    Problem("lego.lego_scan", _ONLINE, _online(0.1, 2.0, True, 0.2), _learned),
    Problem("rdml.rdml_scan", _ONLINE, _online(False, True, 0.2), _learned),
    Problem("oasis.oasis_scan", _ONLINE, _online(0.1), _learned),
    Problem("slmoml.slmoml_scan", _ONLINE, _online(0.1, 1.5), _learned),
    Problem("diagonal.diagonal_scan", _ONLINE, lambda: _diagonal((_rows(),)), _weights),
    Problem("diagonal.sparse_diagonal_scan", _ONLINE, lambda: _diagonal(_sparse_rows()), _weights),
    Problem("low_rank.low_rank_scan", _ONLINE, lambda: _low_rank((_rows(),)), _factor),
    Problem("low_rank.sparse_low_rank_scan", _ONLINE, lambda: _low_rank(_sparse_rows()), _factor),
    Problem("sparse_square.sparse_opml_scan", _ONLINE, lambda: _sparse_square(0.6), _square),
    Problem("sparse_square.sparse_oasis_scan", _ONLINE, lambda: _sparse_square(0.1), _square),
    Problem("lengths.add_lengths", _ONLINE, lambda: (_rows(), np.zeros(3))),
    Problem("triplets.one_row", _ONLINE, _one_row),
    Problem("stack.forward.fp_scan", _STACKS, lambda: _fp(QUICK), _layers, _without_dense),
    Problem("stack.forward.fp_scan", _STACKS, lambda: _fp(DENSE), _layers, _without_dense, variant="dense"),
    Problem("stack.backward.bp_scan", _STACKS, _bp, _layers),
    Problem("stack.backward.fbp_scan", _STACKS, lambda: _fbp(QUICK), _layers, _without_dense),
    Problem(
        "stack.backward.fbp_scan", _STACKS, lambda: _fbp(DENSE[:2]), _layers, _without_dense, variant="dense"
    ),
    Problem("moml_metric.moml_scan", _STACKS, _moml, lambda *a: (a[2][:D, :D], a[5][:2])),
    Problem("triplets.triplet_pass", _BATCH, _triplet_pass),
    Problem("knn.nearest_rows", _BATCH, _nearest_rows),
    Problem("knn.majority", _BATCH, _majority),
    Problem(
        "neighbours.nearest_of_class", _BATCH, lambda: (*_by_class()[:2], np.empty((12, 2), dtype=np.intp))
    ),
    Problem("lmnn.objective", _BATCH, _lmnn_objective, judge=_objective_is_right),
    Problem("lmnn.descent", _BATCH, _lmnn, judge=_judged_by("lmnn_objective")),
    Problem("mlcc.lloyd_in_groups", _BATCH, _lloyd),
    Problem("mlcc.centre_descent", _BATCH, _centres, judge=_judged_by("centre_objective")),
    Problem("mlcc_whole.cluster_descent", _BATCH, _clusters, judge=_judged_by("cluster_objective")),
    Problem("lmdml_search.self_products", _BATCH, _self_products),
    Problem("lmdml.epoch", _BATCH, _epoch),
    Problem("lmdml.mean_hinge", _BATCH, _mean_hinge),
)
