"""Learning from comparisons in place of labels: triplets, pairs and quadruplets of rows.

Everything is a triplet (x, xp, xq) in the end, of which learners see ``p = x - xp`` and ``q = x - xq``. A
pair is a triplet with one difference of zero. A quadruplet (a, b, c, d) is the triplet (0, b - a, d - c).
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mloml.arrays import Array, Index

from .choosing import FOLDS, SPAN, Judge, winner
from .rows import SparseRows, divided, features_unless_refused, learnable, row_lengths, validate_rows
from .stream import require_kept, show
from .triplets import TripletStream

# Learners for those who asked another one.
PAIR_LEARNERS = "LEGO and RDML"
QUADRUPLET_LEARNERS = "MOML, OPML, LEGO, RDML, SLMOML, DiagonalMOML and LowRankMOML"


class Comparisons:
    """What an :class:`~mloml.learners.online.OnlineLearner` learns from rows without labels."""

    _from_pairs = False
    _from_quadruplets = True

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_triplets(self: Any, X: Any, triplets: ArrayLike | None = None) -> Any:
        """Learn from scratch from triplets (x, xp, xq): x is nearer to xp than to xq.

        Goes ``scans`` times over the triplets, in a new order each time if ``shuffle`` is true. With
        ``gamma="auto"`` a fifth of them is held out first, and the step size is taken that brings most of
        these into order; 0 unless another is better by more than the standard error. (Held-out triplets may
        share rows with the others.)

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or array-like of shape (t, 3, d)
            Rows that ``triplets`` name by their numbers, or the triplets themselves.
        triplets : array-like of int, shape (t, 3), optional
            Numbers of x, xp and xq in ``X``.
        """
        with self._writing():
            rows, index = self._compared(X, triplets, ("triplets", 3), first=True)
            step, view = _chosen(self, rows, index) if self._chooses() else (self._given_step(), 0)
            self._forget()
            self._scan_triplets(rows, index, step)
            self._state.view = view
            self._end()
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit_triplets(self: Any, X: Any, triplets: ArrayLike | None = None) -> Any:
        """Go on learning from triplets (x, xp, xq) that arrive now, once and in the order given.

        With ``gamma="auto"`` several step sizes learn side by side, and after every 256 triplets the one is
        followed that had most of them in order before it learned from them. Labels and comparisons go
        together in one stream where ``gamma`` is a number. See :meth:`fit_triplets` for the parameters.
        """
        return self._go_on_comparing(X, triplets, ("triplets", 3))

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit_quadruplets(self: Any, X: Any, quadruplets: ArrayLike | None = None) -> Any:
        """Go on learning from quadruplets (a, b, c, d): a is nearer to b than c is to d.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or array-like of shape (t, 4, d)
            Rows that ``quadruplets`` name by their numbers, or the quadruplets themselves.
        quadruplets : array-like of int, shape (t, 4), optional
            Numbers of a, b, c and d in ``X``.
        """
        if not self._from_quadruplets:
            name = type(self).__name__
            raise ValueError(f"{name} does not learn from quadruplets; {QUADRUPLET_LEARNERS} do")
        return self._go_on_comparing(X, quadruplets, ("quadruplets", 4))

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit_pairs(
        self: Any, X: Any, pairs: ArrayLike | None = None, y: ArrayLike | None = None
    ) -> Any:
        """Go on learning from pairs that are similar (``y`` is 1) or dissimilar (-1).

        ``gamma`` has to be a number: there is no order by which a step size could be judged.

        Parameters
        ----------
        X : array-like of shape (n, d), or of shape (t, 2, d)
            Rows that ``pairs`` name by their numbers, or the pairs themselves.
        pairs : array-like of int, shape (t, 2), optional
            Numbers of the two rows in ``X``.
        y : array-like of shape (t,)
            1 and -1.
        """
        if not self._from_pairs:
            raise ValueError(
                f"{type(self).__name__} learns from triplets, not from pairs; {PAIR_LEARNERS} do"
            )
        if self._chooses():
            raise ValueError(f"gamma is {self.gamma!r}, but pairs need a number, such as gamma=0.01")
        return self._go_on_comparing(X, pairs, ("pairs", 2), _signs(y))

    def learn_triplet(self, x: Any, xp: Any, xq: Any) -> Self:
        """Learn from one triplet, see :meth:`partial_fit_triplets`."""
        return self.partial_fit_triplets(_rows_of(x=x, xp=xp, xq=xq), [[0, 1, 2]])

    def learn_pair(self, x: Any, other: Any, y: int) -> Self:
        """Learn from one pair, see :meth:`partial_fit_pairs`."""
        return self.partial_fit_pairs(_rows_of(x=x, other=other), [[0, 1]], [y])

    def _go_on_comparing(self: Any, X: Any, places: Any, kind: tuple[str, int], signs: Any = None) -> Any:
        with self._writing():
            first = not self.__sklearn_is_fitted__()
            if not first:
                require_kept(self)
            rows, index = self._compared(X, places, kind, first, signs)
            if first:
                self._forget()
            self._go_on(rows, first, OrderJudge)
            self._see(rows, index)
        return self

    def _compared(
        self: Any, X: Any, places: Any, kind: tuple[str, int], first: bool, signs: Any = None
    ) -> tuple[Any, Index]:
        """Return checked rows, and triplets of them."""
        name, size = kind
        X, index = rows_and_places(X, places, name, size)
        if signs is not None and len(signs) != len(index):
            raise ValueError(f"y has {len(signs)} entries for {len(index)} pairs")
        with features_unless_refused(self):
            rows = validate_rows(self, X, order="C", reset=first)
            require_in_range(index, rows, name)
        if size == 4:
            near, far = (rows[index[:, i + 1]] - rows[index[:, i]] for i in (0, 2))
            zeros = np.zeros_like(near) if isinstance(near, np.ndarray) else csr_array(near.shape)
            rows = _stacked([zeros, near, far])
            index = np.arange(3 * len(index)).reshape(3, -1).T
        elif signs is not None:
            x, other = index.T
            index = np.stack([x, np.where(signs > 0, other, x), np.where(signs > 0, x, other)], axis=1)
        return learnable(rows), np.ascontiguousarray(index)

    def _scan_triplets(self: Any, rows: Any, index: Index, step: float) -> None:
        """Go over all triplets, as often as ``scans`` says."""
        self._start(rows, step)
        scaled = self._scaled(rows)
        for order in self._orders(len(index)):
            show([self], TripletStream(self.triplets), scaled, index[order])

    def _orders(self: Any, size: int) -> Iterator[Index]:
        """Yield the order of each scan: a new one each time, one for all (``"once"``), or as they are."""
        random, order = check_random_state(self.random_state), np.arange(size)
        for scan in range(self.scans):
            if self.shuffle and (scan == 0 or self.shuffle != "once"):
                order = random.permutation(size)
            yield order

    def _see(self: Any, X: Any, index: Index) -> None:
        """Let triplets of a stream arrive, and look back after each block of rows, as ``_take`` does."""
        self.__dict__.pop("_room", None)  # the next single row has to be looked at
        recent = self._recent
        if recent is None:
            show([self], self._stream, self._scaled(X), index)
            return
        lengths, rows, scale, done = row_lengths(X), X, None, 0
        while done < len(index):
            part = index[done : done + max(1, recent.room // 3)]
            done += len(part)
            self._first_scale(lengths[part].ravel())
            if scale != self.scale_:
                scale, rows = self.scale_, divided(X, lengths, self.scale_, self._bound)
            self._note_shortened(int((lengths[part] > self._bound * scale).sum()))
            recent.add(rows[part.ravel()], [0] * len(part), lengths[part].ravel())
            show([self], self._stream, rows, part)
            if recent.room <= 0:
                self._look_back()


class OrderJudge(Judge):
    """Compares learners that see the same triplets, by how many were in order before they learned them."""

    def judge(self, rows: Any, codes: Sequence[int], rivals: Sequence[Any]) -> None:
        """Take in a span of triplets, whose rows are below each other, and how the learners are after it."""
        samples = [rows[i::3] for i in range(3)]
        self.note([in_order(frozen, *samples).mean(axis=1) for frozen in self.frozen], rivals)


def in_order(state: Any, x: Any, xp: Any, xq: Any) -> Array:
    """Return, for each view of a learner's state, 1 for each triplet whose xp is nearer to x than its xq."""
    found = []
    for i in range(0, x.shape[0], SPAN):  # a state compares all with all
        some = slice(i, i + SPAN)
        with np.errstate(all="ignore"):
            near, far = (
                np.array([ranks.diagonal() for ranks in state.views(x[some], others[some])])
                for others in (xp, xq)
            )
        found.append(near < far)
    right: Array = np.concatenate(found, axis=1).astype(np.float64)
    return right


def _chosen(learner: Any, rows: Any, index: Index) -> tuple[float, int]:
    """Return the step and the view that bring most held-out triplets into order, see ``fit_triplets``."""
    steps = learner._tried_steps()
    order = check_random_state(learner.random_state).permutation(len(index))
    held, kept = index[order[: len(index) // FOLDS]], index[order[len(index) // FOLDS :]]
    if not len(held):
        return float(steps[:2][-1]), int(learner._open)
    right = []
    for step in steps:
        model = clone(learner).set_params(gamma=step)
        model._forget()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # what a step warns of shows in its triplets
            model._scan_triplets(rows, kept, model._given_step())
        parts = (model._scaled(rows[held[:, i]]) for i in range(3))
        found = in_order(
            model._state, *(part.to_csr() if isinstance(part, SparseRows) else part for part in parts)
        )
        right.append(found * (not model.diverged_))
    return winner(right, steps)


def rows_and_places(X: Any, places: Any, name: str, size: int) -> tuple[Any, Index]:
    """Return rows, and the numbers (t, size) of those that are compared, from either form of comparisons."""
    if places is None:
        given: Any = X if issparse(X) else np.asarray(X, dtype=np.float64)
        if given.ndim != 3 or given.shape[1] != size or not given.size:
            raise ValueError(f"X has shape {given.shape}, expected (n_{name}, {size}, n_features) or {name}=")
        return given.reshape(-1, given.shape[2]), np.arange(len(given) * size).reshape(-1, size)
    index = np.asarray(places)
    if index.ndim != 2 or index.shape[1] != size or not len(index):
        raise ValueError(f"{name} has shape {index.shape}, expected (n_{name}, {size})")
    if index.dtype.kind not in "iu":
        raise ValueError(f"{name} has type {index.dtype}, expected numbers of rows, integers")
    return X, index.astype(np.intp)


def require_in_range(index: Index, rows: Any, name: str) -> None:
    """Refuse numbers of rows that are not there."""
    wrong = index[(index < 0) | (index >= rows.shape[0])]
    if wrong.size:
        raise ValueError(f"{name} has {wrong[0]}, expected numbers of the {rows.shape[0]} rows from 0 on")


def _signs(y: Any) -> Index:
    signs = np.asarray(y)
    wrong = [value for value in np.ravel(signs).tolist() if value not in (1, -1)]
    if signs.ndim != 1 or wrong:
        raise ValueError(
            f"y has {wrong[0]!r}, expected 1 and -1" if wrong else f"y has shape {signs.shape}, expected (t,)"
        )
    return signs.astype(np.intp)


def _rows_of(**given: Any) -> Any:
    """Return single rows below each other."""
    if any(issparse(row) for row in given.values()):
        return _stacked(
            [csr_array(np.atleast_2d(row)) if not issparse(row) else row for row in given.values()]
        )
    shapes = {name: np.shape(row) for name, row in given.items()}
    if len(set(shapes.values())) > 1 or any(len(shape) != 1 for shape in shapes.values()):
        told = ", ".join(f"{name} has shape {shape}" for name, shape in shapes.items())
        raise ValueError(f"{told}, expected rows (n_features,)")
    return np.array(list(given.values()), dtype=np.float64)


def _stacked(parts: Sequence[Any]) -> Any:
    return vstack(parts).tocsr() if issparse(parts[0]) else np.concatenate(parts)
