"""Known answers: every process compares its compiled code with them before it believes it.

Each compiled algorithm solves one fixed problem, large enough to reach all of its branches. What comes out is
compared, to 1e-6, with the numbers in ``answers.json``, which plain NumPy code wrote
(``python -m tests.oracles.answers``).
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mloml.arrays import Array, Codes, Counts, Index
from mloml.errors import KernelError
from mloml.learners.linalg import AGE

TOLERANCE = 1e-6
ANSWERS = Path(__file__).with_name("answers.json")
N, D = 600, 21


@cache
def answers() -> dict[str, list[list[float]]]:
    """Return the known digests of all results, by algorithm."""
    known: dict[str, list[list[float]]] = json.loads(ANSWERS.read_text())
    return known


def rows(n: int = N, d: int = D) -> Array:
    """Return rows of a norm near 1 in four classes; by sines, so that no library's random numbers matter."""
    X = np.sin(np.arange(1.0, n * d + 1).reshape(n, d) ** 1.5)
    X[np.arange(n), codes(n) % d] += 1.5
    return np.ascontiguousarray(0.3 * X)


def codes(n: int = N) -> Codes:
    """Return the classes of these rows."""
    return (np.arange(n) ** 2 % 7 + np.arange(n) // 5).astype(np.int64) % 4


def digest(result: Any) -> list[float]:
    """Return three numbers that change when any entry of an array does: its norm and two weighted sums.

    >>> digest([3.0, 4.0])[0]
    5.0
    """
    flat = np.asarray(result, dtype=np.float64).ravel()
    places = np.arange(1.0, flat.size + 1)
    return [float(np.linalg.norm(flat)), float(flat @ np.sin(places)), float(flat @ np.cos(1.3 * places))]


def check(algorithm: str) -> None:
    """Solve an algorithm's problem and compare; a wrong number means that this process must not go on."""
    with np.errstate(all="ignore"):
        found = [digest(result) for result in globals()[f"{algorithm}_problem"]()]
    for ours, theirs in zip(found, answers()[algorithm], strict=True):
        if not np.allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE * max(1e-3, theirs[0])):
            raise KernelError(
                f"the compiled code of {algorithm} computes something else than its formulas; what was kept "
                "of it is thrown away: restart Python, and it is compiled anew"
            )


def some_triplets(n: int = N) -> Index:
    """Return n triplets of different rows."""
    t = np.arange(n)
    return np.stack([t, (5 * t + 3) % n, (7 * t + 4) % n], axis=1)


def differences(X: Array, triplets: Index) -> Array:
    """Return D of these triplets, see linalg."""
    x, xp, xq = (X[triplets[:, side]] for side in range(3))
    return np.stack([x - xp, x - xq, x], axis=1)


def sparse_rows() -> Any:
    """Return the rows with a quarter of their entries left out."""
    from mloml.learners.rows import SparseRows

    X = rows()
    X.ravel()[::4] = 0.0
    return SparseRows.of(csr_array(X))


def online_problem() -> tuple[Array, Any, Array]:
    """Return D, counters and room for outputs."""
    D = differences(rows(), some_triplets())
    return D, np.zeros(5, dtype=np.int64), np.zeros(D.shape)


def sparse_problem() -> tuple[Any, ...]:
    """Return what a scan of sparse rows begins with."""
    X = sparse_rows()
    return X.data, X.indices, X.starts, some_triplets()


def no_counts() -> Counts:
    """Return counters at zero."""
    return np.zeros(5, dtype=np.int64)


def moml_problem() -> tuple[Any, ...]:
    from mloml.learners.layers import NOTHING
    from mloml.learners.moml import moml_scan

    D, counts, outputs = online_problem()
    L, N, alone = np.eye(21), np.eye(21), np.eye(21)
    moml_scan(D, L, N, 0.05, 0.1, 0.1, counts, outputs)
    inverse, some = np.eye(21), no_counts()
    moml_scan(D[:99], alone, inverse, 0.05, 0.1, 0.1, some, NOTHING)
    return L, outputs, counts[[0, 1, AGE]], N, alone, inverse, some[[0, 1, AGE]]


def moml_free_problem() -> tuple[Any, ...]:
    from mloml.learners.moml import metric_scan

    D, counts, _ = online_problem()
    M = np.eye(21)
    metric_scan(D, M, 0.05, counts)
    return M, counts[:2]


def opml_problem() -> tuple[Any, ...]:
    from mloml.learners.layers import NOTHING
    from mloml.learners.opml import opml_scan, sparse_opml_scan

    D, counts, outputs = online_problem()
    L, long, sparse, some, others = np.eye(21), np.eye(21), np.eye(21), no_counts(), no_counts()
    opml_scan(D, L, 0.01, counts, outputs)
    opml_scan(D[:40], long, 0.4, some, NOTHING)
    sparse_opml_scan(*sparse_problem(), sparse, 0.02, others)
    return L, outputs, counts[:2], long, some[:2], sparse, others[:2]


def lego_problem() -> tuple[Any, ...]:
    from mloml.learners.layers import NOTHING
    from mloml.learners.lego import lego_scan

    D, counts, outputs = online_problem()
    L, alone = np.eye(21), np.eye(21)
    lego_scan(D, L, 0.2, 2.0, 0.1, counts, outputs)
    lego_scan(D[:9], alone, 0.2, 2.0, 5.0, no_counts(), NOTHING)
    return L, outputs, counts[:2], alone


def rdml_problem() -> tuple[Any, ...]:
    from mloml.learners.rdml import rdml_scan

    D, counts, _ = online_problem()
    both, adjacent = np.zeros(len(D), np.int64), 1 + np.arange(len(D)) % 2
    M, start, free, some = np.zeros((21, 21)), np.eye(21), np.eye(21), no_counts()
    rdml_scan(D, both, M, True, 0.1, counts)
    rdml_scan(D, adjacent, start, True, 0.3, some)
    rdml_scan(D, both, free, False, 0.3, no_counts())
    return M, counts[:2], start, some[:2], free


def rdml_layer_problem() -> tuple[Any, ...]:
    from mloml.learners.rdml import rdml_layer_scan

    D, counts, outputs = online_problem()
    L, N = np.eye(21), np.eye(21)
    rdml_layer_scan(D, L, N, 0.1, counts, outputs)
    return L, outputs, counts[:2], N


def oasis_problem() -> tuple[Any, ...]:
    from mloml.learners.oasis import oasis_scan, sparse_oasis_scan

    D, counts, _ = online_problem()
    W, sparse, some = np.eye(21), np.eye(21), no_counts()
    oasis_scan(D, W, 0.1, counts)
    sparse_oasis_scan(*sparse_problem(), sparse, 0.1, some)
    return W, counts[:2], sparse, some[:2]


def slmoml_problem() -> tuple[Any, ...]:
    from mloml.learners.slmoml import slmoml_scan

    D, counts, _ = online_problem()
    M, long = np.eye(21), np.eye(21)
    slmoml_scan(D, M, 0.1, 1.5, counts)
    slmoml_scan(D[:50], long, 2.0, 1.0, no_counts())
    return M, counts[:2], long


def diagonal_moml_problem() -> tuple[Any, ...]:
    from mloml.learners.diagonal_moml import diagonal_scan, sparse_diagonal_scan

    D, counts, _ = online_problem()
    w, sparse, some = np.ones(21), np.ones(21), no_counts()
    diagonal_scan(D, w, 0.4, 0.1, 0.2, counts)
    sparse_diagonal_scan(*sparse_problem(), sparse, 0.4, 0.3, 0.0, some)
    return w, counts[:1], sparse, some[:2]


def low_rank_moml_problem() -> tuple[Any, ...]:
    from mloml.learners.low_rank_moml import low_rank_scan, sparse_low_rank_scan

    D, counts, _ = online_problem()
    some, outputs, more = no_counts(), np.zeros((len(D), 3, 2)), np.zeros((len(D), 3, 2))
    W, sparse = (np.cos(np.arange(2.0 * 21)).reshape(21, 2) for _ in range(2))
    low_rank_scan(D[:40], W, 0.9, counts, outputs[:40])
    sparse_low_rank_scan(*sparse_problem(), sparse, 0.02, some, more)
    return W, outputs, counts[:2], sparse, more, some[:2]


def rows_problem() -> tuple[Any, ...]:
    from mloml.learners.rows import add_lengths, measure_rows

    sums, growing, lengths = np.zeros(3), np.zeros(3), np.zeros((2, N))
    measure_rows(rows(), lengths[0])
    measure_rows(1e200 * rows(), lengths[1])
    add_lengths(rows(), sums)
    add_lengths(rows(50), growing)
    add_lengths(9.0 * rows(50), growing)
    return sums, growing, lengths[0], lengths[1] / 1e200


def triplets_problem() -> tuple[Any, ...]:
    from mloml.learners.triplets import differences as compiled_differences
    from mloml.learners.triplets import one_row, triplet_pass

    X, y = rows(60), codes(60).astype(np.intp)
    found = []
    for released in (True, False):
        memory = np.full(4, -1, np.intp), np.full(4, -1, np.intp), np.array([-1, -1, 0], np.intp)
        found.append(triplet_pass(y, np.arange(59, -1, -1), 7, released, *memory))
    D = np.empty((len(found[0]), 3, 21))
    compiled_differences(rows(), found[0], D)
    memory = np.full(4, -1, np.intp), np.full(4, -1, np.intp), np.array([-1, -1, 0], np.intp)
    samples, single, told = np.zeros((4, 21)), np.zeros((60, 1, 3, 21)), np.zeros(60)
    lengths = np.zeros(60)
    for i in range(60):
        told[i] = one_row(X[i], 0.25, 4.0, lengths, i, int(y[i]), i, True, samples, *memory, single[i])
    nan, room = np.full(21, np.nan), np.zeros((1, 3, 21))
    refused = one_row(nan, 2.0, 4.0, lengths, 0, 0, 60, True, samples, *memory, room)
    return *found, D, single, told, samples, refused, lengths


def propagation_problem() -> tuple[Any, ...]:
    from mloml.learners.propagation import gradient_scan

    D, found = online_problem()[0][:150], []
    for kinds, activation, decay, local, own_too in (
        ([2, 2, 2], 0, 0.01, 0, False),
        ([0, 1, 0], 2, 0.01, 1, False),
        ([0, 1], 1, 0.0, 2, True),
    ):
        n, w, counts = len(kinds), np.ones(len(kinds)), np.zeros((len(kinds), 5), np.int64)
        L, N, tenths = np.stack([np.eye(21)] * n), np.stack([np.eye(21)] * n), np.full(n, 0.1)
        settings = np.array(kinds), np.full(n, 0.02), tenths, tenths
        gradient_scan(D, L, N, *settings, activation, 0.02, decay, local, own_too, False, w, counts)
        found += [L, w, counts[:, 0], N]
    return tuple(found)


def neighbours_problem() -> tuple[Any, ...]:
    """Search training rows in two parts, narrow and wide, with ties; then similarities and votes."""
    from mloml.learners.neighbours import halvings, majority, most_similar_rows, nearest_rows

    found: list[Any] = []
    for n, d in ((300, 21), (60, 300)):
        train, test = rows(n, d), rows(n + 40, d)[n:]
        train[n // 2 :: 7] = train[: n // 2 : 7][: len(train[n // 2 :: 7])]  # ties
        distances, nearest = np.full((40, 5), np.inf), np.zeros((40, 5), dtype=np.int64)
        squares, blocks = (test**2).sum(axis=1), np.array(halvings(0, d))
        for first in (0, n // 3):
            part = train[: n // 3] if first == 0 else train[n // 3 :]
            rough = (part**2).sum(axis=1) / 2 - test @ part.T
            nearest_rows(rough, squares, np.full(40, 1e-9), train, first, test, blocks, distances, nearest)
        found += [distances, nearest]
    similar, winners = np.zeros((40, 5), dtype=np.int64), np.zeros(40, dtype=np.int64)
    most_similar_rows(np.round(rough, 1), similar)
    majority(similar, codes(60), np.zeros(4, dtype=np.int64), winners)
    return (*found, similar, winners)


def lmnn_factors() -> list[Any]:
    """Return factors with few active pairs; nearly the same, so that the list serves; with all active."""
    L = 1.5 * np.eye(21) + 0.05 * np.cos(np.arange(441.0)).reshape(21, 21)
    return [L, 1.001 * L, 0.1 * L]


def lmnn_labels() -> Any:
    y = codes(300)
    y[7] = 4  # alone in its class
    return y


def lmnn_problem() -> tuple[Any, ...]:
    from mloml.learners.batch import ByClass
    from mloml.learners.lmnn import LargeMargin

    data = ByClass.of(rows(300), lmnn_labels())
    targets = data.target_neighbours(3)
    problem = LargeMargin(data, targets)
    found = [problem.evaluate(L, 0.25) for L in lmnn_factors()]
    return targets, *(part for pair in found for part in pair)


def descent_memory() -> tuple[Any, ...]:
    S, g = rows(4), np.sin(np.arange(1.0, 22))
    Y = S * np.linspace(1.0, 3.0, 21)
    return S, Y, np.stack([(S * Y).sum(axis=1), np.zeros(4)]), g


def descent_problem() -> tuple[Any, ...]:
    from mloml.learners.descent import set_direction

    S, Y, products, g = descent_memory()
    found = []
    for newest, kept in ((-1, 0), (1, 2), (1, 4)):
        d = np.empty(21)
        found += [set_direction(S, Y, products, newest, kept, g, d), d]
    return tuple(found)


def lmdml_start() -> tuple[Any, ...]:
    """Return M, samples sorted by class, classes, their nearest three of the class, and an order."""
    order = np.argsort(codes(300), kind="stable")
    X, y = rows(300)[order], codes(300)[order]
    X[np.arange(300), y] += 0.5  # so that some hinges are zero
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    D[y[:, None] != y] = D[np.diag_indices(300)] = np.inf
    M = 0.7 * np.diag(1.0 + 0.3 * np.cos(np.arange(21.0)))
    return M, X, y, np.argsort(D)[:, :3].copy(), np.arange(7, 300, 11)


def lmdml_problem() -> tuple[Any, ...]:
    """Visit 27 samples, some of them without a step; then measure the hinges."""
    from mloml.learners.lmdml import epoch

    M, X, y, targets, order = lmdml_start()
    samples = X, np.searchsorted(y, np.arange(5)), y, targets
    steps, updates, loss = epoch(M, *samples, order, 0, 10**6, 0, 1.0, 15.0, 1e-6)
    mean = epoch(M, *samples, np.arange(0, 300, 20), 0, 10**6, 0, 0.0, 15.0, 1e-6)[2]
    return M, order, np.array([steps, updates]), loss, mean


def mlcc_problem() -> tuple[Any, ...]:
    """Cluster rows, and find hinges and their slopes, some active and some not, in both interpretations."""
    from mloml.learners.clusters import lloyd
    from mloml.learners.mlcc import CentreMargin, ClusterMargin

    X, y = rows(120), codes(120)
    labels, centres = np.full(120, -1), np.vstack([X[:6], X[:1] + 100.0])  # the last loses all its rows
    lloyd(np.ascontiguousarray(X.T), centres, labels, 3)
    L = np.ascontiguousarray(1.5 * np.eye(21) + 0.1 * rows(21))
    centre = CentreMargin(X, 2 * y + np.arange(120) % 2, y).hinges(L)
    pairs = ClusterMargin(X, np.arange(120) % 3, y).hinges(L)
    return labels, centres, *centre, *pairs
