"""The known answers of ``mloml.learners.check``, computed by the plain learners of this folder.

python -m tests.oracles.answers      # writes src/mloml/learners/answers.json
"""

import itertools
import json

import numpy as np
from tests.oracles import descent, lmdml, lmnn, mlcc, neighbours, online, stack

from mloml.learners.check import (
    ANSWERS,
    codes,
    descent_memory,
    differences,
    digest,
    lmdml_start,
    lmnn_factors,
    lmnn_labels,
    rows,
    some_triplets,
)


def inverse(L):
    return np.linalg.inv(L.T @ L)


ROWS, SPARSE = rows(), rows()
SPARSE.ravel()[::4] = 0.0


def learn(step, *settings, rows=ROWS, count=600, **options):
    """Return what a plain learner gives for the rows' first triplets."""
    return online.scan(step, rows, some_triplets()[:count], *settings, **options)


def moml_answer():
    outputs = []
    L, counts = learn(online.moml, 0.05, outputs=outputs)
    alone, some = learn(online.moml, 0.05, count=99)
    ages = [np.append(c, c[0] % 256) for c in (counts, some)]  # the inverse is renewed every 256 steps
    return L, outputs, ages[0], inverse(L), alone, inverse(alone), ages[1]


def moml_free_answer():
    return learn(online.moml_free, 0.05)


def opml_answer():
    outputs = []
    L, counts = learn(online.opml, 0.01, outputs=outputs)
    return L, outputs, counts, *learn(online.opml, 0.4, count=40), *learn(online.opml, 0.02, rows=SPARSE)


def lego_answer():
    outputs, targets = [], (0.2, 2.0)
    L, counts = learn(online.lego, 0.1, targets, outputs=outputs)
    return L, outputs, counts, learn(online.lego, 5.0, targets, count=9)[0]


def rdml_answer():
    adjacent = learn(online.rdml, 0.3, True, itertools.cycle([1, 2]))
    return *learn(online.rdml, 0.1, start=np.zeros((21, 21))), *adjacent, learn(online.rdml, 0.3, False)[0]


def rdml_layer_answer():
    outputs = []
    L, counts = learn(online.rdml_layer, 0.1, outputs=outputs)
    return L, outputs, counts, inverse(L)


def oasis_answer():
    return *learn(online.oasis, 0.1), *learn(online.oasis, 0.1, rows=SPARSE)


def slmoml_answer():
    return *learn(online.slmoml, 0.1, 1.5), learn(online.slmoml, 2.0, 1.0, count=50)[0]


def diagonal_moml_answer():
    w, counts = learn(online.diagonal_moml, 0.4, 0.1, 0.2, start=np.ones(21))
    return w, counts[:1], *learn(online.diagonal_moml, 0.4, 0.3, 0.0, start=np.ones(21), rows=SPARSE)


def low_rank_moml_answer():
    outputs, more, start = [], [], np.cos(np.arange(2.0 * 21)).reshape(21, 2).T
    L, counts = learn(online.low_rank_moml, 0.9, start=start, outputs=outputs, count=40)
    S, others = learn(online.low_rank_moml, 0.02, start=start, outputs=more, rows=SPARSE)
    return L.T, np.concatenate([outputs, np.zeros((560, 3, 2))]), counts, S.T, more, others


def rows_answer():
    def sums(X):
        return [len(X), np.abs(X).max(), (X**2).sum() / np.abs(X).max() ** 2]

    lengths = np.linalg.norm(rows(), axis=1)
    return sums(rows()), sums(np.concatenate([rows(50), 9.0 * rows(50)])), lengths, lengths


def triplets_answer():
    y, backwards, lengths = codes(60), np.arange(59, -1, -1), np.linalg.norm(rows(60), axis=1)
    X = rows(60) / np.maximum(0.25, lengths / 4.0)[:, np.newaxis]  # four times the scale at most
    found = [7 + online.triplets_of(y, backwards, released) for released in (True, False)]
    single, told = np.zeros((60, 1, 3, 21)), np.zeros(60)
    single[:, 0, 2] = X
    for t, i, j in online.triplets_of(y, np.arange(60), True):
        single[t, 0, :2] = X[t] - X[i], X[t] - X[j]
        told[t] = 1 if i < j else 2
    latest = [X[np.flatnonzero(y == c)[-1]] for c in range(4)]
    return *found, differences(rows(), found[0]), single, told, np.array(latest), -1, lengths


def propagation_answer():
    X, T = rows(), some_triplets()[:150]
    back = stack.learn(X, T, ["moml"] * 3, 0.02, "relu", "bp", 0.02, 0.01)
    both = stack.learn(X, T, ["moml", "opml", "moml"], 0.02, "tanh", "fbp", 0.02, 0.01, "hinge")
    own = stack.learn(X, T, ["moml", "opml"], 0.02, "sigmoid", "fbp", 0.02, 0.0, "scaled", "all")
    inverses = [[np.eye(21)] * 3, [inverse(both[0][0]), np.eye(21), inverse(both[0][2])]]
    inverses.append([inverse(own[0][0]), np.eye(21)])
    found = zip((back, both, own), inverses, strict=True)
    return tuple(part for (L, w, counts), N in found for part in (L, w, counts[:, 0], N))


def neighbours_answer():
    """Return the same from the plain search."""
    found = []
    for n, d in ((300, 21), (60, 300)):
        train, test = rows(n, d), rows(n + 40, d)[n:]
        train[n // 2 :: 7] = train[: n // 2 : 7][: len(train[n // 2 :: 7])]
        nearest = neighbours.nearest_neighbours(train, test, 5)
        found += [np.take_along_axis(neighbours.squared_distances(train, test), nearest, axis=1), nearest]
    rough = (train[20:] ** 2).sum(axis=1) / 2 - test @ train[20:].T
    similar = neighbours.most_similar(np.round(rough, 1), 5)
    return (*found, similar, neighbours.vote(similar, codes(60)))


def lmnn_answer():
    order = np.argsort(lmnn_labels(), kind="stable")
    X, y = rows(300)[order], lmnn_labels()[order]
    targets = lmnn.target_neighbours(X, y, 3)
    found = [lmnn.objective(L, X, y, targets, 0.25) for L in lmnn_factors()]
    return targets, *(part for pair in found for part in pair)


def descent_answer():
    S, Y, _, g = descent_memory()
    found = []
    for pairs in ([], [0, 1], [2, 3, 0, 1]):  # oldest first
        d = -descent.inverse_hessian(S[pairs], Y[pairs]) @ g
        found += [g @ d, d]
    return tuple(found)


def lmdml_answer():
    """Return the same from the plain visits."""
    M, X, y, targets, order = lmdml_start()
    M, after, updates, loss = lmdml.epoch(M, X, y, targets, order.tolist(), 0, 15.0)
    mean = sum(max(0.0, lmdml.hinge(M, X, y, targets, i)[0]) for i in range(0, 300, 20))
    return M, np.array(after), np.array([len(order), updates]), loss, mean


def mlcc_answer():
    """Return the same from the sums over all constraints."""
    X, y = rows(120), codes(120)
    L = 1.5 * np.eye(21) + 0.1 * rows(21)
    found = [*mlcc.lloyd(X, np.vstack([X[:6], X[:1] + 100.0]), 3)]
    for triples, labels in ((mlcc.per_class, 2 * y + np.arange(120) % 2), (mlcc.whole, np.arange(120) % 3)):
        value, gradient = mlcc.objective(L, triples(X, labels, y), 1.0)
        found += [value, np.linalg.solve(L, gradient / 2)]  # Q, of the gradient 2 L Q
    return tuple(found)


ALGORITHMS = {
    name.removesuffix("_answer"): answer
    for name, answer in list(globals().items())
    if name.endswith("_answer")
}


def known_answers():
    """Return the digests of all results, by algorithm."""
    return {name: [digest(result) for result in answer()] for name, answer in ALGORITHMS.items()}


if __name__ == "__main__":
    ANSWERS.write_text(json.dumps(known_answers(), indent=1) + "\n")
