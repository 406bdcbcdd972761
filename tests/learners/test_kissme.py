import itertools
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from mloml.learners.kissme import KISSME, clip, complement, drawn_covariances, pair_covariances


def brute_force_covariances(X: Any, y: Any) -> tuple[Any, Any]:
    sums = {True: np.zeros((X.shape[1],) * 2), False: np.zeros((X.shape[1],) * 2)}
    pairs = {True: 0, False: 0}
    for i, j in itertools.combinations(range(len(X)), 2):
        similar = bool(y[i] == y[j])
        sums[similar] += np.outer(X[i] - X[j], X[i] - X[j])
        pairs[similar] += 1
    return sums[True] / pairs[True], sums[False] / pairs[False]


def brute_force_per_sample(X: Any, y: Any) -> tuple[Any, Any]:
    similar, dissimilar = [], []
    for i in range(len(X)):
        outers = np.array([np.outer(X[i] - x, X[i] - x) for x in X])
        partners = (y == y[i]) & (np.arange(len(X)) != i)
        if partners.any():
            similar.append(outers[partners].mean(axis=0))
        dissimilar.append(outers[y != y[i]].mean(axis=0))
    return np.mean(similar, axis=0), np.mean(dissimilar, axis=0)


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_the_complement_completes_an_orthonormal_basis(rank: int) -> None:
    random = np.linalg.qr(np.random.default_rng(rank).normal(size=(7, rank)))[0]
    for V in (random, np.eye(7, rank), -np.eye(7, rank), np.eye(7)[:, -rank:]):
        basis = np.vstack([V.T, complement(V, 7 - rank)])
        np.testing.assert_allclose(basis @ basis.T, np.eye(7), atol=1e-14)
        np.testing.assert_allclose(complement(V, 1), complement(V, 7 - rank)[:1], atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=4).filter(lambda s: max(s) > 1),
    d=st.integers(1, 6),
    offset=st.sampled_from([0.0, 1.0, 100.0]),
)
def test_covariances_equal_explicit_pair_sums(seed: int, sizes: list[int], d: int, offset: float) -> None:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(y), d)) + offset
    for weight, oracle in [("pairs", brute_force_covariances), ("samples", brute_force_per_sample)]:
        for ours, explicit in zip(pair_covariances(X, y, weight), oracle(X, y), strict=True):
            assert np.abs(ours - explicit).max() <= 1e-12 * np.abs(explicit).max()


def test_metric_is_the_clipped_difference_of_inverses() -> None:
    X, y = load_iris(return_X_y=True)
    S, D = brute_force_covariances(X, y)
    values, vectors = np.linalg.eigh(np.linalg.inv(S) - np.linalg.inv(D))
    values[values <= 1e-10] = 1e-6
    M = KISSME().fit(X, y).get_mahalanobis_matrix()
    np.testing.assert_allclose(M, (vectors * values) @ vectors.T, atol=1e-10 * np.abs(M).max())
    assert np.linalg.eigvalsh(M)[0] > 0


def test_a_ridge_is_a_share_of_the_mean_eigenvalue() -> None:
    X, y = load_iris(return_X_y=True)
    ridged = [C + 0.1 * np.trace(C) / 4 * np.eye(4) for C in brute_force_covariances(X, y)]
    M, _ = clip(np.linalg.inv(ridged[0]) - np.linalg.inv(ridged[1]))
    model = KISSME(ridge="always", ridge_scale=0.1).fit(X, y)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), M, atol=1e-10 * np.abs(M).max())


def by_the_formulas(S: Any, D: Any, ridge_scale: float = 1e-6) -> Any:
    """Ridge, invert and clip singular S and D as they are, without regard to the rows' span."""
    inverses = []
    for C in (S, D):
        ridge = ridge_scale * (np.trace(C) or len(C)) / len(C)
        inverses.append(np.linalg.inv(C + ridge * np.eye(len(C))))
    values, vectors = np.linalg.eigh(inverses[0] - inverses[1])
    if values[0] <= 0:
        values[values <= 1e-10] = 1e-6
    return (vectors * values) @ vectors.T


def few_rows(n: int, d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(n + d)
    y = np.arange(n) % 3
    return normalize(rng.normal(size=(n, d))) + 0.1 * np.eye(3, d)[y], y


@pytest.mark.parametrize(("n", "d"), [(6, 7), (9, 30), (30, 50)])
def test_fewer_rows_than_features_have_the_metric_of_the_formulas(n: int, d: int) -> None:
    X, y = few_rows(n, d)
    drawn = drawn_covariances(X, y, 50, np.random.RandomState(0))
    far = np.where(np.arange(n) < n // 2, 3.0, -3.0)[:, None] * np.eye(1, d) + X  # S is larger than D
    equal = np.eye(3, d)[y]  # no two rows of a class differ
    for model, rows, S, D in (
        (KISSME(), X, *brute_force_covariances(X, y)),
        (KISSME(weight="samples"), X, *brute_force_per_sample(X, y)),
        (KISSME(n_pairs=50, random_state=0), X, *drawn),
        (KISSME(), far, *brute_force_covariances(far, y)),
        (KISSME(), equal, *brute_force_covariances(equal, y)),
    ):
        M, expected = model.fit(rows, y).get_mahalanobis_matrix(), by_the_formulas(S, D)
        np.testing.assert_allclose(M, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
        assert model.ridged_.all() and (model.condition_ > 1e12).all()
        sizes = np.linalg.norm(model.components_, axis=1)
        np.testing.assert_allclose(sizes, np.sort(sizes), rtol=1e-9)


def test_rows_that_coincide_but_for_rounding_count_as_equal() -> None:
    y = np.arange(30) % 3
    X = np.eye(3, 4)[y]  # but the mean of ten equal numbers may be another number
    expected = by_the_formulas(np.zeros((4, 4)), brute_force_covariances(X, y)[1])
    np.testing.assert_allclose(KISSME().fit(X, y).get_mahalanobis_matrix(), expected, atol=1e-2)


def test_twenty_rows_of_three_thousand_features_take_no_time() -> None:
    X, y = few_rows(20, 3000)
    start = time.process_time()
    model = KISSME().fit(X, y)
    assert time.process_time() - start < 5.0  # with S and D of all features it was a minute
    spread = (model.transform(X[:1]) - model.transform(X[1:2])) ** 2
    # A rotation that leaves zeros in all but 20 features, so that S and D of these and one more are enough.
    Q = np.linalg.qr(X.T)[0]
    S, D = brute_force_covariances(np.column_stack([X @ Q, np.zeros(20)]), y)
    M = by_the_formulas(S, D, 1e-6 * 21 / 3000)
    difference = np.append((X[0] - X[1]) @ Q, 0.0)
    assert spread.sum() == pytest.approx(difference @ M @ difference, rel=1e-6)
    beside = np.random.default_rng(0).normal(size=3000)
    beside -= Q @ (Q.T @ beside)
    assert np.sum(model.transform(beside[None]) ** 2) == pytest.approx(M[-1, -1] * beside @ beside, rel=1e-6)


@pytest.mark.parametrize("data", [load_iris(return_X_y=True), few_rows(9, 30)], ids=["iris", "few rows"])
def test_components_are_the_leading_directions(data: Any) -> None:
    full = KISSME().fit(*data).get_mahalanobis_matrix()
    values = np.linalg.eigvalsh(full)
    for k in range(1, len(values) + 1):
        model = KISSME(n_components=k).fit(*data)
        M = model.get_mahalanobis_matrix()
        assert model.transform(data[0]).shape == (len(data[0]), k)
        # The k largest eigenvalues, and what is left has the others: no matrix of rank k is nearer.
        np.testing.assert_allclose(np.linalg.eigvalsh(M)[-k:], values[-k:], atol=1e-9 * values[-1])
        left = np.append(values[:-k], np.zeros(k))
        np.testing.assert_allclose(np.linalg.eigvalsh(full - M), np.sort(left), atol=1e-9 * values[-1])


def test_clipping_leaves_a_definite_matrix_alone_and_lifts_the_rest() -> None:
    definite = np.diag([1e-12, 2.0])
    assert clip(definite)[1] is False
    np.testing.assert_array_equal(clip(definite)[0], definite)
    clipped, was_clipped = clip(np.diag([-3.0, 5e-11, 2.0]))
    assert was_clipped
    np.testing.assert_allclose(np.diag(clipped), [1e-6, 1e-6, 2.0])


def test_a_constant_vector_added_to_all_rows_changes_no_prediction() -> None:
    X, y = load_wine(return_X_y=True)
    X = normalize(X)
    shift = np.random.default_rng(1).normal(size=X.shape[1])
    train = np.arange(len(X)) % 2 == 0

    def predictions(rows: Any) -> Any:
        model = KISSME().fit(rows[train], y[train])
        knn = KNeighborsClassifier(5).fit(model.transform(rows[train]), y[train])
        return knn.predict(model.transform(rows[~train]))

    np.testing.assert_array_equal(predictions(X), predictions(X + shift))


@pytest.mark.parametrize("ridge", ["on_failure", "always"])
def test_constant_feature_is_ridged_and_recorded(ridge: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = KISSME(ridge=ridge).fit(np.column_stack([X, np.full(len(X), 0.3)]), y)
    assert (model.condition_ > 1e12).all()
    assert model.ridged_.all()
    assert np.isfinite(model.components_).all()


def test_well_conditioned_data_are_ridged_only_when_asked() -> None:
    X, y = load_iris(return_X_y=True)
    assert not KISSME().fit(X, y).ridged_.any()
    assert KISSME(ridge="always").fit(X, y).ridged_.all()


def test_random_pairs_come_to_all_pairs_in_the_long_run() -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [2, 9, 4]))
    X = rng.normal(size=(len(y), 3)) + y[:, np.newaxis]
    drawn = drawn_covariances(X, y, 200_000, np.random.RandomState(0))
    for ours, all_pairs in zip(drawn, brute_force_covariances(X, y), strict=True):
        np.testing.assert_allclose(ours, all_pairs, atol=0.03 * np.abs(all_pairs).max())


def test_rows_so_long_that_nothing_is_learned_are_warned_of() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="^KISSME learned nothing: all eigenvalues are at most 1e-10"):
        KISSME().fit(1e7 * X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("size", [1e160, 1e300, 1e-160, 1e-300])
def test_rows_whose_squares_are_no_numbers_are_refused_in_one_line(size):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"the largest entry of X is .*, expected 0 or 1e-150 to 1e\+150"):
        KISSME().fit(size * X, y)
    for fine in (0.0, 1e-149, 1e149):
        assert np.isfinite(KISSME().fit(fine * X, y).components_).all()
