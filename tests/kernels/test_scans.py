"""Compiled scans against the plain NumPy ones."""

import numpy as np
import pytest

from mloml.checks import plain_online as reference
from mloml.kernels import lego, oasis, opml, rdml, slmoml
from mloml.kernels.stack import layout
from mloml.learners.triplets import scan_triplets

SCANS = {
    "opml": (opml.opml_scan, reference.opml_scan, np.eye, (1e-2,)),
    "opml, pushes shortened": (opml.opml_scan, reference.opml_scan, np.eye, (0.6,)),
    "lego": (lego.lego_scan, reference.lego_scan, np.eye, (0.2, 1.5, False, 1e-1)),
    "lego, gated": (lego.lego_scan, reference.lego_scan, np.eye, (0.2, 1.5, True, 1e-1)),
    "rdml from 0": (rdml.rdml_scan, reference.rdml_scan, lambda d: np.zeros((d, d)), (False, True, 1e-1)),
    "rdml from I": (rdml.rdml_scan, reference.rdml_scan, np.eye, (False, True, 1e-1)),
    "rdml, adjacent": (rdml.rdml_scan, reference.rdml_scan, np.eye, (True, True, 1e-1)),
    "rdml, free": (rdml.rdml_scan, reference.rdml_scan, lambda d: np.zeros((d, d)), (True, False, 1e-1)),
    "oasis": (oasis.oasis_scan, reference.oasis_scan, np.eye, (0.1,)),
    "slmoml": (slmoml.slmoml_scan, reference.slmoml_scan, np.eye, (1e-1, 1.0)),
    "slmoml, margin": (slmoml.slmoml_scan, reference.slmoml_scan, np.eye, (1e-2, 2.5)),
}


def unit_rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + rng.normal(size=(3, d))[codes]
    return X / np.linalg.norm(X, axis=1, keepdims=True), codes


@pytest.mark.parametrize("d", [1, 2, 7, 21])
@pytest.mark.parametrize("case", SCANS)
def test_compiled_scan_equals_plain_numpy(case, d):
    compiled, plain, start, parameters = SCANS[case]
    X, codes = unit_rows(60, d)
    ours, theirs = start(d), start(d)
    counted, expected = np.zeros(layout.INTEGERS, np.int64), np.zeros(layout.INTEGERS, np.int64)
    triplets = scan_triplets(codes)
    assert compiled(X, triplets, ours, *parameters, counted) == len(triplets)
    plain(X, triplets, theirs, *parameters, expected)
    np.testing.assert_allclose(ours, theirs, atol=1e-11 * max(1.0, abs(theirs).max()))
    np.testing.assert_array_equal(counted[:2], expected[:2])
    assert ("shortened" in case) <= (counted[layout.FAILURES] > 0)


@pytest.mark.parametrize("case", SCANS)
def test_coinciding_rows_leave_everything_finite(case):
    compiled, _, start, parameters = SCANS[case]
    X = np.tile([0.6, 0.8], (12, 1))
    state = start(2)
    compiled(X, scan_triplets(np.arange(12) % 2), state, *parameters, np.zeros(layout.INTEGERS, np.int64))
    np.testing.assert_array_equal(state, start(2))


@pytest.mark.parametrize("case", SCANS)
def test_no_triplets_leave_the_start(case):
    compiled, _, start, parameters = SCANS[case]
    state = start(3)
    compiled(
        np.ones((4, 3)), np.empty((0, 3), np.intp), state, *parameters, np.zeros(layout.INTEGERS, np.int64)
    )
    np.testing.assert_array_equal(state, start(3))
