"""Triplets against the slowest possible reading of the two rules."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.online import triplets_of

from mloml.learners.triplets import RULES, TripletStream, scan_triplets

streams = st.lists(st.integers(0, 4), max_size=40)


@pytest.mark.parametrize("rule", RULES)
@given(codes=streams, seed=st.integers(0, 99))
def test_triplets_equal_the_brute_force_reading(rule, codes, seed):
    order = np.random.default_rng(seed).permutation(len(codes))
    np.testing.assert_array_equal(
        scan_triplets(codes, order, rule), triplets_of(codes, order, rule == "released")
    )


@given(codes=st.lists(st.integers(0, 1), max_size=40))
def test_two_classes_make_the_rules_one(codes):
    np.testing.assert_array_equal(scan_triplets(codes, rule="released"), scan_triplets(codes, rule="latest"))


def test_three_classes_tell_the_rules_apart():
    codes = [0, 1, 2, 1, 0, 0]
    assert scan_triplets(codes, rule="released")[-1].tolist() == [5, 4, 2]  # class 2 appeared last
    assert scan_triplets(codes, rule="latest")[-1].tolist() == [5, 4, 3]


@pytest.mark.parametrize("rule", RULES)
@given(codes=streams, cuts=st.lists(st.integers(0, 40), max_size=6), restore=st.booleans())
def test_a_stream_in_pieces_gives_the_triplets_of_one_scan(rule, codes, cuts, restore):
    X = np.arange(len(codes), dtype=float)[:, None]
    codes = np.array(codes, dtype=np.intp)
    stream = TripletStream(rule)
    found = []
    for piece in np.split(np.arange(len(codes)), sorted(c for c in cuts if c <= len(codes))):
        rows, triplets = stream.push(X[piece].reshape(-1, 1), codes[piece])
        found.append(rows[triplets, 0].reshape(-1, 3))
        if restore:
            stream = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(np.concatenate(found), scan_triplets(codes, rule=rule))


def test_a_stream_remembers_one_row_per_class_in_order_of_arrival():
    stream = TripletStream()
    stream.push(np.arange(100.0)[:, None], np.arange(100) % 3)
    rows, _ = stream.push([[100.0]], [1])
    assert rows[:, 0].tolist() == [97.0, 98.0, 99.0, 100.0]


def test_an_unknown_rule_is_refused_by_name():
    with pytest.raises(ValueError, match="'newest', allowed are 'released', 'latest'"):
        scan_triplets([0, 1, 0], rule="newest")


def test_a_negative_class_code_is_refused():
    with pytest.raises(ValueError, match="negative, found -1"):
        scan_triplets([0, -1])
