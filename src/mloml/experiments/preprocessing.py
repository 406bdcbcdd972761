"""From raw rows to the learners' input: PCA of wide data, then every row divided by its ℓ2 norm.

Or, instead of that, every feature standardised by the training half (``rows="standardised"``).

Both interpretations of the protocol: uncentred PCA over all rows (what the authors did), or centred PCA
fitted on the training half. Cross-validation folds share the PCA of their half.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mloml.arrays import Array, Index

if TYPE_CHECKING:
    from mloml.config.schema import PcaConfig
    from mloml.datasets import Dataset


# Features are taken this many at a time, so that wide data (138,672 features) never need a second copy.
_FEATURE_BLOCK = 4096

# Loadings that differ by less, relatively, are taken for equal when an axis gets its sign.
_EQUAL = 1e-9

# What this process prepared last, by dataset checksum: the cells of one dataset follow each other.
_memo: OrderedDict[tuple[object, ...], Array] = OrderedDict()
_MEMO_SIZE = 16


def prepare(data: Dataset, pca: PcaConfig, train: Index, rows: str = "unit") -> Array:
    """Return all rows of a dataset as the learners see them under one split.

    Parameters
    ----------
    data : Dataset
    pca : PcaConfig
        PCA is done when there are at least ``pca.threshold`` features.
    train : array of row indices
        The training half; it matters for wide data with ``pca.fit="train"`` and for standardised features.
    rows : {"unit", "standardised"}
        What is done last: rows of length 1, or features of mean 0 and deviation 1 on the training half.
    """
    wide = needs_pca(data.X.shape[1], pca)
    fit = train if wide and pca.fit == "train" else None
    half = None if rows == "unit" and fit is None else train.tobytes()

    def make() -> Array:
        X = _principal_scores(data, pca, fit) if wide else data.X
        return unit_rows(X) if rows == "unit" else standardised(X, train)

    return _remembered((data.checksum, pca, rows, half), make)


def needs_pca(n_features: int, pca: PcaConfig) -> bool:
    """Tell whether data with so many features go through PCA."""
    return n_features >= pca.threshold


def unit_rows(X: Array) -> Array:
    """Divide each row by its ℓ2 norm; rows of zeros stay zero.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    # Scaling by a power of two is exact and keeps the squares of very large and very small rows in range.
    _, exponents = np.frexp(np.abs(X).max(axis=1, keepdims=True))
    scaled = np.ldexp(X, -exponents)
    norms = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return scaled / np.where(norms > 0, norms, 1.0)


def standardised(X: Array, fit: Index) -> Array:
    """Give each feature mean 0 and standard deviation 1 over the rows ``fit``; those constant there become 0.

    >>> standardised(np.array([[1.0, 5.0], [3.0, 5.0], [5.0, 6.0]]), np.array([0, 1]))
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 3.,  0.]])
    """
    mean, deviation = X[fit].mean(axis=0), X[fit].std(axis=0)
    constant = deviation <= np.abs(mean) * len(fit) * np.finfo(np.float64).eps
    scaled: Array = np.where(constant, 0.0, (X - mean) / np.where(constant, 1.0, deviation))
    return scaled


def principal_scores(
    X: Array, fit: Index, components: int, centred: bool, frame: Array | None = None
) -> Array:
    """Project all rows on the leading principal axes of the rows ``fit``.

    Each axis points so that its loading of largest magnitude is positive (the convention of scikit-learn's
    ``PCA`` and of MATLAB's ``pca``); ReLU makes results depend on it. Axes beyond the numerical rank are
    left out, so at most ``len(fit) - 1`` remain with centring.

    Parameters
    ----------
    X : (n, d) array
    fit : array of row indices
    components : int
        Upper limit on the number of axes.
    centred : bool
        Whether the mean of the rows ``fit`` is subtracted first.
    frame : (n, m) array, optional
        The same rows in another orthonormal frame (see :func:`compact_frame`), in which the work is done.
    """
    frame = X if frame is None else frame
    origin = frame[fit].mean(axis=0) if centred else np.zeros(frame.shape[1])
    u, singular, axes = np.linalg.svd(frame[fit] - origin, full_matrices=False)
    noise = singular[0] * max(frame[fit].shape) * np.finfo(np.float64).eps
    k = min(components, len(fit) - centred, int(np.sum(singular > noise)))
    weights = u[:, :k] / singular[:k]
    if centred:
        weights = weights - weights.mean(axis=0)
    return (frame - origin) @ (axes[:k].T * _signs(X, fit, weights))


def compact_frame(X: Array) -> Array:
    """Return the rows of a wide matrix in an n-dimensional orthonormal frame: ``X = R' Q'`` gives ``R'``.

    All inner products stay as they are, so any PCA of ``R'`` has the scores of the same PCA of ``X``. The QR
    decomposition runs over blocks of features and loses no accuracy, unlike the eigenvectors of ``X X'``.
    """
    n = len(X)
    r: Array = np.empty((0, n))
    for start in range(0, X.shape[1], _FEATURE_BLOCK):
        stacked = np.vstack([r, X[:, start : start + _FEATURE_BLOCK].T])
        r = np.asarray(np.linalg.qr(stacked, mode="r"))
    return np.ascontiguousarray(r.T)


def _principal_scores(data: Dataset, pca: PcaConfig, rows: Index | None) -> Array:
    n, d = data.X.shape
    fit = np.arange(n) if rows is None else rows
    frame = _remembered((data.checksum, "frame"), lambda: compact_frame(data.X)) if d > n else None
    scores = principal_scores(data.X, fit, pca.components, pca.centred, frame)
    if pca.signs is None:
        return scores
    return scores * np.random.RandomState(pca.signs).choice([-1.0, 1.0], scores.shape[1])


def _signs(X: Array, fit: Index, weights: Array) -> Array:
    """Return +1 or -1 per axis, the sign of the largest of its loadings ``X[fit]' weights``.

    Of loadings equal up to rounding the first counts, so that rounding cannot turn an axis round.
    """
    largest = np.zeros(weights.shape[1])
    for start in range(0, X.shape[1], _FEATURE_BLOCK):
        loadings = X[fit, start : start + _FEATURE_BLOCK].T @ weights
        sizes = np.abs(loadings)
        first = np.argmax(sizes >= sizes.max(axis=0) * (1 - _EQUAL), axis=0)
        candidates = loadings[first, np.arange(len(first))]
        largest = np.where(np.abs(candidates) > np.abs(largest) * (1 + _EQUAL), candidates, largest)
    return np.where(largest < 0, -1.0, 1.0)


def _remembered(key: tuple[object, ...], make: Callable[[], Array]) -> Array:
    if key not in _memo:
        value = make()
        value.setflags(write=False)
        _memo[key] = value
        while len(_memo) > _MEMO_SIZE:
            _memo.popitem(last=False)
    _memo.move_to_end(key)
    return _memo[key]
