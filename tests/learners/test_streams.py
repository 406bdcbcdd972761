"""A small version of ``benchmarks/streams.py``: online learners on a stream whose world changes half-way."""

import numpy as np
import pytest

from mloml.experiments.scoring import Rows
from mloml.learners import MLOML, MOML, Euclidean

FEATURES, CALL = 20, 5_000


def rows(rng, count, first):
    """Three classes; the features from ``first`` on tell them apart."""
    y = rng.integers(0, 3, count)
    X = rng.normal(size=(count, FEATURES))
    X[np.arange(count), first + y] += 2.0
    return X / np.sqrt(FEATURES + 4.0), y  # of norm 1 in the mean of squares


def stream(learner):
    """Yield the learner after each call: four before the change and four after."""
    rng = np.random.default_rng(0)
    for first in (0, 0, 0, 0, 10, 10, 10, 10):
        yield learner.partial_fit(*rows(rng, CALL, first))


def accuracy(learner, first):
    rng = np.random.default_rng(1)
    (X, y), (X_score, y_score) = rows(rng, 1_000, first), rows(rng, 1_000, first)
    return 1 - Rows(X, y, X_score, y_score, k=5).error(learner)


def steps_and_least(learner):
    """Return, after each call, the steps so far and the least eigenvalue of each layer."""
    steps, least = [], []
    for seen in stream(learner):
        steps.append(np.atleast_1d(seen.n_updates_))
        layers = getattr(seen, "layers_", None)
        factors = [seen.components_] if layers is None else layers
        least.append([np.linalg.svd(L, compute_uv=False)[-1] ** 2 for L in factors])
    return np.diff(steps, axis=0, prepend=0), np.array(least)


LEARNERS = [
    MOML(gamma=1e-2),
    MLOML(activation="relu", gamma=1e-2),
    MLOML(activation="sigmoid", gamma=1e-2),
    MLOML(activation="tanh", gamma=1e-2, propagation="fbp"),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_layer_goes_on_learning_and_stays_invertible(learner):
    steps, least = steps_and_least(learner)
    assert steps.min() > 0.05 * CALL
    assert least.min() > 1e-5


@pytest.mark.parametrize("length", [0.05, 5.0, 100.0])
def test_rows_of_any_length_are_learned_from_without_an_end(length):
    learner, rng, steps = MOML(gamma=0.1), np.random.default_rng(0), []
    for _ in range(6):
        X, y = rows(rng, CALL, 0)
        steps.append(learner.partial_fit(length * X, y).n_updates_)
    assert np.diff(steps).min() > 0.1 * CALL
    assert np.isfinite(learner.components_).all()


def test_what_was_learned_follows_the_change():
    learner = MOML(gamma=3e-3)
    plain = [accuracy(Euclidean().fit(*rows(np.random.default_rng(0), 9, 0)), first) for first in (0, 10)]
    for call, seen in enumerate(stream(learner)):
        if call == 3:
            assert accuracy(seen, 0) > plain[0] + 0.02
            assert accuracy(seen, 10) < accuracy(seen, 0) - 0.02
    assert accuracy(learner, 10) > plain[1] + 0.02
