"""MOML's state without a factor: the metric itself, and the way it meets the compiled scan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from mloml.arrays import Array, Triplets
from mloml.kernels.padding import padded, with_padding, zeros
from mloml.kernels.stack import layout

from .roots import root_of_eigen
from .signed_form import has_negative
from .stack_state import Propagation
from .widening import widened

START_BOUND = 0.999
"""Certified lower bound of the identity's least eigenvalue."""


class MetricState:
    """The metric alone, without a factor, and a certified lower bound of its least eigenvalue."""

    def __init__(self, n_features: int, gamma: float, cone: str, variant: str) -> None:
        d, m = n_features, padded(n_features)
        self.n_features = n_features
        self.gamma, self.cone, self.variant = gamma, cone, variant
        self.M = zeros(m, d)
        self.M[range(d), range(d)] = 1.0
        self.bound = np.array([START_BOUND])
        self.counts = np.zeros((1, layout.INTEGERS), dtype=np.int64)
        self._make_room()

    def _make_room(self) -> None:
        """Allocate the workspace, which holds nothing of value between scans."""
        self._vectors, self._work = zeros(layout.ROWS, len(self.M)), zeros(2, *self.M.shape)

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        kept.pop("eigen", None)
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.M = zeros(*state["M"].shape)  # back to a cache line
        self.M[:] = state["M"]
        self._make_room()

    def widen(self, n_features: int) -> None:
        """Go on with more features: the metric starts as the identity on the new ones."""
        self.__dict__.pop("eigen", None)
        self.M = widened(self.M, self.n_features, n_features)
        self.bound[0] = min(self.bound[0], START_BOUND)  # the new eigenvalues are those of the start
        self.n_features = n_features
        self._make_room()

    def take_steps(self, steps: Sequence[float]) -> None:
        """Go on with this step size."""
        (self.gamma,) = steps

    @property
    def metric(self) -> Array:
        """The metric as learned so far, (d, d)."""
        d = self.n_features
        return self.M[:d, :d].copy()

    @cached_property
    def eigen(self) -> tuple[Array, Array]:
        """Eigenvalues of the metric, ascending, and its eigenvectors (columns); kept until it changes."""
        values, vectors = np.linalg.eigh(self.metric)
        return values, vectors

    @property
    def is_indefinite(self) -> bool:
        """Whether the metric has an eigenvalue below zero, which only the policy `free` lets happen."""
        return self.cone == "free" and has_negative(self.eigen[0])

    @property
    def layers(self) -> Array:
        """The symmetric root of the metric as learned so far, (1, d, d)."""
        return root_of_eigen(*self.eigen)[np.newaxis]

    def learn(self, rows: Array, triplets: Triplets, how: Propagation) -> bool:
        """Run one compiled scan; False when it had to stop."""
        from mloml.kernels.moml_metric import moml_scan

        self.__dict__.pop("eigen", None)
        data = with_padding(rows)
        choice = (layout.POLICIES.index(self.cone), layout.VARIANTS.index(self.variant))
        state = (self.M, self._vectors, self.bound, self.counts[0], self.gamma, *choice)
        done = moml_scan(data, triplets, *state, self._work, self.n_features)
        return bool(done == len(triplets))
