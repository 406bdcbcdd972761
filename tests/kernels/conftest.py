"""Streams of triplets, and a way to run a stack by the plain NumPy scans."""

from __future__ import annotations

import numpy as np
import pytest

from mloml.checks import plain_stack as reference_stack
from mloml.kernels.padding import zeros
from mloml.kernels.stack import layout
from mloml.learners.stack_state import Propagation, StackState


def make_triplets(d, count, seed=0, rows=40):
    """Unit rows and triplets of distinct ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    triplets = np.array([rng.choice(rows, size=3, replace=False) for _ in range(count)], dtype=np.intp)
    return X, triplets


def run_plainly(state: StackState, X, triplets, how: Propagation):
    """Do what ``state.learn`` does, by the plain NumPy scans."""
    d = state.n_features
    rows = zeros(len(X), d)
    rows[:, :d] = X[:, :d]  # a learner hands them over with their padding
    activation = layout.ACTIVATIONS.index(how.activation)
    common = (rows, triplets, state.L, state.K, None, state.numbers, state.counts, state.options, activation)
    if how.strategy == "fp":
        reference_stack.fp_scan(*common, None, d)
    elif how.strategy == "bp":
        reference_stack.bp_scan(*common, how.rate, how.decay, d)
    else:
        local = 1 if how.local_loss == "hinge" else 2
        extra = (local, how.routing == "all", how.freeze_w)
        reference_stack.fbp_scan(*common, how.rate, how.decay, *extra, None, d)


@pytest.fixture
def triplets_of():
    return make_triplets


@pytest.fixture
def plainly():
    return run_plainly
