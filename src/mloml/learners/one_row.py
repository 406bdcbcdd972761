"""The light road for streams: one row at a time, on arrays, without scikit-learn's validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from mloml.arrays import Array

from .kept_parameters import require_kept
from .labels import require_label
from .sparse_rows import SparseRows, plain, require_takes_sparse, validate_rows

ORDERS = (None, np.array([[2, 0, 1]], dtype=np.intp), np.array([[2, 1, 0]], dtype=np.intp))
"""The triplet (x, xp, xq) in three rows of which x is the last: xp arrived first, or xq did."""

WATCH_EVERY = 256
"""Triplets between two looks at whether the learner has stopped learning."""


class OneRow:
    """``learn_one`` and ``transform_one``, for :class:`~mloml.learners.online.OnlineLearner`."""

    def learn_one(self: Any, x: ArrayLike, y: Any) -> Any:
        """Learn from one row with its label; exactly what ``partial_fit([x], [y])`` learns, at less cost.

        Parameters
        ----------
        x : array-like of shape (d,), or sparse matrix of shape (1, d)
            Finite numbers; nothing else is looked at.
        y : hashable
            Any label, a new one at any time.
        """
        if type(x) is not np.ndarray and issparse(x):
            return self._learn_one_carefully(one_sparse_row(self, x), y)
        row = one_row(x)
        room = self.__dict__.get("_room")
        if room is None or self._lengths is not None or (code := self._codes.get(y)) is None:
            return self._learn_one_carefully(row[np.newaxis], y)
        if row.size != self.n_features_in_:
            raise ValueError(wrong_length(self, row))
        found = self._stream.push_one(row, code, self.scale_, room)
        if found:
            if found < 0:
                raise ValueError(NOT_FINITE)
            self._learn(room, ORDERS[found])
            self.n_triplets_ += 1
            if self._kept:
                self._kept.clear()
            self._finish()
            if self.n_triplets_ % WATCH_EVERY == 0:
                self._warn_if_stalled()
        return self

    def transform_one(self: Any, x: ArrayLike) -> Array:
        """Map one row, (d,); exactly what ``transform([x])[0]`` gives, at less cost.

        A sparse row, (1, d), is mapped as ``transform`` does.
        """
        components = self.components_
        if issparse(x):
            one = checked_sparse_row(self, x) @ components.T
            return one if issparse(one) else one[0]
        row = one_row(x)
        if row.size != components.shape[1]:
            raise ValueError(wrong_length(self, row))
        if not np.isfinite(row).all():
            raise ValueError(NOT_FINITE)
        mapped: Array = (row[np.newaxis] @ components.T)[0]
        return mapped

    def _learn_one_carefully(self: Any, row: Any, label: Any) -> Any:
        """Learn from a row (1, d) that may be the first one, of a new class, of unknown scale, or sparse."""
        sparse = isinstance(row, SparseRows)
        n_features = row.shape[1]
        first = not hasattr(self, "_stream")
        if not self.__dict__.get("_valid"):  # the first row, or parameters were set since the last one
            self._validate_params()
            self._valid = True
        if first:
            self.n_features_in_ = n_features
            self.__dict__.pop("feature_names_in_", None)
            self._forget()
        elif n_features != self.n_features_in_:
            raise ValueError(wrong_length(self, row))
        else:
            require_kept(self)
            self._take_step()
        if not np.isfinite(row.data if sparse else row).all():
            raise ValueError(NOT_FINITE)
        require_label(label)
        self._admit_labels([label])
        if first:
            self._open_stream(row, None)
        code = self._codes.setdefault(label, len(self._codes))
        self._take(row, [code])
        self._finish()
        if not sparse:
            self._stream.make_room(len(self._codes), n_features)
            self._room = self._arrange(np.zeros((3, n_features)))
        return self


NOT_FINITE = "x contains NaN or infinity"


def one_row(x: ArrayLike) -> Array:
    """Return ``x`` as an array of the one kind that compiled code was made for."""
    row = np.asarray(x, dtype=np.float64)
    if row.ndim != 1 or row.size == 0:
        raise ValueError(f"x has shape {row.shape}, expected one row (n_features,)")
    return plain(row)


def one_sparse_row(learner: Any, x: Any) -> SparseRows:
    """Return a sparse row as the learner's scans take it."""
    require_takes_sparse(learner, x)
    require_one_row(x)
    return SparseRows.of(csr_array(x))


def checked_sparse_row(learner: Any, x: Any) -> Any:
    """Return a sparse row of the features that were learned, (1, d), to be mapped."""
    require_one_row(x)
    return validate_rows(learner, x, reset=False)


def require_one_row(x: Any) -> None:
    """Refuse a sparse matrix that is more or less than one row."""
    if len(x.shape) != 2 or x.shape[0] != 1:
        raise ValueError(f"x has shape {x.shape}, expected one sparse row (1, n_features)")


def wrong_length(learner: Any, row: Any) -> str:
    """Return the message for a row that does not fit what was learned."""
    return f"x has {row.shape[-1]} features, but {type(learner).__name__} expects {learner.n_features_in_}"
