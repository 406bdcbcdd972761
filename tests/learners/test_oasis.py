"""OASIS: passive-aggressive identities and what it offers instead of a transform."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import train_test_split
from tests.oracles import online

from mloml.learners.oasis import OASIS, oasis_scan, sparse_oasis_scan
from mloml.learners.rows import SparseRows
from mloml.learners.triplets import scan_triplets

IRIS, LABELS = load_iris(return_X_y=True)
IRIS = IRIS / np.linalg.norm(IRIS, axis=1, keepdims=True)


def stepped(W, x, r, C):
    """Return W after one step with xp - xq = r, and whether there was something to learn."""
    new, counts = W.copy(), np.zeros(5, np.int64)
    oasis_scan(np.stack([np.zeros_like(r), r, x])[np.newaxis], new, C, counts)
    return new, counts[0]


@given(seed=st.integers(0, 10**6), C=st.floats(-3, 1))
def test_step_is_the_shortest_that_removes_the_loss_or_has_length_c(seed, C):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(4, 4))
    x, r = rng.normal(size=(2, 4))
    loss = 1 - x @ W @ r
    new, moved = stepped(W, x, r, 10**C)
    assert moved == (loss > 0)
    step = new - W
    tau = step @ r @ x / ((x @ x) * (r @ r))
    np.testing.assert_allclose(step, tau * np.outer(x, r) * moved, atol=1e-9)
    if moved and tau < 10**C * (1 - 1e-9):
        assert abs(1 - x @ new @ r) < 1e-8
    elif moved:
        np.testing.assert_allclose(tau, 10**C)


def test_equal_partners_are_skipped():
    assert not stepped(np.eye(2), np.ones(2), np.zeros(2), 0.1)[1]
    assert not stepped(np.eye(2), np.zeros(2), np.ones(2), 0.1)[1]


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
def test_dense_and_sparse_scans_equal_the_oracle(C):
    rows = np.where(IRIS < 0.3, 0.0, IRIS)
    triplets = scan_triplets(LABELS, np.random.default_rng(0).permutation(150))
    W, counts = online.scan(online.oasis, rows, triplets, C)
    sparse, counters = SparseRows.of(csr_array(rows)), np.zeros((2, 5), np.int64)
    found = [np.eye(4), np.eye(4)]
    oasis_scan(np.array(list(online.differences(rows, triplets))), found[0], C, counters[0])
    sparse_oasis_scan(sparse.data, sparse.indices, sparse.starts, triplets, found[1], C, counters[1])
    for matrix, counter in zip(found, counters, strict=True):
        np.testing.assert_allclose(matrix, W, rtol=1e-9, atol=1e-10)
        np.testing.assert_array_equal(counter[:2], counts)


def test_rank_grows_by_one_per_update_at_most():
    X = np.random.default_rng(0).normal(size=(8, 20))
    learner = OASIS(gamma=0.1, scale=None, scans=1, random_state=0).fit(X, np.arange(8) % 2)
    change = learner.get_bilinear_matrix() - np.eye(20)
    assert np.linalg.matrix_rank(change) <= learner.n_updates_ < 20


def test_step_size_zero_ranks_unit_rows_as_euclidean_distance_does():
    learner = OASIS(gamma=0.0, scans=1).fit(IRIS, LABELS)
    np.testing.assert_allclose(
        2 - 2 * learner.similarity(IRIS, IRIS), pairwise_distances(IRIS) ** 2, atol=1e-12
    )


def test_iris_falls_to_one_class_as_in_the_paper():
    for split in range(5):
        X, T, y, labels = train_test_split(IRIS, LABELS, test_size=0.5, stratify=LABELS, random_state=split)
        order = np.argsort(-OASIS(gamma=0.1, random_state=split).fit(X, y).similarity(T, X), axis=1)[:, :5]
        predicted = [np.bincount(y[row]).argmax() for row in order]
        assert abs(np.mean(predicted != labels) - 1 / 3) < 1e-9


def test_pair_score_is_the_diagonal_of_similarity():
    learner = OASIS(random_state=0).fit(IRIS, LABELS)
    pairs = np.stack([IRIS[:10], IRIS[50:60]], axis=1)
    np.testing.assert_allclose(learner.pair_score(pairs), np.diag(learner.similarity(IRIS[:10], IRIS[50:60])))
    with pytest.raises(ValueError, match=r"expected \(n_pairs, 2, 4\)"):
        learner.pair_score(IRIS)


@pytest.mark.parametrize("name", ["transform", "components_"])
def test_asking_for_a_map_says_why_there_is_none(name):
    learner = OASIS(scans=1).fit(IRIS, LABELS)
    assert not hasattr(learner, name)
    with pytest.raises(AttributeError, match="bilinear similarity, not a distance"):
        getattr(learner, name)
