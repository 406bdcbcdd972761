"""What the batch learners share: labels without pairs, bad parameters, seeds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from mloml import KISSME, LMDML, LMNN, MLCC

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("learner", [KISSME(), LMDML(), LMNN(), MLCC()], ids=str)
@pytest.mark.parametrize(("y", "message"), [([0] * 4, "1 class"), ([0, 1, 2, 3], "at least two")])
def test_labels_without_pairs_of_both_kinds_are_refused(learner, y, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(np.arange(8.0).reshape(4, 2) ** 2, y)


BAD = {
    "ridge": KISSME(ridge="never"),
    "bound": LMDML(bound=0),
    "mu": LMNN(mu=2.0),
    "reading": MLCC(reading="R-B"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters_are_named(name):
    with pytest.raises(ValueError, match=f"'{name}' parameter of {type(BAD[name]).__name__}"):
        BAD[name].fit(X, Y)


@pytest.mark.parametrize("learner", [KISSME(n_pairs=100), LMDML(max_epochs=2), MLCC(max_rounds=2)], ids=str)
def test_the_seed_decides(learner):
    first, same, other = (
        clone(learner).set_params(random_state=seed).fit(X, Y).components_ for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
