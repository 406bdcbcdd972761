"""What the batch learners share: labels without pairs, bad parameters, seeds, rows of any size."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import normalize

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


@pytest.mark.parametrize("learner", [KISSME, LMDML, LMNN, MLCC])
def test_only_the_first_parameter_goes_without_its_name(learner):
    _, *others = inspect.signature(learner).parameters.values()
    assert {parameter.kind for parameter in others} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("learner", [KISSME(n_components=5), LMNN(n_components=5)], ids=str)
def test_more_components_than_features_are_refused(learner):
    with pytest.raises(ValueError, match=r"n_components=5 is more than the 4 feature\(s\)"):
        learner.fit(X, Y)


@pytest.mark.parametrize("learner", [KISSME(n_pairs=100), LMDML(max_epochs=2), MLCC(max_rounds=2)], ids=str)
def test_the_seed_decides(learner):
    first, same, other = (
        clone(learner).set_params(random_state=seed).fit(X, Y).components_ for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


ANY_SIZE = [LMNN(), LMNN(n_components=2), LMNN(init="lda"), MLCC(2), MLCC(2, reading="whole")]


@pytest.mark.parametrize("size", [1e-323, 1e-315, 1e-310, 1e-300, 1e150, 1e308])
@pytest.mark.parametrize("learner", ANY_SIZE, ids=str)
@pytest.mark.filterwarnings("error")
def test_rows_near_the_ends_of_all_numbers_are_learned_like_others(learner, size):
    odd = size * normalize(X)
    ordinary = np.ldexp(odd, 20 - np.frexp(np.abs(odd).max())[1])  # the same digits
    one, other = clone(learner).fit(odd, Y), clone(learner).fit(ordinary, Y)
    mapped, expected = one.transform(odd), other.transform(ordinary)
    factor = np.abs(expected).max() / np.abs(mapped).max()
    assert np.isfinite(one.components_).all()
    np.testing.assert_allclose(mapped * factor, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert factor == pytest.approx(1.0) or (size < 1e-300 and factor > 1.0)  # 1 unless L became infinite


@pytest.mark.parametrize("learner", ANY_SIZE, ids=str)
@pytest.mark.filterwarnings("error")
def test_features_below_the_last_digit_of_others_change_nothing(learner):
    one, wide = clone(learner).fit(X, Y), clone(learner).fit(np.hstack([X, 1e-310 * X]), Y)
    distances = np.linalg.norm(one.transform(X[:50]) - one.transform(X[50:100]), axis=1)
    same = np.linalg.norm(wide.components_[:, :4] @ (X[:50] - X[50:100]).T, axis=0)
    np.testing.assert_allclose(same, distances, rtol=1e-2)  # rounding moves where descents end
