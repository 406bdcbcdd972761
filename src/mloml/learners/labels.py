"""Labels of a stream: any hashable objects."""

from collections.abc import Hashable, Iterable
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
    kinds = {np.asarray(label).dtype.kind if np.isscalar(label) else "O" for label in labels}
    if kinds <= set("biuf") or kinds in ({"U"}, {"S"}):
        return np.unique(np.asarray(labels))
    objects = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):  # assigned at once, tuples would be taken for rows
        objects[i] = label
    try:
        return np.sort(objects)
    except TypeError:
        return objects


def announced_labels(classes: Any) -> list[Any]:
    """Return the labels that a user announces, each once, as they are.

    >>> announced_labels(np.array([1, 0, 1])), announced_labels(["a", (0, 1)])
    ([1, 0], ['a', (0, 1)])
    """
    try:
        given = classes.tolist() if hasattr(classes, "tolist") else classes
        if not isinstance(given, str | bytes):
            return list(dict.fromkeys(given))
    except TypeError:  # not iterable, or something in it is not hashable
        pass
    raise ValueError(f"classes is {classes!r}, expected a sequence of labels")


def require_label(label: Hashable) -> None:
    """Refuse what is not a label: it is not hashable, or it does not equal itself.

    >>> require_label(float("nan"))
    Traceback (most recent call last):
    ...
    ValueError: y is nan, which is not a label: it does not equal itself
    """
    hash(label)  # raises a TypeError of its own
    try:
        same = bool(label == label)
    except TypeError:  # pandas' NA does not know
        same = False
    if not same:
        raise ValueError(f"y is {label!r}, which is not a label: it does not equal itself")
