"""Metric layers that learn one after the other, each from all rows: a pipeline of batch learners."""

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mloml.arrays import Array

from .kissme import KISSME
from .layers import ACTIVATIONS, activate
from .lmdml import LMDML
from .lmnn import LMNN
from .moml import MOML
from .rows import scale_of, validate_rows

# The learners that a config may stack, with their defaults.
BASES: dict[str, Any] = {"kissme": KISSME, "lmdml": LMDML, "lmnn": LMNN, "moml": MOML}


def stack(learners: Sequence[Any], activation: str = "tanh") -> Pipeline:
    """Return a pipeline of metric learners with a non-linearity between them.

    Each learner is fitted to what those below make of all rows. Before the non-linearity, rows are divided by
    the root mean square of their lengths: a learner decides how long its outputs are, and those of long rows
    would all be -1 or 1 after tanh. One number for all features leaves the learned metric as it is, which a
    ``StandardScaler`` there would undo; that belongs before the first learner.

    Parameters
    ----------
    learners : sequence of transformers
        Of this package or others, batch or online; they are copied.
    activation : {"relu", "sigmoid", "tanh"}, default="tanh"

    Examples
    --------
    >>> from mloml import KISSME, MOML, stack
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> layers = stack([KISSME(), KISSME(), MOML(random_state=0)])
    >>> model = make_pipeline(StandardScaler(), layers, KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, X, y).mean():.3f}")
    0.967
    """
    first, *others = (clone(learner) for learner in learners)
    return make_pipeline(first, *(step for each in others for step in (Activation(activation), each)))


class Activation(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Divides rows by the root mean square of their lengths, ``scale_``, and applies a non-linearity."""

    _parameter_constraints: dict[str, list[Any]] = {"activation": [StrOptions(set(ACTIVATIONS))]}

    def __init__(self, activation: str = "tanh") -> None:
        self.activation = activation

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find out how long rows are."""
        self._validate_params()
        self.scale_ = scale_of(validate_rows(self, X), "auto")
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Map rows, feature by feature."""
        check_is_fitted(self)
        return activate(validate_rows(self, X, reset=False) / self.scale_, self.activation)


class BatchStack(TransformerMixin, BaseEstimator):
    """A :func:`stack` that configs can name: ``layers`` are names of learners, with their defaults."""

    def __init__(
        self, layers: Sequence[str] = ("kissme",), activation: str = "tanh", random_state: Any = None
    ) -> None:
        self.layers = layers
        self.activation = activation
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn layer by layer."""
        learners = [BASES[name]() for name in self.layers]
        for learner in learners:
            if "random_state" in learner.get_params():
                learner.set_params(random_state=self.random_state)
        self.pipeline_ = stack(learners, self.activation).fit(X, y)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Map rows through all layers."""
        mapped: Array = self.pipeline_.transform(X)
        return mapped
