"""MLOML by explicit matrices in O(d³), with other factors of M and other ways to stay in the cone.

The paper leaves open which ``L`` with ``M = L'L`` a layer takes, and what to do with a step that would make M
indefinite. :class:`~mloml.learners.mloml.MLOML` takes the frame-preserving root and the split step. This
learner has the alternatives: what they do to the results is part of the reproduction.
"""

from math import sqrt
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mloml.arrays import Array, Counts

from .base import ROUNDING
from .compiled import compiled, entry, ready
from .layers import ACTIVATIONS, Layer, MetricLayer, Stack
from .linalg import FAILURES, LIMIT, REFUSED, UPDATES, WEAK, WEAK_SHARE, dot
from .online import OnlineLearner
from .outputs import StackOutputs
from .triplets import Rule

CLIPPED = 1e-8  # what "clip" puts in place of an eigenvalue that is not positive
SHRINKAGE = 0.9  # how far towards the border of the cone "shrink" goes with a step that would have crossed it


@entry
def factor_of(M: Array, factor: str) -> Array:
    """Return the factor of M that a layer takes."""
    if factor == "cholesky":
        return np.ascontiguousarray(np.linalg.cholesky(M).T)
    values, vectors = np.linalg.eigh(M)
    roots = np.sqrt(np.maximum(values, 0.0))
    return (vectors * roots).T.copy() if factor == "eigen" else (vectors * roots) @ vectors.T


@compiled
def twice_largest(p: Array, q: Array) -> float:
    """Return twice the largest eigenvalue of ``pp' - qq'``."""
    a, b, c = dot(p, p), dot(q, q), dot(p, q)
    return a - b + sqrt(max(0.0, (a + b - 2 * c) * (a + b + 2 * c)))


@compiled
def explicit_step(M: Array, p: Array, q: Array, g: float, bound: Array, cone: str, counts: Counts) -> bool:
    """Take Eq. 6's step, or what the policy makes of it; say whether M changed."""
    A = np.outer(p, p) - np.outer(q, q)
    new = M - g * A
    fall = 0.5 * g * twice_largest(p, q)
    if cone == "split":  # the whole push and a shortened pull, see moml.py
        pushed = M + g * np.outer(q, q)
        s, pull = dot(p, np.linalg.solve(pushed, p)), g
        if s > 0.0:
            pull = max(0.0, min(g, 0.9 / s, 1.0 / s - 0.1 / dot(p, p)))
        counts[FAILURES] += pull < g
        new = pushed - pull * np.outer(p, p)
    elif fall < bound[0]:  # not enough to reach the border
        bound[0] -= fall
    else:
        values, vectors = np.linalg.eigh(new)
        if not values[0] > ROUNDING * values[-1]:
            counts[FAILURES] += 1
            if cone == "clip":
                values = np.maximum(values, CLIPPED)
                new = (vectors * values) @ vectors.T
            elif cone == "shrink":
                root = np.linalg.cholesky(M)
                shrunk = SHRINKAGE * 2.0 / twice_largest(np.linalg.solve(root, p), np.linalg.solve(root, q))
                counts[WEAK] += shrunk < WEAK_SHARE * g
                new = M - shrunk * A
                values = np.linalg.eigvalsh(new)
            if cone != "clip" and not values[0] > ROUNDING * values[-1]:
                counts[REFUSED] += 1
                counts[WEAK] += 1
                return False
        bound[0] = 0.99 * values[0]
    M[:] = (new + new.T) / 2
    counts[UPDATES] += 1
    return True


@entry
def explicit_scan(
    D: Array, M: Array, step: float, bound: Array, factor: str, cone: str, counts: Counts, outputs: Array
) -> int:
    """Learn from the triplets of D in order; return how many were seen."""
    asked = len(outputs) > 0
    L = factor_of(M, factor) if asked else M
    for t in range(len(D)):
        p, q = D[t, 0], D[t, 1]
        hinge = 1.0 + p @ (M @ p) - q @ (M @ q)
        if not abs(hinge) < LIMIT:
            return t
        moved = step > 0.0 and hinge > 0.0 and explicit_step(M, p, q, step, bound, cone, counts)
        if asked:
            L = factor_of(M, factor) if moved else L
            outputs[t] = D[t] @ L.T
    return len(D)


class ExplicitLayer(MetricLayer):
    """A metric with its factor; ``bound`` is below its least eigenvalue, which saves looking for that."""

    def __init__(self, n_features: int, step: float, factor: str, cone: str) -> None:
        super().__init__(n_features, step)
        self.kind, self.cone = factor, cone
        self.bound = np.array([0.999])

    @property
    def n_outputs(self) -> int:
        """How many numbers a row is mapped to."""
        return len(self.M)

    def factor(self) -> Array:
        """Return the factor of M that this layer takes."""
        ready("explicit")
        L: Array = factor_of(self.M, self.kind)
        return L

    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``."""
        ready("explicit")
        settings = self.step, self.bound, self.kind, self.cone
        seen: int = explicit_scan(D, self.M, *settings, self.counts, outputs)
        return seen

    def widen(self, n_features: int) -> None:
        """Go on with more features: the metric starts as the identity on them."""
        super().widen(n_features)
        self.bound = np.minimum(self.bound, 0.999)


class ExplicitMLOML(StackOutputs, OnlineLearner):
    """MLOML by forward propagation with a choice of factor and of cone policy, by explicit matrices.

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
