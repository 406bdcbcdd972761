"""Labels of a stream: any hashable objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def sorted_labels(labels: Iterable[Any]) -> NDArray[Any]:
    """Return the labels as an array, sorted where they can be compared, otherwise as they came.

    >>> sorted_labels([3, 1, 2.5])
    array([1. , 2.5, 3. ])
    >>> sorted_labels(["b", 1, None, (0, 1)])
    array(['b', 1, None, (0, 1)], dtype=object)
    """
    labels = list(labels)
    kinds = {np.asarray(label).dtype.kind if np.ndim(label) == 0 else "O" for label in labels}
    if kinds <= set("biuf") or kinds in ({"U"}, {"S"}):
        return np.unique(np.asarray(labels))
    objects = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):  # assigned at once, tuples would be taken for rows
        objects[i] = label
    try:
        return np.sort(objects)
    except TypeError:
        return objects
