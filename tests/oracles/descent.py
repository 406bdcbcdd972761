"""L-BFGS's inverse Hessian as a matrix, by the update formula."""

import numpy as np

from mloml.arrays import Array


def inverse_hessian(S: Array, Y: Array) -> Array:
    """Start from the identity, scaled by the newest pair, and add one pair after the other, oldest first."""
    identity = np.eye(S.shape[1])
    H = identity * (S[-1] @ Y[-1]) / (Y[-1] @ Y[-1]) if len(S) else identity
    for s, y in zip(S, Y, strict=True):
        rho = 1 / (s @ y)
        left = identity - rho * np.outer(s, y)
        H = left @ H @ left.T + rho * np.outer(s, s)
    return H
