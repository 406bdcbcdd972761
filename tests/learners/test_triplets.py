"""Triplets against the slowest possible reading of the two rules."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mloml.learners.lego import distance_percentiles
from mloml.learners.triplets import RULES, TripletStream, scan_triplets

streams = st.lists(st.integers(0, 4), max_size=40)


def brute_force(codes, order, rule):
    """Read the rules off the list of everything that came before."""
    triplets = []
    for k, row in enumerate(order):
        before = list(order[:k])
        y = codes[row]
        appeared = list(dict.fromkeys(codes[i] for i in before))
        if y not in appeared or len(appeared) < 2:
            continue
        same = [i for i in before if codes[i] == y]
        others = [i for i in before if codes[i] != y]
        positive, negative = same[-1], others[-1]
        if rule == "released" and codes[before[-1]] == y:
            slot = [c for c in appeared if c != y][-1] if appeared[-1] == y else appeared[-1]
            negative = [i for i in before if codes[i] == slot][-1]
        triplets.append((row, positive, negative))
    return np.array(triplets, dtype=np.intp).reshape(-1, 3)


@pytest.mark.parametrize("rule", RULES)
@given(codes=streams, seed=st.integers(0, 99))
def test_triplets_equal_the_brute_force_reading(rule, codes, seed):
    order = np.random.default_rng(seed).permutation(len(codes))
    np.testing.assert_array_equal(scan_triplets(codes, order, rule), brute_force(codes, order, rule))


@pytest.mark.parametrize("rule", RULES)
@given(codes=streams, seed=st.integers(0, 99))
def test_triplets_keep_their_invariants(rule, codes, seed):
    codes = np.array(codes, dtype=np.intp)
    order = np.random.default_rng(seed).permutation(len(codes))
    time = np.argsort(order)
    triplets = scan_triplets(codes, order, rule)
    for t, p, q in triplets:
        assert codes[t] == codes[p] != codes[q]
        assert time[p] < time[t] and time[q] < time[t]
        between = order[time[p] + 1 : time[t]]
        assert codes[t] not in codes[between]  # p is the most recent earlier sample of its class
    eligible = [
        k
        for k, row in enumerate(order)
        if codes[row] in codes[order[:k]] and len(set(codes[order[:k]].tolist())) > 1
    ]
    assert len(triplets) == len(eligible) <= max(len(codes) - len(set(codes.tolist())), 0)
    np.testing.assert_array_equal(triplets, scan_triplets(codes, order, rule))


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


def test_percentiles_are_those_of_all_pairs():
    X = np.random.default_rng(0).normal(size=(30, 3))
    pairs = [np.sum((X[i] - X[j]) ** 2) for i in range(30) for j in range(i)]
    np.testing.assert_allclose(distance_percentiles(X, (5, 95)), np.percentile(pairs, (5, 95)))


def test_percentiles_of_many_rows_come_from_evenly_spaced_ones():
    X = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_array_equal(
        distance_percentiles(X, max_rows=8), distance_percentiles(X[np.linspace(0, 49, 8).astype(int)])
    )


def test_a_single_row_has_no_distances():
    assert distance_percentiles(np.ones((1, 3))).tolist() == [0.0, 0.0]
