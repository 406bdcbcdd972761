"""KISSME: a metric from two covariance matrices of differences, in closed form."""

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .base import Array, MetricLearner
from .batch import Codes, factor_of, labelled_rows, one_blas_thread, rank_of, span

FAILED_CONDITION = 1e12
MOST = 1e150  # largest entry of rows whose squares can be summed and inverted
CLIP_BELOW, CLIP_TO = 1e-10, 1e-6
NO_LENGTH = 1e-14  # differences of this share of the largest entry are rounding errors


class KISSME(MetricLearner):
    """Keep-it-simple-and-straightforward metric learning over all pairs of the training rows.

    With the mean outer products of differences over similar and dissimilar pairs ::

        S = 1/Ns Σ_similar (xi - xj)(xi - xj)',    D = 1/Nd Σ_dissimilar (xi - xj)(xi - xj)'
        M = clip(S⁻¹ - D⁻¹)

    The sums over all pairs are taken from class scatters, in O(n d²). When ``S⁻¹ - D⁻¹`` is not positive
    definite, its eigenvalues up to 1e-10 become 1e-6, as in the authors' toolbox. These are absolute numbers:
    rows should have a length near 1 (``StandardScaler``, ``Normalizer``). On very long rows all eigenvalues
    are that small, and nothing is learned; a ``ConvergenceWarning`` says so.

    With ``n_components=k``, the k largest eigenvalues of this M and their directions are kept, which is its
    best approximation of rank k. With fewer rows than features, directions in which no two rows differ are
    among the large ones: S is smallest there.

    Constant or collinear features, and fewer rows than features, make S or D singular. A matrix whose
    condition number exceeds 1e12 counts as failed; ``condition_`` and ``ridged_`` record what happened.
    A class of a single row has no similar pair; its row takes part in dissimilar pairs.

    Parameters
    ----------
    ridge : {"on_failure", "always"}, default="on_failure"
        Whether ``ridge_scale * trace / d`` goes on the diagonal of a failed matrix only, or of both always.
    ridge_scale : float, default=1e-6
        Relative size of the ridge.
    weight : {"pairs", "samples"}, default="pairs"
        ``"pairs"`` weighs all pairs alike, so that large classes dominate S; ``"samples"`` weighs all rows
        alike, each by the mean over its same-class and over its other-class partners.
    n_pairs : int or None, default=None
        So many similar and as many dissimilar pairs are drawn at random, with replacement, each pair as
        likely as any other (``weight`` is then ignored). None: all pairs.
    random_state : int, RandomState instance or None, default=None
        Seed of these draws.
    n_components : int or None, default=None
        Rank of the metric: ``transform`` gives so many columns. None: as many as features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Factor ``L`` with ``L'L = M``: its rows are eigenvectors of M, that of the largest eigenvalue last.
    classes_ : ndarray
        The class labels.
    condition_ : ndarray of shape (2,)
        Condition numbers of S and D before any ridge.
    ridged_ : ndarray of shape (2,)
        Whether S and D got a ridge.
    clipped_ : bool
        Whether eigenvalues had to be clipped.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> from mloml import KISSME
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(Normalizer(), KISSME(), KNeighborsClassifier(5))
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.911

    References
    ----------
    M. Koestinger, M. Hirzer, P. Wohlhart, P. M. Roth, H. Bischof. Large scale metric learning from
    equivalence constraints. CVPR 2012.
    """

    _parameter_constraints: dict = {
        "ridge": [StrOptions({"on_failure", "always"})],
        "ridge_scale": [Interval(Real, 0, None, closed="neither")],
        "weight": [StrOptions({"pairs", "samples"})],
        "n_pairs": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self, ridge: str = "on_failure", *, ridge_scale: float = 1e-6, weight: str = "pairs",
        n_pairs: int | None = None, random_state: Any = None, n_components: int | None = None,
    ) -> None:  # fmt: skip
        self.ridge = ridge
        self.ridge_scale = ridge_scale
        self.weight = weight
        self.n_pairs = n_pairs
        self.random_state = random_state
        self.n_components = n_components

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from all pairs of the rows."""
        rows, codes = labelled_rows(self, X, y)
        require_squares(rows)
        k = rank_of(self)
        with one_blas_thread():
            self._learn(rows, codes, k)
        return self

    def _learn(self, rows: Array, codes: Codes, k: int) -> None:
        """Compute the metric and keep its k leading directions."""
        V = None
        if len(rows) < rows.shape[1]:
            V = span(rows)
            # S and D are zero beside the span: one coordinate, always zero, stands for all directions there.
            rows = np.column_stack([(rows - rows.mean(axis=0)) @ V, np.zeros(len(rows))])
        if self.n_pairs is None:
            S, D = pair_covariances(rows, codes, self.weight)
        else:
            S, D = drawn_covariances(rows, codes, self.n_pairs, check_random_state(self.random_state))
        zero = (NO_LENGTH * np.abs(rows - rows.mean(axis=0)).max()) ** 2
        S_inverse, S_condition, S_ridged = self._inverse(S, zero)
        D_inverse, D_condition, D_ridged = self._inverse(D, zero)
        self.condition_ = np.array([S_condition, D_condition])
        self.ridged_ = np.array([S_ridged, D_ridged])
        M, self.clipped_ = clip(S_inverse - D_inverse)
        if self.clipped_ and np.linalg.eigvalsh(S_inverse - D_inverse)[-1] <= CLIP_BELOW:
            message = (
                f"KISSME learned nothing: all eigenvalues are at most {CLIP_BELOW:g} and were replaced; "
                "scale the rows to a length near 1"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        self.components_ = (factor_of(M) if V is None else factor_beyond(V, M, k))[-k:]

    def _inverse(self, covariance: Array, zero: float) -> tuple[Array, float, bool]:
        """Invert, with the ridge if it is due; return the inverse, the condition number and the verdict."""
        d = self.n_features_in_
        values, vectors = np.linalg.eigh(covariance)
        condition = float(values[-1] / values[0]) if values[0] > 0 else np.inf
        ridged = self.ridge == "always" or condition > FAILED_CONDITION
        if ridged:
            # All rows of a class may coincide (trace 0): then the ridge is the whole matrix.
            trace = values.sum() if values[-1] > zero else float(d)
            values = np.maximum(values, 0.0) + self.ridge_scale * trace / d
        return (vectors / values) @ vectors.T, condition, ridged


def factor_beyond(V: Array, M: Array, k: int) -> Array:
    """Return the factor of a metric of the whole space, or at least its k rows of largest eigenvalues.

    ``M`` is given on the span of V; its last coordinate stands for each of the directions beside.
    """
    inside = factor_of(M[:-1, :-1]) @ V.T
    smaller = int(np.searchsorted((inside**2).sum(axis=1), M[-1, -1]))
    beside = np.sqrt(M[-1, -1]) * complement(V, min(k, V.shape[0] - V.shape[1]))
    return np.concatenate([inside[:smaller], beside, inside[smaller:]])


def complement(V: Array, count: int) -> Array:
    """Return so many orthonormal rows, orthogonal to the orthonormal columns of V.

    With V₁ and V₂ the first and the other rows of V, and the polar decomposition ``V₁ = S P``, they are rows
    of the reflection ``I - U (I + P)⁻¹ U'``, in which U has the rows ``V₁ + S`` and V₂.
    """
    rank = V.shape[1]
    A, sizes, B = np.linalg.svd(V[:rank])
    U = V.copy()
    U[:rank] += A @ B
    rows: Array = V[rank : rank + count] @ ((B.T / (-1.0 - sizes)) @ B @ U.T)
    rows[np.arange(count), rank + np.arange(count)] += 1.0
    return rows


def require_squares(rows: Array) -> None:
    """Refuse rows whose squares, or their inverses, are not finite.

    >>> require_squares(np.array([[3e200, 1.0]]))
    Traceback (most recent call last):
    ...
    ValueError: the largest entry of X is 3e+200, expected 0 or 1e-150 to 1e+150: scale the rows
    """
    largest = float(np.abs(rows).max())
    if largest != 0.0 and not 1.0 / MOST <= largest <= MOST:
        raise ValueError(
            f"the largest entry of X is {largest:g}, expected 0 or {1 / MOST:g} to {MOST:g}: scale the rows"
        )


def pair_covariances(X: Array, codes: Codes, weight: str = "pairs") -> tuple[Array, Array]:
    """Return S and D over all pairs, from class scatters.

    A pair of classes (c, k) with ``n_c n_k`` pairs, scatters S_c and S_k and difference of means δ sums to
    ``n_k S_c + n_c S_k + n_c n_k δδ'``; the pairs inside class c sum to ``n_c S_c``. Every term is positive
    semi-definite: nothing cancels.
    """
    counts = np.bincount(codes).astype(np.float64)
    n, n_classes = X.shape[0], counts.size
    X = X - X.mean(axis=0)
    means = np.array([X[codes == c].mean(axis=0) for c in range(n_classes)])
    centred = X - means[codes]
    scatters = np.array([centred[codes == c].T @ centred[codes == c] for c in range(n_classes)])

    within, between = _class_weights(counts, n, weight)
    S = np.tensordot(within * counts, scatters, axes=1)
    D = np.tensordot(between @ counts, scatters, axes=1)
    coupling = between * np.outer(counts, counts)
    D += means.T @ (np.diag(coupling.sum(axis=1)) - coupling) @ means
    return (S + S.T) / 2, (D + D.T) / 2


def drawn_covariances(
    X: Array, codes: Codes, n_pairs: int, random: np.random.RandomState
) -> tuple[Array, Array]:
    """Return S and D over ``n_pairs`` random pairs each; every similar pair is as likely as any other."""
    order = np.argsort(codes, kind="stable")
    X, codes = X[order], codes[order]
    counts = np.bincount(codes)
    size, start, n = counts[codes], (np.cumsum(counts) - counts)[codes], len(codes)
    # A row is drawn as often as it has partners; the partner then comes from the rows after it, in a ring.
    i = random.choice(n, n_pairs, p=(size - 1) / (size - 1).sum())
    j = start[i] + (i - start[i] + 1 + random.randint(size[i] - 1)) % size[i]
    k = random.choice(n, n_pairs, p=(n - size) / (n - size).sum())
    m = (start[k] + size[k] + random.randint(n - size[k])) % n
    S, D = ((X[a] - X[b]).T @ (X[a] - X[b]) / n_pairs for a, b in ((i, j), (k, m)))
    return S, D


def _class_weights(counts: Array, n: int, weight: str) -> tuple[Array, NDArray[np.float64]]:
    """Return the weight of one pair inside each class and of one pair between two classes, summing to 1."""
    pairs_within = counts * (counts - 1) / 2
    if weight == "pairs":
        within = np.full_like(counts, 1 / pairs_within.sum())
        between = np.full((counts.size, counts.size), 1 / (n * (n - 1) / 2 - pairs_within.sum()))
    else:
        partnered = counts[counts > 1].sum()
        within = np.where(counts > 1, 2 / (np.maximum(counts - 1, 1) * partnered), 0.0)
        between = (1 / (n - counts)[:, None] + 1 / (n - counts)[None, :]) / n
    np.fill_diagonal(between, 0.0)
    return within, between


def clip(M: Array) -> tuple[Array, bool]:
    """Return M itself when positive definite, else with eigenvalues up to 1e-10 set to 1e-6."""
    M = (M + M.T) / 2
    values, vectors = np.linalg.eigh(M)
    if values[0] > 0:
        return M, False
    values = np.where(values <= CLIP_BELOW, CLIP_TO, values)
    return (vectors * values) @ vectors.T, True
