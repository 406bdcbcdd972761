"""A stack whose first layer has few rows: k × d below, k × k above, learned by forward propagation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .low_rank_state import LowRankState
from .metric_form import require_rank
from .stack_state import Array, Layer, Propagation, StackState, activate

PIECE = 1024
"""Triplets whose outputs are held between the first layer and the others."""


class NarrowStackState:
    """A first layer (k, d) and a square stack on what it makes of rows.

    In forward propagation no layer waits for those above it. So the first layer may learn from a piece of the
    triplets and hand on, for each, what its samples were mapped to right after its step: the layers above see
    the same as if they had learned triplet by triplet.
    """

    def __init__(self, start: Array, layers: Sequence[Layer]) -> None:
        self.first = LowRankState(start, layers[0].step)
        self.rest = StackState(len(start), layers[1:]) if len(layers) > 1 else None

    def take_steps(self, steps: Sequence[float]) -> None:
        """Go on with these step sizes, one per layer."""
        self.first.take_steps(steps[:1])
        if self.rest is not None:
            self.rest.take_steps(steps[1:])

    @property
    def counts(self) -> NDArray[np.int64]:
        """The counters of all layers."""
        first = self.first.counts
        return first.copy() if self.rest is None else np.concatenate([first, self.rest.counts])

    @property
    def weights(self) -> Array:
        """The weights of the local losses, which forward propagation leaves alone."""
        return np.ones(len(self.counts))

    @property
    def layers(self) -> list[Array]:
        """The factors as learned so far: (k, d), then (k, k)."""
        return [*self.first.layers, *([] if self.rest is None else self.rest.layers)]

    def learn(self, rows: Any, triplets: NDArray[np.intp], how: Propagation) -> bool:
        """Run compiled scans; False when one had to stop because the numbers grew beyond all bounds."""
        if self.rest is None:
            return self.first.learn(rows, triplets, how)
        k = self.first.W.shape[1]
        for begin in range(0, len(triplets), PIECE):
            piece = triplets[begin : begin + PIECE]
            outputs = np.empty((len(piece), 3, k))
            before = self.first.W.copy(), self.first.counts.copy()
            done = self.first.scan(rows, piece, outputs)
            hidden = activate(outputs[:done].reshape(-1, k), how.activation)
            seen = self.rest.scan(hidden, np.arange(3 * done).reshape(-1, 3), how)
            if seen < done:  # a layer above had to stop: the first must not have gone on alone
                self.first.W[:], self.first.counts[:] = before
                self.first.scan(rows, piece[: seen + 1], outputs)
            if seen < len(piece):
                return False
        return True


def require_narrow(stack: Any, names: Sequence[str], n_features: int) -> None:
    """Refuse what a stack with a narrow first layer cannot be, by the names of its parameters."""
    form = f"n_components={stack.n_components}"
    if stack.propagation != "fp":
        raise ValueError(f"propagation={stack.propagation!r} does not go with {form}, expected 'fp'")
    if names[0] != "moml" or not set(names) <= {"moml", "opml"}:
        raise ValueError(
            f"layer={stack.layer!r} does not go with {form}: a moml layer first, then moml or opml"
        )
    require_rank(stack.n_components, n_features)
