"""Tiny fixed problems, one for every way in which Python calls a kernel.

A problem calls the compiled function and its plain NumPy counterpart, which has the same name and signature,
with the same arguments, of the very types that the learners use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mloml.kernels import layout
from mloml.kernels.padding import padded_copy, zeros

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
    variant : str
        Tells problems of one kernel apart: other types of arguments are other compiled code.
    """

    kernel: str
    reference: str
    arguments: Callable[[], tuple[Any, ...]]
    compared: Callable[..., Any] = lambda *arguments: arguments
    plainly: Callable[..., tuple[Any, ...]] = lambda *arguments: arguments
    variant: str = ""

    @property
    def name(self) -> str:
        """Kernel and variant, such as ``stack.fp_scan dense``."""
        return f"{self.kernel} {self.variant}".strip()


def _rows(n: int = 12) -> Any:
    """Return rows of a norm near 1; written out by sines, so that no library's random numbers matter."""
    return np.sin(np.arange(1.0, n * D + 1).reshape(n, D) ** 1.5) * 0.7


def _triplets(count: int = 14, n: int = 12) -> Any:
    k = np.arange(count)
    return np.column_stack([k % n, (k + 2 + k % 3) % n, (k + 6 + k % 2) % n]).astype(np.intp)


def _counters(size: int) -> Any:
    return np.zeros(size, dtype=np.int64)


def _online(*settings: Any, counters: int) -> Callable[[], tuple[Any, ...]]:
    return lambda: (_rows(), _triplets(), np.eye(D), *settings, _counters(counters))


def _stack(kinds: tuple[int, ...], step: float) -> tuple[Any, ...]:
    """Return what all scans of a stack begin with, and its workspace."""
    n, m = len(kinds), zeros(D).size
    L, K = zeros(n, m, D), zeros(n, m, D)
    L[:, range(D), range(D)] = K[:, range(D), range(D)] = 1.0
    numbers = np.zeros((n, layout.FLOATS))
    numbers[:] = [step, 0.1, 2.0, 1.0]
    options = np.zeros((n, layout.CHOICES), dtype=np.int64)
    options[:, layout.KIND] = kinds
    options[:, layout.POLICY] = [layout.CLIP if kind == layout.SYMMETRIC else layout.SHRINK for kind in kinds]
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
    M = zeros(D, D)
    M[range(D), range(D)] = 1.0
    room, work = zeros(layout.ROWS, D), zeros(2, D, D)
    counts = np.zeros((1, layout.INTEGERS), dtype=np.int64)[0]
    rows = padded_copy(_rows())
    return rows, _triplets(), M, room, np.array([0.999]), counts, 0.1, layout.CLIP, layout.PAPER, work, D


def _triplet_pass() -> tuple[Any, ...]:
    codes = np.array([0, 0, 1, 1, 2, 0, 2, 2, 1, 0, 0, 1], dtype=np.intp)
    latest, slots = np.full(3, -1, dtype=np.intp), np.full(3, -1, dtype=np.intp)
    return codes, np.arange(12), 5, True, latest, slots, np.array([-1, -1, 0], dtype=np.intp)


def _nearest_rows() -> tuple[Any, ...]:
    train, test = _rows(), _rows(15)[12:]
    squares = (test**2).sum(axis=1)
    closeness = (test @ train.T - (train**2).sum(axis=1) / 2).astype(np.float32)
    return closeness, squares, np.full(3, 1e-4), 1.0, train, test, np.empty((3, 5), dtype=np.intp)


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


def _target_distances() -> tuple[Any, ...]:
    X, _, _, targets = _by_class()
    return X, targets, np.empty((2, len(X)))


def _margins(X: Any, targets: Any) -> Any:
    return 1.0 + np.stack([((X - X[column]) ** 2).sum(axis=1) for column in targets.T])


def _dense_pass() -> tuple[Any, ...]:
    X, starts, _, targets = _by_class()
    XT, thresholds = np.ascontiguousarray(X.T), _margins(X, targets)
    return X, XT, XT, starts, thresholds, np.zeros((2, 12)), np.zeros(12), np.zeros(X.shape)


def _find_candidates() -> tuple[Any, ...]:
    X, starts, _, targets = _by_class()
    reach = _margins(X, targets).max(axis=0)
    pointers, candidates = np.zeros(13, dtype=np.int64), np.zeros(60, dtype=np.int32)
    return X, np.ascontiguousarray(X.T), starts, reach, pointers, candidates


def _sparse_pass() -> tuple[Any, ...]:
    X, _, _, targets = _by_class()
    later = [j for i in range(12) for j in range(max(4, i + 4), 12, 3)]
    sizes = [len(range(max(4, i + 4), 12, 3)) for i in range(12)]
    pointers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    room = np.zeros((2, 12)), np.zeros(12), np.zeros(X.shape)
    return X, X, _margins(X, targets), pointers, np.array(later, dtype=np.int32), *room


def _lloyd() -> tuple[Any, ...]:
    X = _rows()
    return X, X[:3].copy(), np.empty(12, dtype=np.intp), 100


def _centre_pass() -> tuple[Any, ...]:
    X, _, codes, _ = _by_class()
    labels = np.array([0, 1, 0, 1, 2, 2, 3, 3, 2, 4, 4, 4], dtype=np.intp)
    centres = np.stack([X[labels == c].mean(axis=0) for c in range(5)])
    room = np.zeros(12), np.zeros(5), np.zeros(X.shape)
    return X, centres, centres, labels, codes, np.array([0, 0, 1, 1, 2], dtype=np.intp), 0.4, *room


def _cluster_pass() -> tuple[Any, ...]:
    X, _, codes, _ = _by_class()
    return X, X, np.array([0, 7, 12], dtype=np.intp), codes, 0.4, np.zeros(12), np.zeros(X.shape)


def _metric() -> tuple[Any, ...]:
    """Return what LMDML begins with: M, its inverse, h, the rows, and the rows in blocks."""
    from mloml.kernels.rows import BLOCK, in_blocks

    X = _rows()
    M, K, blocks = padded_copy(np.eye(D) * 0.4), padded_copy(np.eye(D) * 2.5), in_blocks(X)
    h = np.zeros(len(blocks) * BLOCK)
    h[:12] = 0.4 * (X**2).sum(axis=1)
    return M, K, h, padded_copy(X), blocks


def _self_products() -> tuple[Any, ...]:
    M, _, h, X, _ = _metric()
    return M, X, h


def _epoch() -> tuple[Any, ...]:
    _, starts, codes, targets = _by_class()
    return *_metric(), starts, codes, targets, np.arange(12)[::-1].copy(), 3, 13, 1, 2.0


def _mean_hinge() -> tuple[Any, ...]:
    M, _, h, X, blocks = _metric()
    _, starts, codes, targets = _by_class()
    return M, h, X, blocks, starts, codes, targets, np.arange(12)


_ONLINE, _STACKS, _BATCH = (f"mloml.kernels.reference{end}" for end in ("", "_stack", "_batch"))

PROBLEMS = (
    Problem("opml.opml_scan", _ONLINE, _online(0.1, counters=2)),
    Problem("lego.lego_scan", _ONLINE, _online(0.1, 2.0, True, 0.2, counters=1)),
    Problem("rdml.rdml_scan", _ONLINE, _online(False, 0.2, counters=2)),
    Problem("oasis.oasis_scan", _ONLINE, _online(0.1, counters=1)),
    Problem("slmoml.slmoml_scan", _ONLINE, _online(0.1, counters=1)),
    Problem("stack.fp_scan", _STACKS, lambda: _fp(QUICK), _layers, _without_dense),
    Problem("stack.fp_scan", _STACKS, lambda: _fp(DENSE), _layers, _without_dense, "dense"),
    Problem("scans.bp_scan", _STACKS, _bp, _layers),
    Problem("scans.fbp_scan", _STACKS, lambda: _fbp(QUICK), _layers, _without_dense),
    Problem("scans.fbp_scan", _STACKS, lambda: _fbp(DENSE[:2]), _layers, _without_dense, "dense"),
    Problem("moml.moml_scan", _STACKS, _moml, lambda *a: (a[2][:D, :D], a[5][:2])),
    Problem("triplets.triplet_pass", _BATCH, _triplet_pass),
    Problem("knn.nearest_rows", _BATCH, _nearest_rows),
    Problem("knn.majority", _BATCH, _majority),
    Problem(
        "neighbours.nearest_of_class", _BATCH, lambda: (*_by_class()[:2], np.empty((12, 2), dtype=np.intp))
    ),
    Problem("lmnn.target_distances", _BATCH, _target_distances),
    Problem("lmnn.dense_pass", _BATCH, _dense_pass),
    Problem("lmnn.find_candidates", _BATCH, _find_candidates),
    Problem("lmnn.sparse_pass", _BATCH, _sparse_pass),
    Problem("mlcc.lloyd", _BATCH, _lloyd),
    Problem("mlcc.centre_pass", _BATCH, _centre_pass),
    Problem("mlcc.cluster_pass", _BATCH, _cluster_pass),
    Problem("lmdml.self_products", _BATCH, _self_products),
    Problem("lmdml.epoch", _BATCH, _epoch),
    Problem("lmdml.mean_hinge", _BATCH, _mean_hinge),
)
