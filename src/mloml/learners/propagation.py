"""Backward propagation (BP), and forward then backward (FBP): gradient steps on the loss of a stack (Eq. 1).

    1/2 [hinge_n]+ + sum_i w_i Loc_i + decay/2 sum_i ||L_i||²,   hinge_i = 1 + ||z_t - z_p||² - ||z_t - z_q||²

With the samples of a triplet as columns ``Z = [z_t z_p z_q]``, a hinge has the gradient ``2 E(Z)``, where
``E(Z) = [u - v, -u, v]`` for ``u = z_t - z_p`` and ``v = z_t - z_q``. All gradients are computed before any
layer moves. In terms of a layer's inputs ``(p, q, h)`` its step is

    L <- c (L - r G [p q h]'),   c = 1 - rate decay,   r = rate / c,   G = [-delta_p, -delta_q, sum of delta]

where delta is the gradient by the layer's outputs. ``Loc_i`` is the hinge of layer i, or the hinge times its
step size; it moves the layers below i and, with ``own_too``, layer i itself.
"""

from math import exp, tanh
from typing import Any, NamedTuple

import numpy as np

from mloml.arrays import Array, Codes, Counts

from .compiled import compiled, entry, ready
from .layers import ACTIVATIONS, Learning, order_of, through, widened
from .linalg import AGE, FAILURES, LIMIT, NOTHING, UPDATES, map_three
from .moml import moml_step
from .opml import opml_step

RELU, SIGMOID, TANH = range(len(ACTIVATIONS))
KINDS = ("moml", "opml", "neither")
MOML, OPML, NEITHER = range(len(KINDS))
NO_LOCAL_LOSS, HINGE, SCALED_HINGE = range(3)
LARGEST_CHANGE = 1e15  # an entry of a layer that would change by more than this: the run diverges
SINGULAR = 1e-10  # a determinant below this, or above its inverse, would make a layer useless

# N = (L'L)^-1 of a moml layer follows a gradient step in O(d²). With H = [p q h], A = N L'G = L^-1 G, B = N H
# and S = I - r H'A (3 x 3), the new inverse is L^-1 <- (I + r A S^-1 H') L^-1 / c, and so, with Y = r S^-1,
#
#     N <- (N + A X' + X A') / c²,    X = B Y' + 1/2 A (Y H'B Y')


@compiled
def phi(z: float, activation: int) -> float:
    """Return the activation; nothing overflows."""
    if activation == RELU:
        return max(0.0, z)
    if activation == TANH:
        return tanh(z)
    e = exp(-abs(z))
    return (1.0 if z >= 0.0 else e) / (1.0 + e)


@compiled
def slope(z: float, h: float, activation: int) -> float:
    """Return the derivative of the activation where its argument is z and its value h."""
    if activation == RELU:
        return 1.0 if z > 0.0 else 0.0
    return 1.0 - h * h if activation == TANH else h * (1.0 - h)


@compiled
def activate_layer(Z: Array, H: Array, i: int, activation: int) -> None:
    """Set the inputs ``H[i + 1] = (p, q, h)`` from the outputs ``Z[i] = (u, v, z)``."""
    for j in range(Z.shape[2]):
        u, v, z = Z[i, 0, j], Z[i, 1, j], Z[i, 2, j]
        h = phi(z, activation)
        H[i + 1, 0, j] = h - phi(z - u, activation)
        H[i + 1, 1, j] = h - phi(z - v, activation)
        H[i + 1, 2, j] = h


@compiled
def hinge_of(Z: Array, i: int) -> float:
    """Return the hinge's argument at the outputs of layer i."""
    hinge = 1.0
    for j in range(Z.shape[2]):
        hinge += Z[i, 0, j] * Z[i, 0, j] - Z[i, 1, j] * Z[i, 1, j]
    return hinge


@compiled
def add_hinge_gradient(Z: Array, i: int, factor: float, E: Array) -> None:
    """Add ``factor E(Z)`` of layer i to ``E[i]``, for the samples t, p, q."""
    for j in range(Z.shape[2]):
        u, v = factor * Z[i, 0, j], factor * Z[i, 1, j]
        E[i, 0, j] += u - v
        E[i, 1, j] -= u
        E[i, 2, j] += v


@compiled
def pull_back(L: Array, Z: Array, H: Array, i: int, activation: int, E: Array) -> None:
    """Set ``E[i] = (L_{i+1}' E[i + 1]) * phi'(Z_i)``."""
    d = L.shape[1]
    for k in range(d):
        f, g, h = E[i + 1, 0, k], E[i + 1, 1, k], E[i + 1, 2, k]
        for j in range(d):
            E[i, 0, j] += f * L[i + 1, k, j]
            E[i, 1, j] += g * L[i + 1, k, j]
            E[i, 2, j] += h * L[i + 1, k, j]
    for j in range(d):
        z, h = Z[i, 2, j], H[i + 1, 2, j]
        E[i, 0, j] *= slope(z, h, activation)
        E[i, 1, j] *= slope(z - Z[i, 0, j], h - H[i + 1, 0, j], activation)
        E[i, 2, j] *= slope(z - Z[i, 1, j], h - H[i + 1, 1, j], activation)


@compiled
def set_gradients(
    L: Array, Z: Array, H: Array, activation: int, local: int, own_too: bool, freeze: bool, rate: float,
    steps: Array, w: Array, E: Array, G: Array,
) -> bool:  # fmt: skip
    """Set each layer's G, and take the step on the weights ``w``; False when all gradients are zero."""
    top, d = L.shape[0] - 1, L.shape[1]
    alive = hinge_of(Z, top) > 0.0
    for i in range(top, -1, -1):
        for k in range(3):
            for j in range(d):
                E[i, k, j] = 0.0
        if i == top and alive:
            add_hinge_gradient(Z, i, 1.0, E)
        elif alive:
            pull_back(L, Z, H, i, activation, E)
        hinge = hinge_of(Z, i)
        active = local != NO_LOCAL_LOSS and hinge > 0.0
        s = steps[i] if local == SCALED_HINGE else 1.0
        factor = 2.0 * w[i] * s if active else 0.0
        if active and not freeze:
            w[i] = max(0.0, w[i] - rate * s * hinge)
        if own_too and factor > 0.0:
            add_hinge_gradient(Z, i, factor, E)
        for j in range(d):
            G[i, 0, j], G[i, 1, j] = -E[i, 1, j], -E[i, 2, j]
            G[i, 2, j] = E[i, 0, j] + E[i, 1, j] + E[i, 2, j]
        if factor > 0.0:
            alive = True
            if not own_too:  # it moves the layers below only
                add_hinge_gradient(Z, i, factor, E)
    return alive


@compiled
def sensible(G: Array, H: Array, rate: float) -> bool:
    """Say whether every layer's change is a number of reasonable size."""
    for i in range(G.shape[0]):
        gradient = inputs = 0.0
        for k in range(3):
            for j in range(G.shape[2]):
                gradient += G[i, k, j] * G[i, k, j]
                inputs += H[i, k, j] * H[i, k, j]
        if not rate * rate * gradient * inputs < LARGEST_CHANGE * LARGEST_CHANGE:
            return False
    return True


@compiled
def descend(L: Array, G: Array, H: Array, i: int, rate: float, decay: float) -> None:
    """``L_i <- (1 - rate decay) L_i - rate G_i H_i'``."""
    shrink = 1.0 - rate * decay
    for k in range(L.shape[1]):
        f, g, h = rate * G[i, 0, k], rate * G[i, 1, k], rate * G[i, 2, k]
        for j in range(L.shape[2]):
            L[i, k, j] = shrink * L[i, k, j] - (f * H[i, 0, j] + g * H[i, 1, j] + h * H[i, 2, j])


@compiled
def inverse_of_three(S: Array, Y: Array) -> float:
    """Set ``Y = S^-1`` (3 x 3) by cofactors and return the determinant of S."""
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            c, e = (j + 1) % 3, (j + 2) % 3
            Y[j, i] = S[a, c] * S[b, e] - S[a, e] * S[b, c]
    det = S[0, 0] * Y[0, 0] + S[0, 1] * Y[1, 0] + S[0, 2] * Y[2, 0]
    for i in range(3):
        for j in range(3):
            Y[i, j] /= det
    return det


@compiled
def times_three(X: Array, C: Array, out: Array) -> None:
    """``out = C X`` for three rows: ``out[a] = sum_b C[a, b] X[b]``."""
    for a in range(3):
        for j in range(X.shape[1]):
            out[a, j] = C[a, 0] * X[0, j] + C[a, 1] * X[1, j] + C[a, 2] * X[2, j]


@compiled
def products_of_three(X: Array, V: Array, C: Array) -> None:
    """``C[a, b] = X[a]'V[b]``."""
    for a in range(3):
        for b in range(3):
            total = 0.0
            for j in range(X.shape[1]):
                total += X[a, j] * V[b, j]
            C[a, b] = total


@compiled
def follow_inverse(L: Array, N: Array, G: Array, H: Array, rate: float, decay: float, W: Array) -> bool:
    """Bring N up to a gradient step on L that is about to be taken; False when L would become singular.

    ``G`` and ``H`` (3, d) hold vectors in rows, and so do all matrices here; ``W`` (4, 3, d) is workspace.
    """
    d, c = L.shape[0], 1.0 - rate * decay
    A, B, X, LG = W[0], W[1], W[2], W[3]
    C, S, Y, T = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for a in range(3):
        for j in range(d):
            LG[a, j] = 0.0
        for k in range(d):
            for j in range(d):
                LG[a, j] += G[a, k] * L[k, j]
    for a in range(3):
        for i in range(d):
            of_g = of_h = 0.0
            for j in range(d):
                of_g += N[i, j] * LG[a, j]
                of_h += N[i, j] * H[a, j]
            A[a, i], B[a, i] = of_g, of_h
    products_of_three(H, A, C)
    for a in range(3):
        for b in range(3):
            S[a, b] = (1.0 if a == b else 0.0) - rate / c * C[a, b]
    det = inverse_of_three(S, Y)
    if not SINGULAR < abs(det) < 1.0 / SINGULAR:
        return False
    products_of_three(H, B, C)
    for a in range(3):
        for b in range(3):
            Y[a, b] *= rate / c
    for a in range(3):  # S = Y C Y', T = Y C
        for b in range(3):
            T[a, b] = Y[a, 0] * C[0, b] + Y[a, 1] * C[1, b] + Y[a, 2] * C[2, b]
    for a in range(3):
        for b in range(3):
            S[a, b] = T[a, 0] * Y[b, 0] + T[a, 1] * Y[b, 1] + T[a, 2] * Y[b, 2]
    times_three(B, Y, X)
    for a in range(3):
        for j in range(d):
            X[a, j] += 0.5 * (S[a, 0] * A[0, j] + S[a, 1] * A[1, j] + S[a, 2] * A[2, j])
    for a in range(3):
        for i in range(d):
            f, g = A[a, i], X[a, i]
            for j in range(d):
                N[i, j] += f * X[a, j] + g * A[a, j]
    if c != 1.0:
        for i in range(d):
            for j in range(d):
                N[i, j] /= c * c
    return True


@entry
def gradient_scan(
    D: Array, L: Array, N: Array, kinds: Codes, steps: Array, keeps: Array, floors: Array, activation: int,
    rate: float, decay: float, local: int, own_too: bool, freeze: bool, w: Array, counts: Counts,
) -> int:  # fmt: skip
    """Take, for each triplet of D, the layers' own steps and then a gradient step; return how many were seen.

    Layers of the kind ``NEITHER`` take gradient steps only: if all are, it is backward propagation alone.
    """
    n, d = L.shape[0], L.shape[1]
    H, Z, E, G = np.empty((n, 3, d)), np.empty((n, 3, d)), np.empty((n, 3, d)), np.empty((n, 3, d))
    R, S, P, Q, W = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty((4, 3, d))
    for t in range(D.shape[0]):
        for k in range(3):
            for j in range(d):
                H[0, k, j] = D[t, k, j]
        for i in range(n):
            u, v, z = Z[i, 0], Z[i, 1], Z[i, 2]
            near, far = map_three(L[i], H, i, u, v, z)
            if not near + far < LIMIT:
                return t
            if steps[i] > 0.0 and 1.0 + near - far > 0.0:
                if kinds[i] == MOML:
                    moml_step(L[i], N[i], H, i, u, v, z, R, S, P, Q, steps[i], keeps[i], floors[i], counts[i])
                elif kinds[i] == OPML:
                    opml_step(L[i], H, i, u, v, z, steps[i], counts[i])
            if i + 1 < n:
                activate_layer(Z, H, i, activation)
        if rate <= 0.0:
            continue
        alive = set_gradients(L, Z, H, activation, local, own_too, freeze, rate, steps, w, E, G)
        if alive or decay > 0.0:
            if not sensible(G, H, rate):
                return t
            for i in range(n):
                if kinds[i] == MOML:
                    if not follow_inverse(L[i], N[i], G[i], H[i], rate, decay, W):
                        counts[i, FAILURES] += 1
                        continue
                    counts[i, AGE] += 1
                descend(L, G, H, i, rate, decay)
                counts[i, UPDATES] += kinds[i] == NEITHER and alive
    return D.shape[0]


class Loss(NamedTuple):
    """The loss layer's settings, see :class:`~mloml.learners.mloml.MLOML`."""

    activation: str
    rate: float = 1e-4
    decay: float = 0.0
    local_loss: str = "scaled"
    routing: str = "below"
    freeze_w: bool = False


class GradientStack(Learning):
    """Layers that learn by backward propagation, alone or after a forward step.

    Parameters
    ----------
    n_features : int
        Size of the layers.
    kinds : list of str
        The algorithm of each layer.
    settings : list of dict
        Its step size, and ``cone_keep`` and ``cone_floor`` of moml layers.
    forward : bool
        Whether a forward step comes first.
    loss : Loss
        What the gradient steps are taken on.
    """

    def __init__(
        self, n_features: int, kinds: list[str], settings: list[dict[str, Any]], forward: bool, loss: Loss
    ) -> None:
        n = len(kinds)
        self.L, self.N = np.stack([np.eye(n_features)] * n), np.stack([np.eye(n_features)] * n)
        self.kinds = np.array([KINDS.index(kind) if forward else NEITHER for kind in kinds])
        names = ("step", "cone_keep", "cone_floor")
        self.steps, self.keeps, self.floors = (np.array([float(s[k]) for s in settings]) for k in names)
        self.forward, self.loss = forward, loss
        self.weights: Array = np.ones(n)
        self.counts = np.zeros((n, 5), dtype=np.int64)

    @property
    def depth(self) -> int:
        """How many layers are in use."""
        return len(self.L)

    def factors(self) -> list[Array]:
        """Return the factors as learned so far."""
        return list(self.L)

    def matrices(self) -> list[Array]:
        """Return the matrices that are learned."""
        return [self.L]

    def ranks(self, queries: Any, rows: Any) -> Array:
        """Return numbers that order ``rows`` as their distances at the last layer do."""
        return order_of(*(through(self.factors(), X, self.loss.activation) for X in (queries, rows)))

    def widen(self, n_features: int) -> None:
        """Go on with more features: every layer starts as the identity on them."""
        self.L, self.N = (np.stack([widened(A, n_features) for A in part]) for part in (self.L, self.N))

    def learn(self, D: Array, outputs: Array = NOTHING) -> int:
        """Learn from the triplets of ``D``; return how many were seen."""
        ready("propagation")
        loss = self.loss
        activation, rate = ACTIVATIONS.index(loss.activation), float(loss.rate) * self.damping
        decay = float(loss.decay)
        local = SCALED_HINGE if loss.local_loss == "scaled" else HINGE
        local = local if self.forward else NO_LOCAL_LOSS
        own_too, freeze = loss.routing == "all", bool(loss.freeze_w)
        seen: int = gradient_scan(
            D, self.L, self.N, self.kinds, self.steps, self.keeps, self.floors, activation, rate, decay,
            local, own_too, freeze, self.weights, self.counts,
        )  # fmt: skip
        return seen
