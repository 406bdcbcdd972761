"""Rows in every form that a user may have them in, dense and sparse: all teach the same, by the same code."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from tests.learners.contract import (  # isort: skip
    RAW, RAW_Y, SPARSE, STEP, assert_close, dense, every, learned, make, online, output, sparse,
)  # fmt: skip

from mloml.learners.compiled import ENTRIES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
HOLES = np.where(np.random.default_rng(0).random(RAW.shape) < 0.5, 0.0, RAW)


class NeverDense(csr_array):
    """Sparse rows that nobody may make dense."""

    def toarray(self, *args, **options):
        raise AssertionError("made dense")

    todense = toarray


def read_only(rows):
    rows = rows.copy()
    for part in (rows.data, rows.indices, rows.indptr) if issparse(rows) else (rows,):
        part.flags.writeable = False
    return rows


def unaligned(rows):
    room = np.empty(rows.nbytes + 1, dtype=np.uint8)[1:].view(rows.dtype).reshape(rows.shape)
    room[:] = rows
    return room


@online
def test_rows_that_nobody_may_write_to_are_learned_by_the_code_that_is_there(name):
    forms = [(HOLES, form(HOLES)) for form in (read_only, unaligned, np.asfortranarray)]
    if name in SPARSE:
        forms.append((csr_array(HOLES), read_only(csr_array(HOLES))))
    for usual, rows in forms:
        for how in ("fit", "partial_fit"):
            one, other = (getattr(make(name), how)(given, RAW_Y) for given in (usual, rows))
            np.testing.assert_array_equal(learned(one), learned(other))
    several = [entry.__name__ for entry in ENTRIES if len(getattr(entry, "signatures", "")) > 1]
    assert several == [], "another kind of array was compiled for"


@every
def test_sparse_rows_are_taken_or_refused_in_one_line(name):
    if name in SPARSE:
        make(name).fit(csr_array(HOLES), RAW_Y)
        return
    refusal = r"takes no sparse rows; DiagonalMOML, .* do$|dense data is required"
    with pytest.raises(TypeError, match=refusal):
        make(name).fit(csr_array(HOLES), RAW_Y)
    with pytest.raises(TypeError, match=refusal):
        output(make(name).fit(HOLES, RAW_Y), csr_array(HOLES))
    if name in STEP:
        with pytest.raises(TypeError, match=refusal):
            make(name).learn_one(csr_array(HOLES[:1]), 0)


@sparse
def test_sparse_rows_teach_what_dense_rows_teach_and_are_never_made_dense(name):
    thin, full = make(name).fit(NeverDense(HOLES), RAW_Y), make(name).fit(HOLES, RAW_Y)
    assert thin.scale_ == full.scale_ and np.all(thin.n_updates_ > 0)
    assert_close(thin, full)
    np.testing.assert_array_equal(thin.n_cone_failures_, full.n_cone_failures_)
    np.testing.assert_allclose(dense(output(thin, csr_array(HOLES))), output(thin, HOLES), rtol=1e-9)


@sparse
def test_a_stream_may_be_sparse_dense_or_both(name):
    streams = [make(name).partial_fit(form(HOLES[:20]), RAW_Y[:20]) for form in (csr_array, np.asarray) * 2]
    for i in range(20, 60):
        row, label = HOLES[i : i + 1], RAW_Y[i]
        streams[0].learn_one(csr_array(row), label)
        streams[1].learn_one(row[0], label)
        streams[2].partial_fit(row if i % 2 else csr_array(row), [label])
        streams[3].learn_one(csr_array(row) if i % 3 else row[0], label)
    if "init" not in streams[0].get_params():
        streams.append(make(name).partial_fit(HOLES, RAW_Y))
    for stream in streams[1:]:
        assert_close(pickle.loads(pickle.dumps(stream)), streams[0])


@sparse
def test_sparse_rows_in_any_order_with_repetitions_are_read_right_and_left_alone(name):
    entries, columns = np.array([1.0, 2.0, 0.5, 3.0, -1.0, 0.0, 4.0, 1.0]), [3, 0, 3, 2, 1, 0, 1, 2]
    rows = csr_array((entries, columns, [0, 3, 3, 5, 8]), shape=(4, 4))
    before = [part.copy() for part in (rows.data, rows.indices, rows.indptr)]
    learner = make(name, scale=None).partial_fit(rows, [0, 1, 0, 1])
    for part, old in zip((rows.data, rows.indices, rows.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)
    assert_close(learner, make(name, scale=None).partial_fit(rows.toarray(), [0, 1, 0, 1]))


@sparse
def test_one_sparse_row_is_mapped_alike_whatever_the_output_is_set_to(name):
    if name == "OASIS":
        pytest.skip("maps no rows")
    learner = make(name).fit(HOLES, RAW_Y)
    usual = learner.transform(HOLES[:1])[0]
    for kind in ("default", "pandas"):
        mapped = learner.set_output(transform=kind).transform_one(csr_array(HOLES[:1]))
        mapped = mapped.toarray()[0] if issparse(mapped) else mapped
        assert isinstance(mapped, np.ndarray)
        np.testing.assert_allclose(mapped, usual, rtol=1e-12, atol=1e-15)
    with pytest.raises(ValueError, match=r"x has shape \(2, 4\), expected one sparse row"):
        learner.transform_one(csr_array(HOLES[:2]))


@sparse
def test_bad_sparse_rows_are_named(name):
    learner = make(name).partial_fit(csr_array(HOLES), RAW_Y)
    outside = csr_array((np.ones(2), [0, 9], [0, 2]), shape=(1, 4))  # SciPy does not look
    for row, message in (
        (csr_array(HOLES[:2]), r"x has shape \(2, 4\), expected one sparse row"),
        (outside, "column indices outside of 0 to 3"),
        (csr_array(HOLES[:1, :3]), "x has 3 features"),
        (csr_array([[0.0, np.nan, 0.0, 0.0]]), "NaN or infinity"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.learn_one(row, 0)
    with pytest.raises(ValueError, match="column indices outside of 0 to 3"):
        learner.partial_fit(outside, [0])
