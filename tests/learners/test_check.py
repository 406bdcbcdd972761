"""Known answers: those in the package are what the plain learners give, and code that differs is refused."""

import numpy as np
import pytest
from tests.oracles.answers import ALGORITHMS

from mloml.errors import KernelError
from mloml.learners import check


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_known_answers_are_those_of_the_plain_learners(algorithm):
    found = [check.digest(result) for result in ALGORITHMS[algorithm]()]
    np.testing.assert_allclose(check.answers()[algorithm], found, rtol=1e-9, atol=1e-9)


def test_every_algorithm_has_an_answer_and_another_number_is_refused(monkeypatch):
    known = check.answers()
    assert known.keys() == ALGORITHMS.keys()
    check.check("rows")
    monkeypatch.setattr(check, "answers", lambda: {"rows": np.array(known["rows"]) * (1 + 1e-5)})
    with pytest.raises(KernelError, match="the compiled code of rows"):
        check.check("rows")
