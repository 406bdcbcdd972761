"""Problems of the kernels that learn one triplet after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mloml.checks.problem import D, Problem, rows, triplets
from mloml.kernels.padding import padded_copy, zeros
from mloml.kernels.stack import layout


def _online(*settings: Any) -> Callable[[], tuple[Any, ...]]:
    return lambda: (rows(), triplets(), np.eye(D), *settings, np.zeros(layout.INTEGERS, dtype=np.int64))


def _diagonal(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a scan that shortens pulls, for these rows, ending in its counts."""
    counts = np.zeros(layout.INTEGERS, dtype=np.int64)
    return *given, triplets(), np.ones(D), 0.6, 0.1, 0.2, layout.PAPER, counts


def _low_rank(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a scan of a factor of two rows that shortens pushes, for these rows, ending in its counts."""
    counts = np.zeros(layout.INTEGERS, dtype=np.int64)
    return *given, triplets(), np.cos(np.arange(2.0 * D)).reshape(D, 2), 0.8, np.zeros((14, 3, 2)), counts


def _factor(*arguments: Any) -> Any:
    """Of a low-rank scan's arguments the factor, the outputs, and the counts of updates and short pushes."""
    return arguments[-4], arguments[-2], arguments[-1][:2]


def _sparse_rows() -> tuple[Any, ...]:
    """Return the rows with a third of their entries left out: entries, features, and where rows start."""
    from scipy.sparse import csr_array

    X = rows()
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
    V = zeros(n * layout.ROWS, m)
    return (padded_copy(rows()), triplets(), L, K, V, numbers, counts, options, layout.TANH), zeros(2, m, m)


FRAMES = (layout.FRAME,) * 3
OPML = (layout.FRAME, layout.OPML, layout.FRAME)
DENSE = (layout.CHOLESKY, layout.SYMMETRIC, layout.LEGO, layout.RDML)


def _rooms(kinds: tuple[int, ...], work: Any) -> tuple[Any, ...]:
    """Return the arguments by which the compiler tells which algorithms a stack needs."""
    return work, work if kinds[0] in DENSE else None, None if kinds == FRAMES else True


def _fp(kinds: tuple[int, ...]) -> tuple[Any, ...]:
    common, work = _stack(kinds, 0.1)
    return (*common, *_rooms(kinds, work), D)


def _bp() -> tuple[Any, ...]:
    return (*_stack(FRAMES, 0.1)[0], 0.1, 0.01, D)


def _fbp(kinds: tuple[int, ...]) -> tuple[Any, ...]:
    common, work = _stack(kinds, 0.1)
    return (*common, 0.05, 0.01, 2, False, False, *_rooms(kinds, work), D)


def _layers(*arguments: Any) -> Any:
    """Of a stack's arguments the layers, the weights, and the counts of updates and of cone failures."""
    return arguments[2][:, :D, :D], arguments[5], arguments[6][:, :2]


def _for_all_kinds(*arguments: Any) -> tuple[Any, ...]:
    return (*arguments[:-3], arguments[-1])


def _moml() -> tuple[Any, ...]:
    m = zeros(D).size  # rows too: kernels take two at a time
    M = zeros(m, D)
    M[range(D), range(D)] = 1.0
    room, work = zeros(layout.ROWS, D), zeros(2, m, D)
    counts = np.zeros((1, layout.INTEGERS), dtype=np.int64)[0]
    return (
        padded_copy(rows()),
        triplets(),
        M,
        room,
        np.array([0.999]),
        counts,
        0.1,
        layout.CLIP,
        layout.PAPER,
        work,
        D,
    )


def _one_row() -> tuple[Any, ...]:
    """Let a row of the first of two classes arrive after one of the second."""
    latest, slots, state = (np.array(known, dtype=np.intp) for known in ([3, 4], [0, 1], [1, 0, 2]))
    return rows()[5], 2.0, 0, 5, True, rows()[3:5].copy(), latest, slots, state, zeros(3, D)


_ONLINE, _STACKS = "mloml.checks.plain_online", "mloml.checks.plain_stack"

PROBLEMS = (
    Problem("opml.opml_scan", _ONLINE, _online(0.1), _learned),
    Problem("lego.lego_scan", _ONLINE, _online(0.1, 2.0, True, 0.2), _learned),
    Problem("rdml.rdml_scan", _ONLINE, _online(False, True, 0.2), _learned),
    Problem("oasis.oasis_scan", _ONLINE, _online(0.1), _learned),
    Problem("slmoml.slmoml_scan", _ONLINE, _online(0.1, 1.5), _learned),
    Problem("diagonal.diagonal_scan", _ONLINE, lambda: _diagonal((rows(),)), _weights),
    Problem("diagonal.sparse_diagonal_scan", _ONLINE, lambda: _diagonal(_sparse_rows()), _weights),
    Problem("low_rank.low_rank_scan", _ONLINE, lambda: _low_rank((rows(),)), _factor),
    Problem("low_rank.sparse_low_rank_scan", _ONLINE, lambda: _low_rank(_sparse_rows()), _factor),
    Problem("sparse_square.sparse_opml_scan", _ONLINE, lambda: _sparse_square(0.6), _square),
    Problem("sparse_square.sparse_oasis_scan", _ONLINE, lambda: _sparse_square(0.1), _square),
    Problem("lengths.add_lengths", _ONLINE, lambda: (rows(), np.zeros(3))),
    Problem("triplets.one_row", _ONLINE, _one_row),
    Problem("stack.forward.fp_scan", _STACKS, lambda: _fp(FRAMES), _layers, _for_all_kinds),
    Problem("stack.forward.fp_scan", _STACKS, lambda: _fp(OPML), _layers, _for_all_kinds, variant="opml"),
    Problem("stack.forward.fp_scan", _STACKS, lambda: _fp(DENSE), _layers, _for_all_kinds, variant="dense"),
    Problem("stack.backward.bp_scan", _STACKS, _bp, _layers),
    Problem("stack.backward.fbp_scan", _STACKS, lambda: _fbp(FRAMES), _layers, _for_all_kinds),
    Problem("stack.backward.fbp_scan", _STACKS, lambda: _fbp(OPML), _layers, _for_all_kinds, variant="opml"),
    Problem(
        "stack.backward.fbp_scan", _STACKS, lambda: _fbp(DENSE[:2]), _layers, _for_all_kinds, variant="dense"
    ),
    Problem("moml_metric.moml_scan", _STACKS, _moml, lambda *a: (a[2][:D, :D], a[5][:2])),
)
