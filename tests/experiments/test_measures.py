"""Measures of streams against river's, and against loops over the labels."""

import numpy as np
import pytest
from river import dummy, metrics

from mloml.experiments.measures import BLOCKS, beyond, blocks, kappa, last_label, majority

rng = np.random.default_rng(11)
LABELS = np.repeat(rng.integers(3, size=120), rng.integers(1, 5, size=120))
GUESSES = np.where(rng.random(LABELS.size) < 0.6, LABELS, rng.integers(3, size=LABELS.size))


def hits_of(model) -> int:
    hits = 0
    for i, label in enumerate(LABELS.tolist()):
        hits += i > 0 and model.predict_one({}) == label
        model.learn_one({}, label)
    return hits


def test_trivial_rules_are_those_of_river():
    assert last_label(LABELS) == hits_of(dummy.NoChangeClassifier())
    assert majority(LABELS.tolist()) == hits_of(dummy.PriorClassifier())


def test_kappa_is_rivers():
    theirs, confusion = metrics.CohenKappa(), np.zeros((3, 4), dtype=int)
    for label, guess in zip(LABELS.tolist(), GUESSES.tolist(), strict=True):
        theirs.update(label, guess)
        confusion[label, guess] += 1
    assert kappa(confusion) == pytest.approx(theirs.get())


def test_kappas_against_a_rule_compare_the_mistakes():
    tested = LABELS.size - 1
    wrong = int((GUESSES[1:] != LABELS[1:]).sum())
    for hits in (last_label(LABELS), majority(LABELS.tolist())):
        assert beyond(1 - wrong / tested, hits / tested) == pytest.approx(1 - wrong / (tested - hits))
    assert np.isnan(beyond(0.5, 1.0))


@pytest.mark.parametrize("rows", [2, 150, 200, 1461, 8000])
def test_blocks_are_in_order_and_of_nearly_equal_size(rows):
    found = blocks(rows)
    assert len(found) == rows - 1 and (np.diff(found) >= 0).all() and found.max() < BLOCKS
    sizes = np.bincount(np.append(0, found), minlength=BLOCKS)  # the first sample is of the first block
    assert sizes.max() - sizes.min() <= 1
