"""Compare the copies that several packages carry: ``python -m tools.bundle.compare FOLDER``."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

from tools.bundle.beyond import COPIES
from tools.bundle.files import Content

Features = tuple[float, ...]


def rows_in_common(one: Content, other: Content) -> int:
    """Count the rows that both copies have, labels included, in whatever order and coding of the labels.

    >>> one = Content(["f1", "label"], [["1", "a"], ["2", "b"]])
    >>> rows_in_common(one, Content(["f1", "label"], [["2.0", "2"], ["3", "1"]]))
    1
    """
    mine, theirs = _labels_by_features(one), _labels_by_features(other)
    met = Counter((theirs[row], mine[row]) for row in mine.keys() & theirs.keys())
    coding: dict[str, str] = {}
    for (their_label, my_label), _ in met.most_common():
        coding.setdefault(their_label, my_label)
    recoded = Counter((_features(row), coding.get(row[-1], "")) for row in other.rows)
    return (Counter((_features(row), row[-1]) for row in one.rows) & recoded).total()


def largest_difference(one: Content, other: Content) -> float:
    """Return how far a row of ``one`` is, at most in any feature, from the row of ``other`` nearest to it.

    >>> one = Content(["f1", "label"], [["1.06", "a"], ["2", "b"]])
    >>> round(largest_difference(one, Content(["f1", "label"], [["2", "b"], ["1.1", "a"]])), 3)
    0.04
    """
    from scipy.spatial import KDTree

    mine, theirs = (np.array([_features(row) for row in content.rows]) for content in (one, other))
    distances, _ = KDTree(theirs).query(mine, p=np.inf)
    return float(np.max(distances))


def in_order(one: Content, other: Content) -> bool:
    """Tell whether the rows come in the same order, as far as both go."""
    return all(_features(a) == _features(b) for a, b in zip(one.rows, other.rows, strict=False))


def _features(row: list[str]) -> Features:
    return tuple(float(value) for value in row[:-1])


def _labels_by_features(content: Content) -> dict[Features, str]:
    return {_features(row): row[-1] for row in content.rows}


if __name__ == "__main__":
    for name, copies in COPIES.items():
        contents = {package: read(Path(sys.argv[1])) for package, read in copies.items()}
        first, *others = contents
        print(f"{name}: {first} has {len(contents[first].rows)} rows")
        for package in others:
            shared = rows_in_common(contents[first], contents[package])
            order = "the same" if in_order(contents[first], contents[package]) else "another"
            rows = len(contents[package].rows)
            print(f"    {package} has {rows} rows, {shared} of the first's, in {order} order", end="")
            if shared < rows:
                print(
                    f"; largest difference {largest_difference(contents[first], contents[package]):.2g}",
                    end="",
                )
            print()
