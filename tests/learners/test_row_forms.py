"""Rows in every form that a user may have them in: all teach the same, by the same compiled code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

from mloml import LEGO, MLOML, MOML, OASIS, OPML, RDML, SLMOML, DiagonalMOML, LowRankMOML
from mloml.learners.compiled import ENTRIES

SETTINGS = {"scale": None, "scans": 1, "shuffle": False, "random_state": 0}
SPARSE = [
    OPML(0.1, **SETTINGS),
    OASIS(0.1, **SETTINGS),
    DiagonalMOML(1.0, **SETTINGS),
    LowRankMOML(2, gamma=0.1, **SETTINGS),
    MLOML(gamma=0.1, n_components=2, **SETTINGS),
]
ONLINE = [
    *SPARSE,
    MOML(0.1, **SETTINGS),
    MOML(0.1, cone="free", **SETTINGS),
    LEGO(0.1, **SETTINGS),
    RDML(0.1, **SETTINGS),
    SLMOML(0.1, **SETTINGS),
    MLOML(gamma=0.1, **SETTINGS),
]
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 12)), RNG.integers(0, 3, 40)
X[np.abs(X) < 1.0] = 0.0


def learned(learner):
    if isinstance(learner, MLOML):
        return np.concatenate([np.ravel(L) for L in learner.layers_])
    if isinstance(learner, OASIS):
        return learner.get_bilinear_matrix()
    M = learner.get_mahalanobis_matrix()
    return M.toarray() if issparse(M) else M


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def unaligned(array):
    room = np.empty(array.nbytes + 1, dtype=np.uint8)[1:].view(array.dtype).reshape(array.shape)
    room[:] = array
    return room


def read_only_csr():
    rows = csr_array(X)
    for part in (rows.data, rows.indices, rows.indptr):
        part.flags.writeable = False
    return rows


CASES = [(learner, form(X)) for learner in ONLINE for form in (read_only, unaligned, np.asfortranarray)]
CASES += [(learner, read_only_csr()) for learner in SPARSE]


@pytest.mark.parametrize(("learner", "rows"), CASES, ids=lambda value: type(value).__name__)
def test_rows_that_nobody_may_write_to_are_learned_by_the_code_that_is_there(learner, rows):
    ordinary = csr_array(X) if issparse(rows) else X
    for how in ("fit", "partial_fit"):
        usual = learned(getattr(clone(learner), how)(ordinary, Y))
        np.testing.assert_array_equal(learned(getattr(clone(learner), how)(rows, Y)), usual)
    several = [entry.__name__ for entry in ENTRIES if len(entry.signatures) > 1]
    assert several == [], "another kind of array was compiled for"


@pytest.mark.parametrize("learner", SPARSE, ids=repr)
def test_one_sparse_row_is_mapped_alike_whatever_the_output_is_set_to(learner):
    learner = clone(learner).fit(X, Y)
    if isinstance(learner, OASIS):
        pytest.skip("maps no rows")
    one, usual = csr_array(X[:1]), learner.transform(X[:1])[0]
    for output in ("default", "pandas"):
        mapped = learner.set_output(transform=output).transform_one(one)
        mapped = mapped.toarray()[0] if issparse(mapped) else mapped
        assert isinstance(mapped, np.ndarray)
        np.testing.assert_allclose(mapped, usual, rtol=1e-12, atol=1e-15)
    with pytest.raises(ValueError, match=r"x has shape \(2, 12\), expected one sparse row"):
        learner.transform_one(csr_array(X[:2]))
