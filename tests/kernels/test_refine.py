import numpy as np
import pytest

from mloml.kernels.linalg.refine import refine
from mloml.kernels.padding import padded, zeros


def refined(L, K):
    d = len(L)
    m = padded(d)
    Ls, Ks, work = zeros(2, m, d), zeros(2, m, d), zeros(2, m, d)
    Ls[1, :d, :d], Ks[1, :d, :d] = L, K
    refine(Ls, Ks, m * m, m, d, work)
    assert not Ks[1, d:].any() and not Ks[1, :, d:].any()
    return Ks[1, :d, :d]


@pytest.mark.parametrize("d", [1, 2, 5, 8, 13])
@pytest.mark.parametrize("error", [1e-4, 10.0])
def test_refining_brings_k_back_to_the_inverse(d, error):
    rng = np.random.default_rng(d)
    L = np.eye(d) + 0.2 * rng.normal(size=(d, d)) / np.sqrt(d)
    exact = np.linalg.inv(L).T
    K = refined(L, exact + error * rng.normal(size=(d, d)))
    assert np.abs(K - exact).max() < 100 * min(error, 1e-4) ** 2 * d


def test_a_singular_matrix_leaves_k_as_it_is():
    K = np.full((3, 3), 7.0)
    np.testing.assert_array_equal(refined(np.ones((3, 3)), K), K)
