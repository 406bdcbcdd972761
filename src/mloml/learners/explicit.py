"""MLOML by explicit matrices in O(d³), with other factors of M and other ways to stay in the cone.

The paper leaves open which ``L`` with ``M = L'L`` a layer takes, and what to do with a step that would make M
indefinite. :class:`~mloml.learners.mloml.MLOML` takes the frame-preserving root and the split step. This
learner has the alternatives, in plain NumPy: what they do to the results is part of the reproduction.
"""

from math import sqrt
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mloml.arrays import Array

from .base import ROUNDING, symmetric_root
from .layers import ACTIVATIONS, Layer, MetricLayer, Stack
from .linalg import FAILURES, LIMIT, REFUSED, UPDATES, WEAK, WEAK_SHARE
from .online import OnlineLearner
from .outputs import StackOutputs
from .triplets import Rule

CLIPPED = 1e-8  # what "clip" puts in place of an eigenvalue that is not positive
SHRINKAGE = 0.9  # how far towards the border of the cone "shrink" goes with a step that would have crossed it


class ExplicitLayer(MetricLayer):
    """A metric with its factor; ``bound`` is below its least eigenvalue, which saves looking for that."""

    def __init__(self, n_features: int, step: float, factor: str, cone: str) -> None:
        super().__init__(n_features, step)
        self.kind, self.cone = factor, cone
        self.bound = np.array(0.999)

    @property
    def n_outputs(self) -> int:
        """How many numbers a row is mapped to."""
        return len(self.M)

    def factor(self) -> Array:
        """Return the factor of M that this layer takes."""
        if self.kind == "cholesky":
            return np.ascontiguousarray(np.linalg.cholesky(self.M).T)
        if self.kind == "eigen":
            values, vectors = np.linalg.eigh(self.M)
            return np.sqrt(values)[:, None] * vectors.T
        return symmetric_root(self.M)

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        L = self.factor() if len(outputs) else None
        for t, (p, q, h) in enumerate(D):
            Mp, Mq = self.M @ p, self.M @ q
            hinge = 1.0 + p @ Mp - q @ Mq
            if not abs(hinge) < LIMIT:
                return t
            moved = self.step > 0.0 and hinge > 0.0 and self._step(p, q)
            if L is not None:
                L = self.factor() if moved else L
                outputs[t] = np.stack([p, q, h]) @ L.T
        return len(D)

    def widen(self, n_features: int) -> None:
        """Go on with more features: the metric starts as the identity on them."""
        super().widen(n_features)
        self.bound = np.minimum(self.bound, 0.999)

    def _step(self, p: Array, q: Array) -> bool:
        """Take Eq. 6's step, or what the policy makes of it; say whether M changed."""
        A = np.outer(p, p) - np.outer(q, q)
        g = self.step
        M: Array | None
        if self.cone == "split":
            M = self._split(p, q, g)
        else:
            a, b, c = float(p @ p), float(q @ q), float(p @ q)
            fall = 0.5 * g * (a - b + sqrt(max(0.0, (a + b - 2 * c) * (a + b + 2 * c))))
            if fall < self.bound:  # A's largest eigenvalue is not enough to reach the border
                self.bound = self.bound - fall
                M = self.M - g * A
            else:
                M = self._careful(p, q, A, g)
        if M is None:
            self.counts[[REFUSED, WEAK]] += 1
            return False
        self.M = (M + M.T) / 2
        self.counts[UPDATES] += 1
        return True

    def _split(self, p: Array, q: Array, g: float) -> Array:
        """Return M after the whole push and a shortened pull, see :mod:`mloml.learners.moml`."""
        pushed = self.M + g * np.outer(q, q)
        s, pp = float(p @ np.linalg.solve(pushed, p)), float(p @ p)
        pull = max(0.0, min(g, 0.9 / s, 1.0 / s - 0.1 / pp)) if s > 0.0 else g
        self.counts[FAILURES] += pull < g
        return pushed - pull * np.outer(p, p)

    def _careful(self, p: Array, q: Array, A: Array, g: float) -> Array | None:
        """Look whether ``M - g A`` is positive definite and renew the bound; None: no step is taken."""
        M = self.M - g * A
        values, vectors = np.linalg.eigh(M)
        if not values[0] > ROUNDING * values[-1]:
            self.counts[FAILURES] += 1
            if self.cone == "skip":
                return None
            if self.cone == "clip":
                values = np.maximum(values, CLIPPED)
                M = (vectors * values) @ vectors.T
            else:
                root = np.linalg.cholesky(self.M)
                P, Q = np.linalg.solve(root, np.stack([p, q], axis=1)).T
                a, b, c = float(P @ P), float(Q @ Q), float(P @ Q)
                low = a - b + sqrt(max(0.0, (a + b - 2 * c) * (a + b + 2 * c)))
                shrunk = SHRINKAGE * 2.0 / low
                self.counts[WEAK] += shrunk < WEAK_SHARE * g
                M = self.M - shrunk * A
                values = np.linalg.eigvalsh(M)
                if not values[0] > ROUNDING * values[-1]:
                    return None
        self.bound = np.array(0.99 * values[0])
        return M


class ExplicitMLOML(StackOutputs, OnlineLearner):
    """MLOML by forward propagation with a choice of factor and of cone policy, slow and explicit.

    Parameters
    ----------
    n_layers : int, default=3
        Number of metric layers; 1 is MOML.
    activation : {"relu", "sigmoid", "tanh"}, default="tanh"
        Non-linearity between layers.
    gamma : float or "auto", default=1e-4
        Step size.
    factor : {"symmetric", "cholesky", "eigen"}, default="symmetric"
        Which ``L`` with ``M = L'L`` a layer takes: the symmetric root, the Cholesky factor, or the roots of
        the eigenvalues times the eigenvectors, whose order and signs jump from step to step.
    cone : {"clip", "shrink", "skip", "split"}, default="clip"
        What to do with a step that would leave the cone of positive definite matrices.

        - "clip": eigenvalues below 1e-8 become 1e-8.
        - "shrink": take 0.9 of the way to the border. The smallest eigenvalue falls by ten each time, until
          nearly every step is refused.
        - "skip": no step.
        - "split": the whole push and a shortened pull, as :class:`~mloml.learners.moml.MOML` does.
    scale, scans, shuffle, random_state, triplets
        See :class:`~mloml.learners.opml.OPML`.

    Attributes
    ----------
    layers_ : array of shape (n_layers, d, d)
        The learned ``L_i``; the first takes the user's rows.
    n_updates_, n_cone_failures_ : arrays of shape (n_layers,)
        Steps that changed the layer, and steps that would have left the cone.
    classes_, gamma_, scale_, n_triplets_, n_unlabelled_, n_restarts_, diverged_
        See :class:`~mloml.learners.online.OnlineLearner`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> learner = ExplicitMLOML(n_layers=1, gamma=1e-2, cone="shrink", scans=1, random_state=0).fit(X, y)
    >>> learner.transform(X).shape
    (150, 4)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineLearner._parameter_constraints,
        "n_layers": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "factor": [StrOptions({"symmetric", "cholesky", "eigen"})],
        "cone": [StrOptions({"clip", "shrink", "skip", "split"})],
    }

    def __init__(
        self, *, n_layers: int = 3, activation: str = "tanh", gamma: float | str = 1e-4,
        factor: str = "symmetric", cone: str = "clip", scale: str | float | None = "auto", scans: int = 20,
        shuffle: bool = True, random_state: Any = None, triplets: Rule = "released",
    ) -> None:  # fmt: skip
        self.n_layers = n_layers
        self.activation = activation
        self.factor = factor
        self.cone = cone
        super().__init__(gamma, scale, scans, shuffle, random_state, triplets)

    def _new_state(self, n_features: int, X: Any, step: float) -> Stack:
        layers: list[Layer] = [
            ExplicitLayer(n_features, step, self.factor, self.cone) for _ in range(self.n_layers)
        ]
        return Stack(layers, self.activation)

    def _set_step(self, state: Any, step: float) -> None:
        for layer in state.layers:
            layer.step = step * state.damping
