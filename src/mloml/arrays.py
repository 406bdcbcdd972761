"""Names for the arrays that everything here is made of."""

import numpy as np
from numpy.typing import NDArray

# Rows, matrices, vectors.
Array = NDArray[np.float64]

# Numbers of rows.
Index = NDArray[np.intp]

# (T, 3): a sample, one of its class, one of another.
Triplets = NDArray[np.intp]

# Classes, numbered from 0.
Codes = NDArray[np.int64]

# How often something happened.
Counts = NDArray[np.int64]
