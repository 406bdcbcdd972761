import numpy as np
import pytest

from mloml.checks.plain_stack import phi, phi_slope
from mloml.kernels.padding import zeros
from mloml.kernels.stack.activation import activate, derive
from mloml.kernels.stack.layout import ACTIVATIONS

D = 6


def outputs(Z):
    """(u, v, z) of three samples t, p, q in the rows of Z, padded, with room for what follows."""
    V = zeros(12, D)
    V[:3, :D] = Z[0] - Z[1], Z[0] - Z[2], Z[0]
    return V


@pytest.mark.parametrize("activation", range(3), ids=ACTIVATIONS)
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 1e4])
def test_activation_and_derivative_equal_numpys(activation, size):
    Z = size * np.random.default_rng(0).normal(size=(3, D))
    V = outputs(Z)
    m = V.shape[1]
    activate(V, 0, 3 * m, activation, D)
    with np.errstate(over="ignore"):
        H = phi(Z, activation)
        slopes = phi_slope(Z, activation)
    np.testing.assert_allclose(
        V[3:6, :D], [H[0] - H[1], H[0] - H[2], H[0]], rtol=1e-15, atol=1e-15 * max(1, size)
    )
    assert not V[:, D:].any(), "padding stays zero"
    V[6:9, :D] = 1.0
    derive(V, 0, 3 * m, 6 * m, activation)
    np.testing.assert_allclose(V[6:9, :D], slopes, atol=1e-15)
    assert not V[:, D:].any(), "padding stays zero"


def test_relu_is_flat_at_zero():
    V = outputs(np.zeros((3, D)))
    V[6:9, :D] = 1.0
    derive(V, 0, 3 * V.shape[1], 6 * V.shape[1], 0)
    assert not V[6:9].any()
