"""Labels of a stream: any hashable objects; None and NaN mean that a row has no label."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mloml.arrays import Index


def sorted_labels(labels: Iterable[Any]) -> NDArray[Any]:
    """Return the labels as an array, sorted where they can be compared, otherwise as they came.

    >>> sorted_labels([3, 1, 2])
    array([1, 2, 3])
    >>> sorted_labels(["b", 1, (0, 1)])
    array(['b', 1, (0, 1)], dtype=object)
    """
    labels = list(labels)
    kinds = {np.asarray(label).dtype.kind if np.isscalar(label) else "O" for label in labels}
    if kinds <= set("biuf") or kinds in ({"U"}, {"S"}):
        return np.unique(np.asarray(labels))
    try:
        return np.sort(_objects(labels))
    except TypeError:
        return _objects(labels)


def announced_labels(classes: Any) -> dict[Any, None]:
    """Return the labels that a user announces, each once, as they are.

    >>> list(announced_labels(np.array([1, 0, 1]))), list(announced_labels(["a", (0, 1)]))
    ([1, 0], ['a', (0, 1)])
    """
    try:
        given = classes.tolist() if hasattr(classes, "tolist") else classes
        if not isinstance(given, str | bytes):
            return dict.fromkeys(given)
    except TypeError:  # not iterable, or something in it is not hashable
        pass
    raise ValueError(f"classes is {classes!r}, expected a sequence of labels")


def is_missing(label: Any) -> bool:
    """Say whether a label means that there is none: None, NaN and pandas' NA.

    >>> is_missing(None), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas' NA does not know
        return True


def require_label(label: Hashable) -> None:
    """Refuse what is not a label: it is not hashable, a number with a fraction, or a complex one.

    >>> require_label(0.5)
    Traceback (most recent call last):
    ...
    ValueError: Unknown label type: y is 0.5, expected a whole number, a word or another hashable object
    """
    hash(label)  # raises a TypeError of its own
    fraction = isinstance(label, float | np.floating) and not float(label).is_integer()
    if fraction or isinstance(label, complex | np.complexfloating):
        raise ValueError(
            f"Unknown label type: y is {label}, expected a whole number, a word or another hashable object"
        )


def checked_labels(y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the labels of rows as an array, and which of them are there.

    >>> checked_labels([1, None, "a"])
    (array([1, None, 'a'], dtype=object), array([ True, False,  True]))
    """
    kinds = {type(label) for label in y} if isinstance(y, list | tuple) else set()
    mixed = len(kinds) > 1 and not all(issubclass(kind, int | float | np.number) for kind in kinds)
    plain = not mixed and not any(issubclass(kind, tuple | frozenset) for kind in kinds)
    labels = column_or_1d(y, warn=True) if plain else _objects(y)
    if labels.dtype.kind == "f":
        there = ~np.isnan(labels)
        assert_all_finite(labels, allow_nan=True, input_name="y")
        if there.any():
            check_classification_targets(labels[there])
        return labels, there
    if labels.dtype.kind == "O":
        there = np.array([not is_missing(label) for label in labels], dtype=bool)
        for label in labels[there]:
            require_label(label)
        return labels, there
    return labels, np.ones(len(labels), dtype=bool)


def encoded(labels: NDArray[Any], codes: dict[Any, int]) -> Index:
    """Return the classes of labels as numbers; labels that are not in ``codes`` get the next ones.

    >>> encoded(np.array(["b", "a", "b"]), {"b": 0})
    array([0, 1, 0])
    """
    if labels.dtype.kind == "O":
        return np.array([codes.setdefault(label, len(codes)) for label in labels], dtype=np.intp)
    values, places = np.unique(labels, return_inverse=True)
    return np.array([codes.setdefault(value, len(codes)) for value in values.tolist()], dtype=np.intp)[places]


def _objects(labels: Any) -> NDArray[Any]:
    objects = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):  # assigned at once, tuples would be taken for rows
        objects[i] = label
    return objects
