"""Names for the arrays that everything here is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Rows, matrices, vectors."""

Index = NDArray[np.intp]
"""Numbers of rows."""

Triplets = NDArray[np.intp]
"""(T, 3): a sample, one of its class, one of another."""

Codes = NDArray[np.int64]
"""Classes, numbered from 0."""

Counts = NDArray[np.int64]
"""How often something happened."""
