"""What an online algorithm keeps: a matrix that learns from triplets, alone or as one layer of a stack."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Self

import numpy as np

from mloml.arrays import Array, Counts, Triplets

from .base import symmetric_root
from .linalg import AGE, NOTHING

ACTIVATIONS = ("relu", "sigmoid", "tanh")
# A metric with larger entries, on rows of a length near 1, has grown out of bounds.
LARGEST_ENTRY = 1e4


class Learning:
    """What a learner does with the matrices that it learns, be it one layer or a stack of them."""

    counts: Counts
    damping = 1.0  # what is left of the step size after the layer has diverged
    restarts = 0
    good: Any = None
    view = 0  # which of its views is in use

    def matrices(self) -> list[Array]:
        """Return the arrays that are learned."""
        raise NotImplementedError

    def ranks(self, queries: Any, rows: Any) -> Array:
        """Return numbers that order ``rows`` as their distances from each of ``queries`` do; (m, n)."""
        raise NotImplementedError

    def views(self, queries: Any, rows: Any) -> Iterator[Array]:
        """Yield the ranks under each metric that is to be judged: a stack may have one per depth."""
        yield self.ranks(queries, rows)

    @property
    def idle(self) -> bool:
        """Whether learning would change nothing."""
        return False

    def save(self) -> dict[str, Array]:
        """Return copies of all that learning changes."""
        return {name: value.copy() for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    def frozen(self) -> Self:
        """Return a copy that stays as it is."""
        still = copy(self)
        vars(still).update(self.save(), good=None)
        return still

    def sane(self) -> bool:
        """Say whether the metric is of a reasonable size."""
        return all(bool(np.abs(A).max() < LARGEST_ENTRY) for A in self.matrices())

    def remember(self) -> None:
        """Keep the metric as it is, if it is a good one, to go back to."""
        if not self.idle and self.sane():
            self.good = self.save()

    def recall(self) -> None:
        """Go back to the last good metric; the counters go on."""
        if self.good is not None:
            vars(self).update({name: value.copy() for name, value in self.good.items() if name != "counts"})
            self.counts[..., AGE] = self.good["counts"][..., AGE]

    def rescale(self, ratio: float) -> None:
        """Follow rows that are multiplied by ``ratio`` from now on."""

    def await_rows(self) -> bool:
        """Say whether something has to be found out from the first rows of a stream first."""
        return False

    def see_rows(self, rows: Any) -> None:
        """Look at the first rows of a stream, as they are learned from."""


class Layer(Learning, ABC):
    """A square matrix with its counters, see :mod:`mloml.learners.linalg`; it starts at the identity.

    Parameters
    ----------
    n_features : int
        Size of the matrix.
    step : float
        Step size.
    """

    def __init__(self, n_features: int, step: float) -> None:
        self.L = np.eye(n_features)
        self.step = step
        self.counts = np.zeros(5, dtype=np.int64)

    def matrices(self) -> list[Array]:
        """Return the matrix that is learned."""
        return [self.L]

    @property
    def idle(self) -> bool:
        """Whether learning would change nothing."""
        return self.step == 0.0

    def ranks(self, queries: Any, rows: Any) -> Array:
        """Return numbers that order ``rows`` as their distances from each of ``queries`` do; (m, n)."""
        factor = self.factor()
        return order_of(queries @ factor.T, rows @ factor.T)

    @abstractmethod
    def learn(self, D: Array, outputs: Array) -> int:
        """Learn from the triplets of ``D``, see :mod:`mloml.learners.linalg`; return how many were seen.

        Fewer than there are: the next step would have led to infinite numbers. ``outputs`` (T, 3, d) gets
        what the layer makes of ``D`` right after each step, for the next layer; or it is ``NOTHING``.
        """

    def learn_sparse(self, rows: Any, triplets: Triplets, outputs: Array) -> int:
        """Do the same for triplets of sparse rows."""
        raise NotImplementedError

    @property
    def n_outputs(self) -> int:
        """How many numbers a row is mapped to."""
        return len(self.L)

    def factor(self) -> Any:
        """Return a factor of the metric on the rows that the layer sees; it may be the layer's own array."""
        return self.L

    def widen(self, n_features: int) -> None:
        """Go on with more features: the matrix starts as the identity on them."""
        self.L = widened(self.L, n_features)


class MetricLayer(Layer):
    """Keeps the metric ``M`` itself, of which a factor is made when somebody asks."""

    def __init__(self, n_features: int, step: float, start: float = 1.0) -> None:
        super().__init__(n_features, step)
        del self.L
        self.M = start * np.eye(n_features)
        self.start = start

    def matrices(self) -> list[Array]:
        """Return the matrix that is learned."""
        return [self.M]

    def ranks(self, queries: Any, rows: Any) -> Array:
        """Return numbers that order ``rows`` as their distances from ``queries`` do, without a root."""
        mapped = rows @ self.M
        return (mapped * rows).sum(axis=1) - 2.0 * (queries @ mapped.T)

    def factor(self) -> Array:
        """Return the symmetric root of M."""
        return symmetric_root(self.M)

    def widen(self, n_features: int) -> None:
        """Go on with more features: the metric has its start on them."""
        self.M = widened(self.M, n_features, self.start)


class Stack(Learning):
    """Layers that learn by forward propagation, each from what the updated layers below make of a triplet.

    No layer waits for those above it. So a layer learns from a whole piece of the stream and hands on, for
    each triplet, what its samples were mapped to right after the step: the next layer sees the same as if all
    had learned triplet by triplet.
    """

    def __init__(self, layers: list[Any], activation: str) -> None:
        self.layers = layers
        self.activation = activation

    @property
    def depth(self) -> int:
        """How many layers are in use."""
        return len(self.layers)

    def prefix(self, depth: int) -> "Stack":
        """Return the stack of the first layers alone, which it shares; of none it is an open one."""
        kind = Stack if depth else OpenStack
        return kind(self.layers[: max(1, depth)], self.activation)

    @property
    def counts(self) -> Counts:  # type: ignore[override]
        """The counters of all layers."""
        return np.array([layer.counts for layer in self.layers])

    @property
    def idle(self) -> bool:
        """Whether learning would change nothing."""
        return all(layer.idle for layer in self.layers)

    def matrices(self) -> list[Array]:
        """Return the matrices that are learned."""
        return [A for layer in self.layers for A in layer.matrices()]

    def ranks(self, queries: Any, rows: Any) -> Array:
        """Return numbers that order ``rows`` as their distances at the last layer do."""
        factors = self.factors()
        return order_of(*(through(factors, X, self.activation) for X in (queries, rows)))

    def frozen(self) -> Self:
        """Return a copy that stays as it is."""
        still = copy(self)
        still.layers = [layer.frozen() for layer in self.layers]
        return still

    def remember(self) -> None:
        """Keep the layers as they are, if all are good, to go back to."""
        if self.sane():
            for layer in self.layers:
                layer.remember()

    def recall(self) -> None:
        """Go back to the last good layers."""
        for layer in self.layers:
            layer.recall()

    def rescale(self, ratio: float) -> None:
        """Follow rows that are multiplied by ``ratio`` from now on."""
        for layer in self.layers:
            layer.rescale(ratio)

    def await_rows(self) -> bool:
        """Let the layers wait for the first rows of a stream; say whether one does."""
        waits = [layer.await_rows() for layer in self.layers]
        return any(waits)

    def see_rows(self, rows: Any) -> None:
        """Let the layers look at the first rows of a stream."""
        for layer in self.layers:
            layer.see_rows(rows)

    @property
    def weights(self) -> Array:
        """The weights of the local losses, which forward propagation leaves alone."""
        return np.ones(len(self.layers))

    def factors(self) -> list[Array]:
        """Return the factors as learned so far."""
        return [layer.factor() for layer in self.layers]

    def widen(self, n_features: int) -> None:
        """Go on with more features in every layer."""
        for layer in self.layers:
            layer.widen(n_features)

    def learn(self, D: Array, outputs: Array = NOTHING) -> int:
        """Learn from the triplets of ``D``; return how many were seen."""
        return self._learn(0, len(D), lambda first, i, j, out: first.learn(D[i:j], out))

    def learn_sparse(self, rows: Any, triplets: Triplets, outputs: Array = NOTHING) -> int:
        """Learn from triplets of sparse rows, which only the first layer sees."""
        count = len(triplets)
        return self._learn(0, count, lambda first, i, j, out: first.learn_sparse(rows, triplets[i:j], out))

    def _learn(self, begin: int, end: int, show: Callable[..., int]) -> int:
        """Let one layer after the other learn from some triplets, which ``show`` shows to the first."""
        count, H = end - begin, NOTHING
        before = [layer.save() for layer in self.layers] if count > 1 else []
        for i, layer in enumerate(self.layers):
            last = i + 1 == len(self.layers)
            out = NOTHING if last else np.empty((count, 3, layer.n_outputs))
            seen = show(layer, begin, end, out) if i == 0 else layer.learn(H, out)
            if seen < count:
                if not before:
                    return seen
                for each, saved in zip(self.layers, before, strict=True):
                    vars(each).update(saved)
                again = self._learn(begin, begin + seen, show)  # a layer above may diverge even earlier
                if again == seen and i > 0:  # the layers below see this triplet before layer i diverges
                    Stack(self.layers[:i], self.activation)._learn(begin + seen, begin + seen + 1, show)
                return again
            if not last:
                H = activated(out, self.activation)
        return count


class OpenStack(Stack):
    """A stack of which only the first layers may be in use, or none; all of them learn.

    ``view`` is how many are. Layer i learns the same whatever is above it, so a stack of five contains those
    of four, three, two and one.
    """

    @property
    def depth(self) -> int:
        """How many layers are in use."""
        return self.view

    def views(self, queries: Any, rows: Any) -> Iterator[Array]:
        """Yield the ranks at every depth: those of the rows as they are, then at each layer."""
        yield order_of(queries, rows)
        for i, L in enumerate(self.factors()):
            queries, rows = ((activate(X, self.activation) if i else X) @ L.T for X in (queries, rows))
            yield order_of(queries, rows)


def through(layers: Any, rows: Array, activation: str) -> Array:
    """Return the linear output of the last of some layers."""
    for L in layers[:-1]:
        rows = activate(rows @ L.T, activation)
    mapped: Array = rows @ layers[-1].T
    return mapped


def order_of(queries: Any, rows: Any) -> Any:
    """Return ``|b|² - 2 a'b`` for all rows a of ``queries`` and b of ``rows``: squared distances but |a|²."""
    products: Any = queries @ rows.T
    ranks: Array = products.toarray() if hasattr(products, "toarray") else products
    ranks *= -2.0  # in place: room for them takes as long as the products
    ranks += (rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows).sum(axis=1)
    return ranks


def activated(Z: Array, activation: str) -> Array:
    """Return the next layer's ``(p, q, h)`` for a layer's outputs ``(u, v, z)``.

    The three samples are ``z``, ``z - u`` and ``z - v``; then ``p = phi(z) - phi(z - u)``, and q likewise.
    """
    samples = Z[:, 2:] - Z
    samples[:, 2] = Z[:, 2]
    H = activate(samples, activation)
    np.subtract(H[:, 2:], H[:, :2], out=H[:, :2])
    return H


def activate(Z: Array, activation: str) -> Array:
    """Apply the non-linearity to the outputs of a layer.

    >>> activate(np.array([-1.0, 2.0]), "relu")
    array([0., 2.])
    """
    if activation == "relu":
        return np.maximum(Z, 0.0)
    if activation == "tanh":
        return np.tanh(Z)
    e = np.exp(-np.abs(Z))
    return np.where(Z >= 0, 1.0, e) / (1.0 + e)


def widened(A: Array, n: int, start: float = 1.0) -> Array:
    """Return a (d, d) matrix as (n, n): ``start`` on the new part of the diagonal, zeros beside it.

    >>> widened(np.array([[3.0]]), 2)
    array([[3., 0.],
           [0., 1.]])
    """
    larger = np.diag(np.full(n, start))
    larger[: len(A), : len(A)] = A
    return larger
