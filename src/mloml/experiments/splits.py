"""Stratified halves and folds, the same for every algorithm, from seeds that follow from names alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mloml.arrays import Array, Codes, Index
from mloml.errors import DataFormatError
from mloml.experiments.preprocessing import prepare

if TYPE_CHECKING:
    from mloml.config.schema import ProtocolConfig
    from mloml.datasets import Dataset


def derive_seed(seed: int, *names: object) -> int:
    """Return a 32-bit seed for one purpose, independent of every other purpose.

    >>> derive_seed(0, "iris", 3, "split") == derive_seed(0, "iris", 3, "split")
    True
    >>> derive_seed(0, "iris", 3, "split") == derive_seed(0, "iris", 3, "stream")
    False
    """
    digest = hashlib.sha256("/".join(map(str, (seed, *names))).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").astype(np.uint32)
    return int(np.random.SeedSequence(words.tolist()).generate_state(1)[0])


def split_indices(
    y: Codes, split: int, seed: int, dataset_name: str, stratified: bool = True
) -> tuple[Index, Index]:
    """Return the rows of the training and of the test half of one split, each in ascending order.

    Half of every class goes to each side. The odd row of a class with an odd count goes to the test half
    for the first such class, to the training half for the second, and so on: class counts are the same in
    every split. Plain halves (``stratified=False``) are drawn until each class has a training row.

    >>> train, test = split_indices(np.repeat([0, 1], [4, 5]), split=0, seed=0, dataset_name="toy")
    >>> np.bincount(np.repeat([0, 1], [4, 5])[train]), np.bincount(np.repeat([0, 1], [4, 5])[test])
    (array([2, 2]), array([2, 3]))
    """
    rng = np.random.default_rng(derive_seed(seed, dataset_name, split, "split"))
    in_train = np.zeros(len(y), dtype=bool)
    odd_row_to_train = False
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        if len(rows) < 2:
            raise DataFormatError(f"{dataset_name}: class {label} has a single row, a split needs two")
        count = len(rows) // 2
        if len(rows) % 2:
            count += odd_row_to_train
            odd_row_to_train = not odd_row_to_train
        in_train[rng.permutation(rows)[:count]] = True
    while not stratified:
        in_train[:] = False
        in_train[rng.permutation(len(y))[: len(y) // 2]] = True
        stratified = set(y[in_train]) == set(y)
    return np.flatnonzero(in_train), np.flatnonzero(~in_train)


def fold_indices(y: Codes, split: int, seed: int, dataset_name: str, folds: int) -> list[tuple[Index, Index]]:
    """Return stratified folds of a training half as (rows to fit on, rows to validate on) pairs.

    The shuffled rows of each class are dealt to the folds in turn, the next class beginning where the last
    one stopped: fold sizes differ by at most one, in total and per class. A class with fewer rows than
    folds is spread over as many folds as it has rows; folds left without rows are dropped.

    >>> [len(validate) for fit, validate in fold_indices(np.repeat([0, 1], [7, 4]), 0, 0, "toy", folds=5)]
    [3, 2, 2, 2, 2]
    """
    rng = np.random.default_rng(derive_seed(seed, dataset_name, split, "folds"))
    dealt = np.concatenate([rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)])
    fold_of = np.empty(len(y), dtype=np.intp)
    fold_of[dealt] = np.arange(len(y)) % folds
    used = range(min(folds, len(y)))
    return [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in used]


class Halves(NamedTuple):
    """Training and test half of one split, preprocessed, and the seed of its stream."""

    X: Array
    y: Codes
    X_test: Array
    y_test: Codes
    seed: int


def halves(data: Dataset, protocol: ProtocolConfig, split: int) -> Halves:
    """Return the rows that the cells of this split see."""
    y = data.y
    if protocol.ties == "alphabetical":  # the smallest label is the first in the alphabet then
        y = np.argsort(np.argsort(data.labels))[y]
    train, test = split_indices(data.y, split, protocol.seed, data.name, protocol.stratified)
    X = prepare(data, protocol.pca, train, protocol.rows)
    seed = derive_seed(protocol.seed, data.name, split, "stream")
    return Halves(X[train], y[train], X[test], y[test], seed)
