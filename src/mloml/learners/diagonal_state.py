"""MOML's state for a diagonal metric: one weight per feature, and the way it meets the compiled scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from mloml.kernels.stack import layout

from .sparse_rows import SparseRows
from .stack_state import Propagation

Array = NDArray[np.float64]


class DiagonalState:
    """The diagonal ``w`` of the metric; starts at ones."""

    def __init__(self, n_features: int, gamma: float, keep: float, floor: float, variant: str) -> None:
        self.w = np.ones(n_features)
        self.settings: tuple[Any, ...] = (gamma, keep, floor, layout.VARIANTS.index(variant))
        self.counts = np.zeros((1, layout.INTEGERS), dtype=np.int64)

    def widen(self, n_features: int) -> None:
        """Give new features the weight 1."""
        self.w = np.concatenate([self.w, np.ones(n_features - len(self.w))])

    def take_steps(self, steps: Sequence[float]) -> None:
        """Go on with this step size."""
        self.settings = (*steps, *self.settings[1:])

    @property
    def layers(self) -> list[csr_array]:
        """The factor as learned so far: a sparse matrix with the roots of the weights on its diagonal."""
        return [diags_array(np.sqrt(self.w)).tocsr()]

    def learn(self, rows: Any, triplets: NDArray[np.intp], how: Propagation) -> bool:
        """Run one compiled scan; False when it had to stop because the numbers grew beyond all bounds."""
        from mloml.kernels import diagonal

        rest = (triplets, self.w, *self.settings, self.counts[0])
        if isinstance(rows, SparseRows):
            done = diagonal.sparse_diagonal_scan(rows.data, rows.indices, rows.starts, *rest)
        else:
            done = diagonal.diagonal_scan(rows, *rest)
        return bool(done == len(triplets))
