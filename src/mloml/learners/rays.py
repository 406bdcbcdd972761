"""LMNN's objective along the multiples of one factor: where a descent over many pairs had best begin.

``ε(c A)`` depends on ``s = c²`` only, through ``(1 - μ) s <P, A'A> + μ Σ [1 - s (D_il - D_ij)]₊``: pieces of
straight lines, whose lowest point follows from sorting where they meet. A sample of the rows is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mloml.arrays import Array, Index

SAMPLE = 96  # rows, evenly spaced; all their triplets are sorted
LARGEST = 1e3  # factor up or down


@dataclass(frozen=True)
class Ray:
    """``pull`` is <P, A'A>; ``gaps`` are the positive ``D_il - D_ij``, largest first."""

    pull: float
    gaps: Array
    inverted: float  # Σ (D_ij - D_il) of the triplets that no scale pushes apart
    weight: float  # of a triplet of the sample

    @classmethod
    def of(cls, Z: Array, codes: Index, targets: Index, pull: float) -> Ray:
        """Take a sample of the mapped rows Z, with their classes and target neighbours."""
        rows = np.unique(np.linspace(0, len(Z) - 1, min(SAMPLE, len(Z))).astype(np.intp))
        near = ((Z[rows, None] - Z[targets[rows]]) ** 2).sum(axis=2)
        far = ((Z[rows, None] - Z[rows]) ** 2).sum(axis=2)
        apart = codes[rows, None] != codes[rows]
        gaps = (far[:, :, None] - near[:, None])[apart].ravel()
        positive = np.sort(gaps[gaps > 0])[::-1]
        return cls(pull, positive, -float(gaps[gaps <= 0].sum()), (len(Z) / len(rows)) ** 2)

    def best_factor(self, mu: float) -> float:
        """Return the c at which ``ε(c A)`` is smallest over the sample; 1 if it has no triplets."""
        if not self.gaps.size:
            return 1.0
        still_active = self.gaps.sum() - np.cumsum(self.gaps)
        slopes = (1 - mu) * self.pull + mu * self.weight * (self.inverted - still_active)
        lowest = int(np.argmax(slopes >= 0)) if slopes[-1] >= 0 else self.gaps.size - 1
        return float(np.clip(1 / np.sqrt(self.gaps[lowest]), 1 / LARGEST, LARGEST))
