"""L-BFGS on functions with known minima, and its direction against the update formula."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der
from tests.oracles.descent import inverse_hessian

from mloml.learners.descent import PAIRS, Descent, descend, set_direction


def rosenbrock(x):
    return rosen(x), rosen_der(x)


def absolute(x):
    return 1 + np.abs(x).sum() + 0.5 * x @ x, np.sign(x) + x


def run(objective, start, tol=1e-12, max_iter=500) -> tuple[Descent, list[float]]:
    """Minimise; also return all values that were computed."""
    values = []

    def noted(x):
        value, gradient = objective(x)
        values.append(value)
        return value, gradient

    return descend(noted, np.asarray(start, dtype=float), tol, max_iter), values


@pytest.mark.parametrize(("kept", "newest"), [(0, -1), (1, 0), (3, 2), (5, 1)])
def test_the_direction_is_that_of_the_update_formula(kept, newest):
    rng = np.random.default_rng(kept)
    S, g = rng.normal(size=(5, 7)), rng.normal(size=7)
    Y = S * np.linspace(1, 4, 7) + 0.01 * rng.normal(size=(5, 7))
    products, d = np.stack([(S * Y).sum(axis=1), np.zeros(5)]), np.empty(7)
    slope = set_direction(S, Y, products, newest, kept, g, d)
    pairs = [(newest - back) % 5 for back in range(kept)][::-1]
    expected = -inverse_hessian(S[pairs], Y[pairs]) @ g
    np.testing.assert_allclose(d, expected, rtol=1e-9)
    assert slope == pytest.approx(g @ expected, rel=1e-9)


def test_finds_the_minimum_of_a_curved_valley():
    start = np.array([[0.7, -0.3], [0.5, 0.2]])  # of any shape
    found, _ = run(lambda x: (rosen(x.ravel()), rosen_der(x.ravel()).reshape(2, 2)), start)
    assert found.converged
    np.testing.assert_allclose(found.x, np.ones((2, 2)), atol=1e-5)
    assert found.start_value == pytest.approx(rosen(start.ravel()))
    assert found.value == rosen(found.x.ravel())
    np.testing.assert_array_equal(found.gradient.ravel(), rosen_der(found.x.ravel()))


def test_takes_hardly_more_evaluations_than_scipy():
    start = np.random.default_rng(0).normal(size=40)
    found, values = run(rosenbrock, start, tol=1e-14, max_iter=1000)
    theirs = minimize(
        rosenbrock, start, jac=True, method="L-BFGS-B", options={"maxcor": PAIRS, "ftol": 1e-14}
    )
    assert found.value < 1e-8
    assert len(values) < 1.5 * theirs.nfev


def test_stops_where_five_steps_gain_less_than_the_tolerance():
    steps = [run(rosenbrock, np.full(10, -1.0), tol=0.0, max_iter=k)[0].value for k in range(60)]
    found, _ = run(rosenbrock, np.full(10, -1.0), tol=1e-2)
    met = [k for k in range(5, 60) if steps[k - 5] - steps[k] <= 1e-2 * steps[k]]
    small = [k for k in range(60) if steps[k] <= 1e-2 * steps[0]]
    assert found.n_iter == min(met + small)
    assert (np.diff(steps) < 0).all()


def test_kinks_end_the_descent_near_the_minimum():
    found, values = run(absolute, np.random.default_rng(1).normal(size=6), tol=1e-8)
    assert found.converged
    assert found.value == min(values) < 1.001


def test_too_few_steps_are_told():
    found, _ = run(rosenbrock, np.full(10, -1.0), max_iter=3)
    assert not found.converged
    assert found.n_iter == 3


def test_a_minimum_stays_where_it_is():
    found, values = run(lambda x: (x @ x, 2 * x), np.zeros(4))
    assert found.converged
    assert (found.n_iter, len(values)) == (0, 1)


def test_a_value_that_is_not_a_number_ends_the_descent():
    found, _ = run(lambda x: (np.nan, np.full(len(x), np.nan)), np.ones(3))
    assert found.converged
    assert found.n_iter == 0


def test_a_wall_of_infinity_is_not_crossed():
    found, _ = run(lambda x: (np.inf if x[0] <= 0 else x[0] - np.log(x[0]), 1 - 1 / x), [40.0])
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)
