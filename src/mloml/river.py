"""The online learners in `river <https://riverml.xyz>`_ pipelines: dicts in, dicts out, features at any time.

Needs river: ``pip install 'mloml[river]'``.
"""

from collections.abc import Hashable, Iterator, Mapping
from copy import deepcopy
from math import isfinite
from typing import Any

import numpy as np
from sklearn.base import clone

from mloml import knn
from mloml.arrays import Array
from mloml.learners.labels import is_missing, require_label
from mloml.learners.online import OnlineLearner

try:
    from river.base import Classifier, SupervisedTransformer, Transformer
except ImportError as missing:
    raise ImportError("mloml.river needs river: pip install 'mloml[river]'") from missing


class Growing:
    """What models of rows that are dicts share: each feature has a place, new ones come at the end."""

    _places: dict[Hashable, int]

    @property
    def features(self) -> list[Hashable]:
        """Return the features met so far, in the order of the columns of the metric."""
        return [*self._places]

    def _teach(self, model: Any, start: Any, x: Mapping[Hashable, Any], y: Hashable) -> Any:
        """Let a model, or a copy of ``start`` if there is none yet, learn from one row; return it."""
        values = numbers_of(x)
        if is_missing(y):
            return model
        require_label(y)
        places = grown(self._places, values)
        if not places:
            return model
        row = placed(values, places)
        if model is None:
            model = clone(start).learn_one(row, y)  # a first row that is refused leaves nothing behind
            self._places = places
            return model
        model.add_features(len(places) - len(self._places))
        self._places = places
        return model.learn_one(row, y)


class MetricTransformer(Growing, SupervisedTransformer, Transformer):
    """A learned metric as a supervised transformer of river.

    It is a ``Transformer`` too: river's pipelines hand on the rows of no other supervised transformer while
    they learn, so that the model behind it would learn rows that are not mapped.

    A row is a dict. A feature that is met for the first time grows the metric by the identity, as if all rows
    so far had been zero there; a feature that is absent from a row is 0. Any hashable target is a class. Each
    output is named after the feature that it starts as: before anything is learned, rows pass unchanged but
    for their scale (and through the activations of an MLOML).

    Memory and time a row are O(d²) (RDML and SLMOML: time O(d³)) with ``d`` the features met so far, and one
    row is kept for each class.

    Parameters
    ----------
    learner : OnlineLearner
        An online learner that maps rows, like :class:`~mloml.MOML`, with its parameters. It is copied, not
        learned on. ``scans`` and ``shuffle`` mean nothing in a stream, in which each row is seen once.

    Attributes
    ----------
    metric : OnlineLearner or None
        The learner as it is now; its counters (``n_updates_``, ...) tell how it is doing. None at the start.
    features : list
        The features met so far, in the order of the columns of ``metric``.

    Examples
    --------
    >>> from mloml import MOML
    >>> from mloml.river import MetricTransformer
    >>> model = MetricTransformer(MOML(gamma=0.1, scale=None))
    >>> for x, y in [({"a": 0.0}, "no"), ({"a": 1.0, "b": 0.5}, "yes"), ({"a": 0.5}, "no")]:
    ...     model.learn_one(x, y)
    >>> {name: round(value, 2) for name, value in model.transform_one({"a": 1.0, "c": 3.0}).items()}
    {'a': 1.0, 'b': 0.01, 'c': 3.0}
    """

    def __init__(self, learner: Any) -> None:
        if not isinstance(learner, OnlineLearner) or not hasattr(learner, "transform_one"):
            raise TypeError(f"learner is {learner!r}, expected an online learner like MOML()")
        if not hasattr(learner, "transform"):
            raise TypeError(f"learner is {learner!r}, which compares rows but does not map them")
        if getattr(learner, "n_components", None) is not None:
            raise TypeError(f"learner is {learner!r}: n_components outputs cannot be named after features")
        self.learner = learner
        self.metric: OnlineLearner | None = None
        self._places: dict[Hashable, int] = {}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        """Yield parameters for river's own estimator checks."""
        from mloml import MLOML, MOML, OPML

        for learner in (MOML(), MLOML(), OPML()):
            yield {"learner": learner}

    def learn_one(self, x: Mapping[Hashable, Any], y: Hashable) -> None:  # type: ignore[override]
        """Learn from one row and its target; an empty row, or one without a target, is passed over."""
        if isinstance(y, float) and not y.is_integer() and not is_missing(y):  # here any target is a class
            y = (y,)
        self.metric = self._teach(self.metric, self.learner, x, y)

    def transform_one(self, x: Mapping[Hashable, Any]) -> dict[Hashable, float]:
        """Map one row to the space in which Euclidean distance is the learned metric."""
        values = numbers_of(x)
        if self.metric is None:
            return values
        metric, places = self.metric, grown(self._places, values)
        if len(places) > len(self._places):  # the row as it would be if they had been met; nothing changes
            metric = deepcopy(metric).add_features(len(places) - len(self._places))
        return dict(zip(places, metric.transform_one(placed(values, places)).tolist(), strict=True))


class MetricKNN(Growing, Classifier):
    """:class:`mloml.MetricKNN` as a classifier of river: nearest neighbours under a metric that learns.

    A row is a dict. A feature that is met for the first time grows the metric by the identity, as if all rows
    so far had been zero there; a feature that is absent from a row is 0. Predictions ignore features that
    have not been learned from yet. Any hashable target but a fraction is a class.

    Parameters
    ----------
    metric, n_neighbors, window, weights
        See :class:`mloml.MetricKNN`. A metric of ``n_components`` rows takes no new features on the way.

    Attributes
    ----------
    model : mloml.MetricKNN or None
        The classifier as it is now, and in ``model.metric_`` its metric. None at the start.
    features : list
        The features met so far, in the order of the columns of the metric.

    Examples
    --------
    >>> from mloml import MOML
    >>> from mloml.river import MetricKNN
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> model = preprocessing.StandardScaler() | MetricKNN(MOML(gamma=1e-2))
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89.27%
    """

    def __init__(
        self, metric: Any = "auto", n_neighbors: int = 5, window: int | None = 1000, weights: str = "uniform"
    ) -> None:
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.window = window
        self.weights = weights
        self.model: knn.MetricKNN | None = None
        self._places = {}

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        """Yield parameters for river's own estimator checks."""
        from mloml import MOML

        for metric in (MOML(gamma=1e-2), None):
            yield {"metric": metric}

    def learn_one(self, x: Mapping[Hashable, Any], y: Hashable) -> None:
        """Learn from one row and its target; an empty row, or one without a target, is passed over."""
        start = knn.MetricKNN(
            self.metric, n_neighbors=self.n_neighbors, window=self.window, weights=self.weights
        )
        self.model = self._teach(self.model, start, x, y)

    def predict_proba_one(self, x: Mapping[Hashable, Any], **options: Any) -> dict[Any, float]:
        """Return each class's share of the votes."""
        values = {name: value for name, value in numbers_of(x).items() if name in self._places}
        return {} if self.model is None else self.model.predict_proba_one(placed(values, self._places))


def numbers_of(x: Mapping[Hashable, Any]) -> dict[Hashable, float]:
    """Return the row with its values as floats.

    >>> numbers_of({"colour": "red"})
    Traceback (most recent call last):
    ...
    ValueError: feature 'colour' is 'red', expected a finite number
    """
    values = {}
    for name, value in x.items():
        try:
            number = float(value) if not isinstance(value, str) else np.nan
        except (TypeError, ValueError):
            number = np.nan
        if not isfinite(number):
            raise ValueError(f"feature {name!r} is {value!r}, expected a finite number")
        values[name] = number
    return values


def grown(places: Mapping[Hashable, int], values: Mapping[Hashable, float]) -> dict[Hashable, int]:
    """Return the places with new features at the end, in the same order for every order of the row's dict.

    >>> grown({"z": 0}, {"b": 1.0, "a": 2.0, 3: 4.0})
    {'z': 0, 3: 1, 'a': 2, 'b': 3}
    """
    new = sorted(values.keys() - places.keys(), key=lambda name: (type(name).__name__, str(name)))
    return {name: place for place, name in enumerate([*places, *new])}


def placed(values: Mapping[Hashable, float], places: Mapping[Hashable, int]) -> Array:
    """Return the row as an array, with zeros for absent features.

    >>> placed({"b": 2.0}, {"a": 0, "b": 1})
    array([0., 2.])
    """
    row = np.zeros(len(places))
    for name, value in values.items():
        row[places[name]] = value
    return row
