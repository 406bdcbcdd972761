"""``gamma="auto"``: a few step sizes side by side, judged on rows that they have not learned from yet.

The judge is a nearest neighbour. Triplets would cost nothing, but they mislead: in a trial on 23 settings,
one pass each, the step with the most triplets in order lost up to .14 to plain 5-NN, and that with the least
hinge up to .08; the best one by 1-NN among 256 rows gained .013 to .015 in the mean.
"""

import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mloml.arrays import Array, Index

from .rows import BOUND, SparseRows, divided, row_lengths

# The step sizes tried; 0 learns nothing.
GAMMAS = (0.0, 1e-3, 1e-2, 3e-2, 1e-1)

BLOCK = 64  # rows of a stream after which its scale is looked at
SPAN = 256  # rows of a stream that step sizes are judged on
HISTORY, HALF_LIFE = 32, 8  # spans that are remembered, and after how many they count half
ERRORS, DOUBT = 1.5, 0.0005  # standard errors that one must be better by; variance that few spans do not show

FOLDS, NEIGHBOURS = 5, 5  # of the validation inside ``fit``
MOST_FOLDED = 2000  # rows; of more, one part is held out, at most so many
FEWEST = 10  # rows; of fewer, nothing can be told
AT_ONCE = 2**22  # distances that are held at a time


class Recent:
    """The last rows of a stream; it is looked back at them when 1, 2, 4, ... 64 have come, then every 64.

    ``count`` is how many rows have come so far, ``room`` how many may come before it is looked back. The rows
    themselves are kept, divided by the scale, only while ``keep`` is true.

    >>> Recent(count=5).room
    3
    """

    def __init__(self, count: int) -> None:
        self.count, self.keep = count, False
        self.lengths = np.zeros(BLOCK)
        self.parts: list[Any] = []
        self.codes: list[int] = []
        self.await_look()

    def await_look(self) -> None:
        """Allow for rows up to the next look."""
        count = self.count
        self.room = BLOCK - count % BLOCK if count >= BLOCK else (1 << count.bit_length()) - count

    def add(self, rows: Any, codes: Sequence[int], lengths: Array) -> None:
        """Take in rows that came together, not more than there is room for."""
        self.lengths[(self.count + np.arange(len(rows))) % BLOCK] = lengths
        if self.keep:
            self.parts.append(rows / 1.0)  # a copy: the user's own array may be filled anew
            self.codes.extend(codes)
        self.count += len(rows)
        self.room -= len(rows)

    def add_one(self, room: Array, code: int) -> None:
        """Take in the last row of a triplet's room; its length has been noted."""
        if self.keep:
            self.parts.append(room[:, 2].copy())
            self.codes.append(code)
        self.count += 1
        self.room -= 1

    def rows(self) -> Any:
        """Return the kept rows as one matrix."""
        return joined([part.to_csr() if isinstance(part, SparseRows) else part for part in self.parts])

    def divide(self, scale: float) -> None:
        """Divide the kept rows, and shorten them, as the rows to come will be."""
        self.parts = [divided(part, row_lengths(part), scale, BOUND) for part in self.parts]

    def widen(self, n_features: int) -> None:
        """Give the kept rows more features, zeros."""
        self.parts = [wider(part, n_features) for part in self.parts]

    def forget(self) -> None:
        """Begin a new block."""
        self.parts, self.codes = [], []

    def last_lengths(self) -> Array:
        """Return the lengths of the last rows."""
        return self.lengths[: self.count] if self.count < BLOCK else self.lengths


class Judge:
    """Compares learners that see the same stream, by how often a row's nearest neighbour has its class.

    A span of rows is judged by the learners as they were before it came: both the rows and their neighbours
    are new to them. (Neighbours that had been learned from would favour long steps.)
    """

    def __init__(self, rivals: Sequence[Any]) -> None:
        self.hits: deque[Array] = deque(maxlen=HISTORY)
        self.frozen = [rival.frozen() for rival in rivals]

    def judge(self, rows: Any, codes: Sequence[int], rivals: Sequence[Any]) -> None:
        """Take in a span of rows, and how the learners are after it."""
        classes = np.asarray(codes)

        def share(ranks: Array) -> float:
            np.fill_diagonal(ranks, np.inf)
            return float((classes[ranks.argmin(axis=1)] == classes).mean())

        with np.errstate(all="ignore"):
            hits = [[share(ranks) for ranks in frozen.views(rows, rows)] for frozen in self.frozen]
        self.note(hits, rivals)

    def note(self, hits: Sequence[Any], rivals: Sequence[Any]) -> None:
        """Keep the hits of each learner's views, the learners of one view side by side."""
        self.hits.append(np.transpose(hits).ravel())
        self.frozen = [rival.frozen() for rival in rivals]

    def best(self, leader: int) -> int:
        """Return the place to follow: the best, if it is surely better than the leader's and the first.

        Places count the learners of the first view, then those of the second; ties go to the first.
        """
        hits = np.array(self.hits)
        weights = 0.5 ** (np.arange(len(hits))[::-1] / HALF_LIFE)
        weights /= weights.sum()

        def surely(one: int, other: int) -> bool:
            return more(hits[:, one] - hits[:, other], weights, ERRORS, DOUBT)

        best = int((weights @ hits).argmax())
        if not surely(best, 0):
            return 0
        return leader if surely(leader, 0) and not surely(best, leader) else best

    def widen(self, n_features: int) -> None:
        """Follow learners that have more features now."""
        for frozen in self.frozen:
            frozen.widen(n_features)


def joined(parts: Sequence[Any]) -> Any:
    """Return matrices below each other; sparse, if one of them is."""
    if len(parts) == 1:
        return parts[0]
    return vstack(parts).tocsr() if any(issparse(part) for part in parts) else np.concatenate(parts)


def wider(rows: Any, n_features: int) -> Any:
    """Return rows with more features, zeros."""
    if isinstance(rows, SparseRows):
        return replace(rows, n_features=n_features)
    return np.hstack([rows, np.zeros((len(rows), n_features - rows.shape[1]))])


def more(differences: Array, weights: Array, errors: float = 1.0, doubt: float = 0.0) -> bool:
    """Say whether the weighted mean of differences is above zero by more than some standard errors.

    >>> thirds = np.full(3, 1 / 3)
    >>> more(np.array([1.0, 1.0, 0.0]), thirds), more(np.array([1.0, -1.0, 0.5]), thirds)
    (True, False)
    """
    mean, share = float(differences @ weights), float(weights @ weights)
    return mean > errors * sqrt(share * (float((differences - mean) ** 2 @ weights) + doubt * share))


def winner(hits: Any, steps: Sequence[float]) -> tuple[float, int]:
    """Return the step and the view to take, given the ``hits`` (steps, views, rows).

    It is the first step in the first view, unless the best step of a later view, or of the same, has more
    hits than what is taken so far by over a standard error. In a trial inside training halves of 14 data sets
    (relu, tanh, sigmoid) this gave errors of .184, .181 and .183. The best of all gave .183, .181 and .180,
    and went deeper more often; the best, if clearly better than the first, .186, .182 and .180; the
    shallowest that is not clearly worse than the best, .184, .183 and .182.
    """
    right, step, view = np.asarray(hits), 0, 0
    for each in range(right.shape[1]):
        best = int(right[:, each].mean(axis=1).argmax())
        difference = right[best, each] - right[step, view]
        if more(difference, np.full(difference.size, 1 / difference.size)):
            step, view = best, each
    return float(steps[step]), view


def chosen(learner: Any, rows: Any, codes: Index) -> tuple[float, int]:
    """Return the step size and the view whose metric classifies rows best that it has not learned from.

    With up to 2,000 rows that is 5-fold cross-validation; of more, a fifth is held out, 2,000 rows at most.
    Classified is by 5 nearest neighbours. One fit per step gives the hits of all its views, which are the
    depths of a stack; :func:`winner` decides.
    """
    steps, n = learner._tried_steps(), len(rows)
    if n < FEWEST or len(np.unique(codes)) < 2:
        return float(steps[:2][-1]), int(learner._open)
    random = check_random_state(learner.random_state)
    order = random.permutation(n)
    fold = np.empty(n, dtype=np.intp)
    fold[order[np.argsort(codes[order], kind="stable")]] = np.arange(n) % FOLDS  # each class in every fold
    hits = []
    for k in range(FOLDS if n <= MOST_FOLDED else 1):
        held = np.flatnonzero(fold == k)[:MOST_FOLDED]
        kept = np.delete(np.arange(n), held)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # what a step warns of shows in its hits
            models = learner._fit_steps(rows[kept], codes[kept], steps)
        hits.append([_hits(model, rows, codes, kept, held) for model in models])
    return winner(np.concatenate(hits, axis=2), steps)


def _hits(model: Any, rows: Any, codes: Index, kept: Index, held: Index) -> Array:
    """Return for each view 1 for each held-out row that a fitted learner classifies rightly, else 0."""
    near, far = (model._scaled(rows[part]) for part in (kept, held))
    near = near.to_csr() if isinstance(near, SparseRows) else near
    far = far.to_csr() if isinstance(far, SparseRows) else far
    step, found = max(1, AT_ONCE // kept.size), []
    k = min(NEIGHBOURS, kept.size)
    for first in range(0, held.size, step):
        views = model._state.views(far[first : first + step], near)
        found.append(codes[kept][np.array([_nearest(ranks, k) for ranks in views])])
    votes = np.concatenate(found, axis=1)
    counts = (votes[..., np.newaxis] == votes[..., np.newaxis, :]).sum(axis=-1)
    winners = np.take_along_axis(votes, counts.argmax(axis=-1)[..., np.newaxis], axis=-1)[..., 0]
    right: Array = (winners == codes[held]).astype(np.float64)
    if model.diverged_:  # only rows as they are count then
        right[int(model._open) :] = 0.0
    return right


def _nearest(ranks: Array, k: int) -> Index:
    """Return the places of the k least ranks of each row, the first of equal ones; overwrites them.

    For few neighbours that takes a tenth of the time of ``argpartition``.
    """
    rows, found = np.arange(len(ranks)), np.empty((len(ranks), k), dtype=np.intp)
    for place in found.T:
        place[:] = ranks.argmin(axis=1)
        ranks[rows, place] = np.inf
    return found
