import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from mloml.learners.kissme import KISSME, clip, drawn_covariances, pair_covariances


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
