import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import svd_flip

from mloml.config.schema import PcaConfig
from mloml.experiments import preprocessing
from mloml.experiments.preprocessing import compact_frame, prepare, principal_scores, unit_rows

PAPER = PcaConfig(fit="all", threshold=20, components=10, centred=False)
CLEAN = PcaConfig(fit="train", threshold=20, components=10, centred=True)


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(preprocessing, "_memo", type(preprocessing._memo)())


def dataset(n=30, d=50, seed=0, checksum="toy"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(1, 1e-2, d) + rng.normal(size=d)
    return SimpleNamespace(X=X, y=np.arange(n) % 2, checksum=checksum)


def flipped_scores(X):
    """Scores of the uncentred PCA by a plain SVD, signs by scikit-learn."""
    u, s, axes = np.linalg.svd(X, full_matrices=False)
    u, axes = svd_flip(u, axes, u_based_decision=False)
    return u * s


@settings(max_examples=100, deadline=None)
@given(hnp.arrays(float, (4, 3), elements=st.floats(-1e300, 1e300)))
def test_rows_have_unit_norm_whatever_their_size_and_zero_rows_stay_zero(X):
    norms = np.linalg.norm(unit_rows(X), axis=1)
    np.testing.assert_allclose(norms, np.any(X != 0, axis=1).astype(float), rtol=1e-12)


@pytest.mark.parametrize("pca", [PAPER, CLEAN], ids=["paper", "clean"])
@pytest.mark.parametrize("d", [19, 20, 80])
def test_prepared_rows_have_unit_norm_and_pca_starts_at_the_threshold(pca, d):
    rows = prepare(dataset(d=d), pca, np.arange(15))
    assert rows.shape == (30, d if d < 20 else 10)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1)


@pytest.mark.parametrize("d", [25, 300], ids=["tall", "wide"])
def test_paper_reading_is_the_truncated_svd_of_all_rows(d):
    data = dataset(d=d)
    expected = unit_rows(flipped_scores(data.X)[:, :10])
    np.testing.assert_allclose(prepare(data, PAPER, np.arange(15)), expected, atol=1e-10)


@pytest.mark.parametrize("d", [25, 300], ids=["tall", "wide"])
def test_clean_reading_is_the_pca_of_the_training_half(d):
    data = dataset(d=d)
    train = np.arange(0, 30, 2)
    pca = PCA(10, svd_solver="full").fit(data.X[train])
    np.testing.assert_allclose(prepare(data, CLEAN, train), unit_rows(pca.transform(data.X)), atol=1e-10)


def test_clean_reading_never_looks_at_test_rows():
    data, train = dataset(d=60), np.arange(15)
    other = dataset(d=60, checksum="other")
    other.X[15:] = 7.0
    np.testing.assert_array_equal(prepare(data, CLEAN, train)[:15], prepare(other, CLEAN, train)[:15])


def test_paper_reading_is_the_same_for_every_split():
    data = dataset(d=60)
    assert prepare(data, PAPER, np.arange(15)) is prepare(data, PAPER, np.arange(15, 30))


def test_no_more_components_than_centred_training_rows_allow():
    scores = principal_scores(dataset(n=30, d=60).X, np.arange(8), components=100, centred=True)
    assert scores.shape == (30, 7)


def test_components_beyond_the_rank_are_left_out():
    X = np.outer(np.arange(1.0, 31), np.ones(40))
    assert principal_scores(X, np.arange(30), components=10, centred=False).shape == (30, 1)


def test_compact_frame_keeps_all_inner_products(monkeypatch):
    monkeypatch.setattr(preprocessing, "_FEATURE_BLOCK", 64)
    X = dataset(n=20, d=500).X
    frame = compact_frame(X)
    assert frame.shape == (20, 20)
    np.testing.assert_allclose(frame @ frame.T, X @ X.T, rtol=1e-12)


def test_signs_do_not_depend_on_the_frame_or_on_blocks_of_features(monkeypatch):
    X = dataset(n=20, d=300).X
    monkeypatch.setattr(preprocessing, "_FEATURE_BLOCK", 37)
    scores = principal_scores(X, np.arange(20), 10, centred=False, frame=compact_frame(X))
    np.testing.assert_allclose(scores, flipped_scores(X)[:, :10], atol=1e-10)


def test_a_feature_and_its_negative_leave_no_doubt_about_the_sign():
    X = dataset(n=20, d=60).X
    both = np.hstack([X, -X])
    scores = principal_scores(both, np.arange(20), 10, centred=False, frame=compact_frame(both))
    np.testing.assert_allclose(scores, np.sqrt(2) * flipped_scores(X)[:, :10], atol=1e-10)


def test_badly_scaled_features_do_not_cost_accuracy():
    # Eigenvectors of X X' would lose components below 1e-8 of the largest; a feature of lsvt is that large.
    X = dataset(n=20, d=200).X
    X[:, 0] *= 1e10
    scores = principal_scores(X, np.arange(20), 10, centred=False, frame=compact_frame(X))
    expected = flipped_scores(X)[:, :10]
    np.testing.assert_allclose(np.abs(scores[:, 1:]), np.abs(expected[:, 1:]), atol=1e-4)


def test_only_the_latest_prepared_sets_are_kept_in_memory(monkeypatch):
    monkeypatch.setattr(preprocessing, "_MEMO_SIZE", 2)
    for name in "abc":
        prepare(dataset(checksum=name), PAPER, np.arange(15))
    assert len(preprocessing._memo) == 2


def test_standardised_features_are_those_of_scikit_learn_fitted_on_the_training_half():
    data = dataset(d=7)
    data.X[:, 3] = 0.1  # constant, and its mean is not exactly .1
    train = np.arange(0, 30, 2)
    expected = StandardScaler().fit(data.X[train]).transform(data.X)
    expected[:, 3] = 0.0
    found = prepare(data, PAPER, train, "standardised")
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert prepare(data, PAPER, np.arange(15), "standardised") is not found
    assert prepare(data, PAPER, train, "standardised") is found


def test_random_signs_turn_axes_and_nothing_else():
    data, train = dataset(), np.arange(15)
    plain = prepare(data, PAPER, train)
    turned = prepare(data, dataclasses.replace(PAPER, signs=3), train)
    signs = np.sign((plain * turned).sum(axis=0))
    assert set(signs) == {-1.0, 1.0}
    np.testing.assert_allclose(turned, plain * signs, atol=1e-12)
