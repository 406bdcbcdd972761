import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import normalize

from mloml.kernels import lmdml_search as search
from mloml.kernels.lmdml import epoch, invert, mean_hinge, safe_step
from mloml.kernels.lmdml_rows import (
    BLOCK,
    WIDTH,
    in_blocks,
    no_products,
    places_of,
    places_of_class,
    row_pass,
    row_pass_after_step,
    units_of,
)
from mloml.kernels.padding import padded_copy
from mloml.learners.batch import ByClass
from mloml.learners.lmdml import LMDML


def start(bound: float, dataset: Any = load_iris) -> dict[str, Any]:
    X, y = dataset(return_X_y=True)
    data = ByClass.of(normalize(X), y)
    d, units, places = data.X.shape[1], units_of(data.X, bound), places_of(data.starts)
    blocks = in_blocks(data.X, places, units[0])
    state = {
        "M": padded_copy(np.eye(d) * bound / d), "K": padded_copy(np.eye(d) * d / bound),
        "h": no_products(blocks), "X": padded_copy(data.X), "blocks": blocks,
        "units": units, "places": places, "starts": data.starts, "codes": data.codes,
        "targets": data.target_neighbours(3),
    }  # fmt: skip
    renew_products(state)
    return state


def renew_products(state: dict[str, Any]) -> None:
    search.self_products(*(state[name] for name in ("M", "X", "units", "places", "h")))


def products(state: dict[str, Any]) -> Any:
    """Return h of all rows, in the units of the rows and of M."""
    of_rows, of_metric, _ = state["units"]
    return state["h"][state["places"]].astype(float) / (of_rows**2 * of_metric)


def plain(state: dict[str, Any], *names: str) -> list[Any]:
    """Return matrices without their padding."""
    return [state[name][:, : len(state["M"])] for name in names]


def hinge(state: dict[str, Any], i: int) -> tuple[float, Any, Any]:
    (M, X), codes = plain(state, "M", "X"), state["codes"]

    def D(j: int) -> float:
        return float((X[i] - X[j]) @ M @ (X[i] - X[j]))

    target = max(state["targets"][i], key=D)
    impostor = min(np.flatnonzero(codes != codes[i]), key=D)
    return 1 + D(target) - D(impostor), X[target] - X[i], X[impostor] - X[i]


def largest_safe_step(M: Any, u: Any, v: Any) -> float:
    """By bisection on the sign of the smallest eigenvalue."""
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        definite = np.linalg.eigvalsh(M + middle * (np.outer(v, v) - np.outer(u, u)))[0] > 0
        low, high = (middle, high) if definite else (low, middle)
    return low


@pytest.mark.parametrize("bound", [0.1, 1.0, 10.0, 100.0])
def test_every_step_keeps_the_cone_the_trace_bound_and_the_inverse(bound: float) -> None:
    state = start(bound)
    rng = np.random.default_rng(0)
    step = updates = 0
    for i in rng.integers(0, 150, size=400):
        step, updates = epoch(
            **state, order=np.array([i]), step=step, max_steps=10**6, updates=updates, bound=bound
        )
        M, K, X = plain(state, "M", "K", "X")
        assert np.linalg.eigvalsh(M)[0] > 0
        assert np.trace(M) <= bound * (1 + 1e-12)
        np.testing.assert_allclose(M @ K, np.eye(4), atol=1e-4)
        explicit = np.einsum("ij,jk,ik->i", X, M, X)
        np.testing.assert_allclose(products(state), explicit, atol=1e-4 * bound)
    assert step == 400
    assert updates > 100


@pytest.mark.parametrize("rate", [1e-3, 1e9])
def test_a_step_is_the_formula_with_the_rate_or_nine_tenths_of_the_safe_length(rate: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        root = rng.normal(size=(3, 3))
        M = root @ root.T + 0.1 * np.eye(3)
        u, v = rng.normal(size=(2, 3))
        expected = min(rate, 0.9 * largest_safe_step(M, u, v))
        before = M.copy()
        M, K, V = padded_copy(M), padded_copy(np.linalg.inv(M)), padded_copy(np.array([u, v]))
        alpha, scaling = safe_step(M, K, V, rate, np.inf, np.zeros((3, 4)))
        assert alpha == pytest.approx(expected, rel=1e-6)
        assert scaling == 1
        np.testing.assert_allclose(M[:, :3], before + alpha * (np.outer(v, v) - np.outer(u, u)), rtol=1e-12)


def test_a_visit_follows_the_pseudo_code() -> None:
    state = start(10.0, load_wine)
    step = updates = 0
    for i in np.random.default_rng(2).integers(0, 178, size=60):
        value, u, v = hinge(state, i)
        M = plain(state, "M")[0].copy()
        step, after = epoch(
            **state, order=np.array([i]), step=step, max_steps=10**6, updates=updates, bound=10.0
        )
        assert (after > updates) == (value > 0)
        if value <= 0:
            np.testing.assert_array_equal(*plain(state, "M"), M)
        else:
            M += min(0.9 * largest_safe_step(M, u, v), step**-0.5) * (np.outer(v, v) - np.outer(u, u))
            M *= min(1.0, 10.0 / np.trace(M))
            np.testing.assert_allclose(*plain(state, "M"), M, atol=1e-7)
        updates = after


def test_parallel_differences_have_no_limit_when_the_impostor_is_farther() -> None:
    M, V = padded_copy(np.eye(1)), padded_copy(np.array([[1.0], [-2.0]]))
    alpha, _ = safe_step(M, M.copy(), V, 0.25, np.inf, np.zeros((3, 4)))
    assert alpha == 0.25
    assert M[0, 0] == 1.75


def test_inverse_equals_the_library() -> None:
    root = np.random.default_rng(5).normal(size=(30, 30))
    M, K = root @ root.T + np.eye(30), np.empty((30, 30))
    invert(M, K)
    np.testing.assert_allclose(K, np.linalg.inv(M), atol=1e-13)


def found(state: dict[str, Any], i: int, error: float) -> tuple[Any, Any]:
    """Return the differences to the farthest target and the nearest impostor that the search finds."""
    M, X, units, places = (state[name] for name in ("M", "X", "units", "places"))
    d, m = M.shape
    y, V, W, h = np.zeros(m), np.zeros((2, m)), np.zeros((3, d), np.float32), state["h"]
    D, least = np.empty_like(h), np.empty(h.size // 4, np.float32)
    search.quadratic(M, X, i, y)
    own = places_of_class(places, state["starts"], state["codes"][i], h.size)
    search.search_pass(state["blocks"], y, V, W, units, 0.0, 1.0, M, error, h, own, D, least)
    margin = 2 * (error + search.error_of_pass(y, units, M, d))
    search.farthest_target(M, X, places, state["targets"], i, h, units, margin, D, V, y)
    search.nearest_impostor(M, X, places, state["starts"], state["codes"][i], i, D, least, margin, V, y)
    return V[0, :d], V[1, :d]


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_search_equals_brute_force_however_large_the_numbers(scale: float) -> None:
    state = start(3.0, load_wine)
    root = np.random.default_rng(3).normal(size=(13, 13))
    state["M"][:, :13] = root @ root.T
    state["X"] *= scale
    plain_rows = state["X"][:, :13]
    state["units"] = units_of(plain_rows, np.trace(state["M"]))
    state["blocks"] = in_blocks(plain_rows, state["places"], state["units"][0])
    renew_products(state)
    for i in range(0, 178, 7):
        _, u, v = hinge(state, i)
        got = found(state, i, search.error_of_products(state["M"], state["units"]))
        np.testing.assert_array_equal(got, (u, v))


def test_the_first_of_equally_near_impostors_is_taken() -> None:
    state = start(1.0)
    state["X"][50:100] = state["X"][50]  # the second class: all the same row
    state["X"][60:, 0] += 1e-9  # too little for single precision, not for double
    state["blocks"] = in_blocks(state["X"][:, :4], state["places"], state["units"][0])
    renew_products(state)
    error = search.error_of_products(state["M"], state["units"])
    for i in range(50):
        np.testing.assert_array_equal(found(state, i, error)[1], hinge(state, i)[2])


@pytest.mark.parametrize("bound", [0.1, 100.0])
def test_the_error_of_the_tracked_products_is_never_above_its_bound(bound: float) -> None:
    state = start(bound, load_wine)
    M, X = plain(state, "M", "X")
    rng = np.random.default_rng(4)
    W, D = np.zeros((3, 13), np.float32), np.empty_like(state["h"])
    least = np.empty(D.size // 4, np.float32)
    y, V, K = np.zeros(16), np.zeros((2, 16)), padded_copy(np.linalg.inv(M))
    error = search.error_of_products(state["M"], state["units"])
    unit = state["units"][0] ** 2 * state["units"][1]
    for step in range(1, 300):
        i, j, k = rng.integers(0, 178, size=3)
        V[:, :13] = X[j] - X[i], X[k] - X[i]
        alpha, scaling = safe_step(state["M"], K, V, step**-0.5, bound, np.zeros((3, 16)))
        error = search.search_pass(
            state["blocks"], y, V, W, state["units"], alpha, scaling, state["M"], error, state["h"], (0, 64),
            D, least,
        )  # fmt: skip
        explicit = np.einsum("ij,jk,ik->i", X, M, X)
        assert unit * np.abs(products(state) - explicit).max() <= error
    assert error < 0.01 * unit * explicit.max()


@pytest.mark.parametrize("own", [None, 0, 1])
@pytest.mark.parametrize("sizes", [[1], [16, 16], [17, 65, 1], [1, 129, 64]])
def test_passes_over_the_rows_equal_their_formulas(sizes: list[int], own: int | None) -> None:
    own = None if own is None else min(own, len(sizes) - 1)
    n, d = sum(sizes), 7
    rng = np.random.default_rng(n)
    X, W = rng.normal(size=(n, d)), rng.normal(size=(3, d)).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = places_of(starts)
    blocks = in_blocks(X, places, 1.0)
    h, D = no_products(blocks), np.full(len(blocks) * BLOCK, np.nan, dtype=np.float32)
    least = np.full((len(blocks), WIDTH), np.nan, dtype=np.float32)
    before = h[places] = rng.normal(size=n)
    ours = (0, 0) if own is None else places_of_class(places, starts, own, h.size)
    others = np.repeat(np.arange(len(sizes)), sizes) != own

    def right(h_now: Any) -> None:
        np.testing.assert_allclose(D[places[others]], (h_now - 2 * X @ W[0])[others], atol=1e-5)
        skipped = np.isnan(D).reshape(-1, BLOCK)
        np.testing.assert_array_equal(skipped.all(axis=1), skipped.any(axis=1))  # whole blocks, of one class
        assert np.isnan(D[places[~others]]).all()
        smallest = D.reshape(-1, BLOCK // WIDTH, WIDTH).min(axis=1)
        np.testing.assert_array_equal(least[~skipped[:, 0]], smallest[~skipped[:, 0]])

    row_pass(blocks, W, h, ours, D, least)
    right(before)
    D[:] = least[:] = np.nan
    row_pass_after_step(blocks, W, 0.3, 0.7, h, ours, D, least)
    after = 0.7 * (before + 0.3 * ((X @ W[2]) ** 2 - (X @ W[1]) ** 2))
    np.testing.assert_allclose(h[places], after, atol=1e-5)
    right(after)
    filled = np.delete(np.arange(D.size), places)
    assert not np.isfinite(D[filled]).any()


@pytest.mark.parametrize("d", [1, 4, 7, 21])
def test_products_of_four_rows_at_a_time_equal_the_formula(d: int) -> None:
    rng = np.random.default_rng(d)
    A, X = rng.normal(size=(d, d)), rng.normal(size=(3, d))
    out = np.zeros(padded_copy(A).shape[1])
    assert search.quadratic(padded_copy(A), padded_copy(X), 1, out) == pytest.approx(X[1] @ A @ X[1])
    np.testing.assert_allclose(out[:d], A @ X[1])


def test_violators_come_first_in_the_next_epoch() -> None:
    state = start(100.0)
    state["M"] *= 100  # far beyond the margin for most rows, which then do not violate it
    state["K"] /= 100
    renew_products(state)
    order = np.random.default_rng(0).permutation(150)
    visited = order.copy()
    _, updates = epoch(**state, order=order, step=0, max_steps=10**6, updates=0, bound=np.inf)
    assert 0 < updates < 150
    positions = np.array([np.flatnonzero(visited == i)[0] for i in order[:updates]])
    assert (np.diff(positions) > 0).all()
    np.testing.assert_array_equal(np.sort(order), np.arange(150))


def test_no_update_when_no_margin_is_violated() -> None:
    X = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [9.1, 9.0]])
    model = LMDML(bound=2.0, random_state=0).fit(X, [0, 0, 1, 1])
    assert model.n_updates_ == 0
    assert model.n_iter_ == 1
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), np.eye(2))


@pytest.mark.parametrize("bound", [1.0, 10.0, 100.0])
def test_objective_ends_below_its_start(bound: float) -> None:
    state = start(bound)
    anchors = np.arange(150)
    before = mean_hinge(*(state[k] for k in state if k != "K"), anchors)
    assert before == pytest.approx(np.mean([max(0.0, hinge(state, i)[0]) for i in anchors]), rel=1e-9)
    X, y = load_iris(return_X_y=True)
    assert LMDML(bound=bound, random_state=0).fit(normalize(X), y).objective_ < before


def test_limits_of_epochs_and_steps_are_kept() -> None:
    X, y = load_iris(return_X_y=True)
    model = LMDML(bound=0.1, max_steps=200, random_state=0).fit(normalize(X), y)
    assert (model.n_steps_, model.n_iter_) == (200, 2)
    assert LMDML(bound=0.1, max_epochs=3, random_state=0).fit(normalize(X), y).n_steps_ == 450


def test_same_seed_same_metric_and_another_seed_another() -> None:
    X, y = load_iris(return_X_y=True)
    fits = [LMDML(random_state=seed).fit(normalize(X), y).components_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_constant_features_and_more_features_than_rows_stay_finite() -> None:
    rng = np.random.default_rng(0)
    X, y = load_iris(return_X_y=True)
    wide = np.column_stack([normalize(X), np.full(150, 0.5)])
    assert np.isfinite(LMDML(bound=10, random_state=0).fit(wide, y).components_).all()
    model = LMDML(bound=100, random_state=0).fit(normalize(rng.normal(size=(12, 40))), np.arange(12) % 2)
    assert np.trace(model.get_mahalanobis_matrix()) <= 100 * (1 + 1e-9)


def test_single_row_classes_are_impostors_and_small_classes_lower_the_targets() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(9, 2)), np.array([0] * 6 + [1] * 2 + [2])
    assert LMDML(max_epochs=1, random_state=0).fit(X, y).n_steps_ == 8


@pytest.mark.parametrize(("y", "message"), [([0] * 4, "1 class"), ([0, 1, 2, 3], "at least two rows")])
def test_labels_without_targets_or_impostors_are_refused(y: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LMDML().fit(np.arange(8.0).reshape(4, 2) ** 2, y)


def test_a_bound_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="'bound' parameter of LMDML"):
        LMDML(bound=0).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(("name", "values"), [("bound", [0.1, 1.0, 10.0]), ("n_neighbors", [1, 3])])
def test_grid_equals_separate_fits(name: str, values: list[Any]) -> None:
    X, y = load_wine(return_X_y=True)
    models = LMDML(random_state=0).fit_grid(normalize(X), y, name, values)
    for model, value in zip(models, values, strict=True):
        alone = LMDML(random_state=0, **{name: value}).fit(normalize(X), y)
        assert getattr(model, name) == value
        np.testing.assert_array_equal(model.components_, alone.components_)
        assert model.objective_ == alone.objective_


def test_what_is_stored_of_a_grid_has_its_objective_and_no_rows() -> None:
    X, y = load_wine(return_X_y=True)
    (model,) = LMDML(random_state=0).fit_grid(normalize(X), y, "bound", [1.0])
    stored = pickle.dumps(model)
    assert len(stored) < normalize(X).nbytes / 2
    assert pickle.loads(stored).objective_ == model.objective_
