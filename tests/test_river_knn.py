"""MetricKNN in river: its own checks, and the answers that arrays give."""

import numpy as np
import pytest

import mloml
from mloml import MOML, OASIS

river = pytest.importorskip("river")

from river import checks  # noqa: E402

from mloml.river import MetricKNN  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("metric", [MOML(gamma=1e-2), None, OASIS(gamma=1e-2)], ids=str)
def test_rivers_own_checks_pass_for_neighbours_and_none_is_skipped(metric):
    model = MetricKNN(metric)
    assert not model._unit_test_skips()
    names = set()
    for check in checks.yield_checks(model):
        names.add(check.__name__)
        check(model.clone())
    assert {"check_shuffle_features_no_impact", "check_emerging_features"} <= names and len(names) > 10


def test_neighbours_of_dicts_are_those_of_arrays():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.choice(["b", "a"], size=80).tolist()
    X[:40, 2] = 0.0
    model, arrays = MetricKNN(MOML(gamma=0.05), window=30), mloml.MetricKNN(MOML(gamma=0.05), window=30)
    assert model.predict_one({"a": 1.0}) is None
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        x = dict(zip("abc", row, strict=True)) if i >= 40 else {"b": row[1], "a": row[0]}
        if i > 0:
            assert model.predict_proba_one({**x, "unmet": 7.0}) == arrays.predict_proba_one(row)
        model.learn_one(x, label)
        arrays.learn_one(row, label)
    assert model.features == ["a", "b", "c"] and model.model.metric_.n_features_in_ == 3
    assert model.clone().model is None


def test_a_row_without_a_target_or_without_features_is_passed_over():
    model = MetricKNN(MOML(gamma=0.05))
    for x, y in [({}, "a"), ({"x": 1.0}, None), ({"x": 1.0}, float("nan"))]:
        model.learn_one(x, y)
    assert model.model is None and model.features == []
    with pytest.raises(ValueError, match="Unknown label type"):
        model.learn_one({"x": 1.0}, 2.5)
    with pytest.raises(ValueError, match="feature 'x' is 'red'"):
        model.learn_one({"x": "red"}, 1)
