"""The compiled L-BFGS, against SciPy's L-BFGS-B and on functions with known minima."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from mloml.kernels.descent.lbfgs import (
    CONVERGED,
    EVALUATE,
    LAST,
    OUT_OF_STEPS,
    START,
    STEPS,
    advance,
    new_memory,
)


def run(objective, x, tol=1e-12, max_iter=500):
    """Minimise; return how it ended, where, the memory and the values of all steps."""
    x, memory, values = np.array(x, dtype=float), new_memory(len(x)), []
    status = EVALUATE
    while status == EVALUATE:
        value, gradient = objective(x)
        status = advance(x, value, np.array(gradient), memory, tol, max_iter)
        if memory.counts[STEPS] > len(values):
            values.append(memory.numbers[LAST])
    return status, x, memory, np.array(values)


def rosenbrock(x):
    return rosen(x), rosen_der(x)


def bowl(x):
    scales = np.arange(1.0, len(x) + 1)
    return 1.0 + scales @ x**2, 2 * scales * x


def absolute(x):
    weights = np.arange(1.0, len(x) + 1)
    return 1.0 + weights @ np.abs(x), weights * np.sign(x)


@pytest.mark.parametrize("objective", [rosenbrock, bowl])
@pytest.mark.parametrize("size", [2, 5, 30])
def test_takes_the_steps_of_scipy(objective, size):
    start = np.random.default_rng(size).normal(size=size)
    theirs = []
    options = {"maxcor": 20, "ftol": 0.0, "gtol": 0.0, "maxiter": 15}
    note = lambda intermediate_result: theirs.append(intermediate_result.fun)  # noqa: E731
    minimize(objective, start, jac=True, method="L-BFGS-B", callback=note, options=options)
    ours = run(objective, start, tol=0.0, max_iter=15)[3]
    count = min(len(ours), len(theirs))
    assert count >= 5
    np.testing.assert_allclose(ours[:count], theirs[:count], rtol=1e-6)


def test_finds_the_minimum_of_a_curved_valley():
    status, x, memory, _ = run(rosenbrock, [0.7, -0.3, 0.5, 0.2])
    assert status == CONVERGED
    np.testing.assert_allclose(x, 1.0, atol=1e-5)
    assert memory.numbers[START] == pytest.approx(rosen([0.7, -0.3, 0.5, 0.2]))


def test_values_never_rise():
    values = run(rosenbrock, np.random.default_rng(0).normal(size=12))[3]
    assert (np.diff(values) <= 0).all()


def test_stops_where_five_steps_gain_less_than_the_tolerance():
    values = run(rosenbrock, np.full(10, -1.0), tol=1e-3)[3]
    gains = values[:-5] - values[5:]
    assert gains[-1] <= 1e-3 * values[-1] or values[-1] <= 1e-3 * rosen(np.full(10, -1.0))
    assert (gains[:-1] > 1e-3 * values[5:-1]).all()


def test_kinks_end_the_descent_near_the_minimum():
    status, x, _, values = run(absolute, np.random.default_rng(1).normal(size=6), tol=1e-8)
    assert status == CONVERGED
    assert values[-1] < 1.2
    assert np.isfinite(x).all()


def test_too_few_steps_are_told():
    status, _, memory, _ = run(rosenbrock, np.full(10, -1.0), max_iter=3)
    assert status == OUT_OF_STEPS
    assert memory.counts[STEPS] == 3


def test_a_minimum_stays_where_it_is():
    status, x, memory, _ = run(bowl, np.zeros(4))
    assert status == CONVERGED
    assert memory.counts[STEPS] == 0
    np.testing.assert_array_equal(x, 0.0)


def test_a_value_that_is_not_a_number_ends_the_descent():
    status, _, _, _ = run(lambda x: (np.nan, np.full(len(x), np.nan)), np.ones(3))
    assert status == CONVERGED
