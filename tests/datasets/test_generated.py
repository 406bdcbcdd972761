"""Balance against its rule, waveform against Breiman's definition."""

import dataclasses

import numpy as np
import pytest

from mloml.datasets import DatasetConfig, DataSettings, catalogue, load
from mloml.datasets.dataset import Table, make_dataset
from mloml.datasets.generated import balance, indicators, waveform
from mloml.errors import ConfigError

KNOWN = catalogue()


def test_balance_is_every_state_once_with_the_side_of_the_larger_torque():
    table = balance()
    rows = [tuple(map(int, row)) for row in table.X]
    states = [
        (a, b, c, d) for a in range(1, 6) for b in range(1, 6) for c in range(1, 6) for d in range(1, 6)
    ]
    assert rows == states
    for (left, left_arm, right, right_arm), label in zip(rows, table.labels, strict=True):
        torque = left * left_arm - right * right_arm
        assert label == ("L" if torque > 0 else "R" if torque < 0 else "B")


def wave(k: int, i: int) -> float:
    """Breiman's base waves: triangles of height 6 around 11, 15 and 7, for i = 1..21."""
    peak = {1: 11, 2: 15, 3: 7}[k]
    return max(6 - abs(i - peak), 0)


PAIRS = {"0": (1, 2), "1": (1, 3), "2": (2, 3)}


@pytest.mark.parametrize("label", PAIRS)
def test_waveform_has_the_moments_of_breimans_mixture(label):
    table = waveform(30_000, seed=5)
    X = table.X[np.array(table.labels) == label]
    a, b = PAIRS[label]
    mean = np.array([(wave(a, i) + wave(b, i)) / 2 for i in range(1, 22)])
    variance = np.array([1 + (wave(a, i) - wave(b, i)) ** 2 / 12 for i in range(1, 22)])
    assert abs(len(X) - 10_000) < 5 * np.sqrt(30_000 * 2 / 9)
    assert np.all(np.abs(X.mean(0) - mean) < 5 * np.sqrt(variance / len(X)))
    assert np.all(np.abs(X.var(0) / variance - 1) < 5 * np.sqrt(2 / len(X)))


def test_waveform_is_the_same_for_everybody_and_marked_as_regenerated():
    data = load(KNOWN["waveform"], DataSettings(source="generated"))
    assert data.X.shape == (5000, 21)
    assert data.counts() == {"0": 1686, "1": 1647, "2": 1667}
    assert data.checksum.startswith("0ff6528d")
    assert data.regenerated
    np.testing.assert_array_equal(np.round(data.X, 2), data.X)
    assert not load(KNOWN["balance"], DataSettings(source="generated")).regenerated  # it is exact


def test_another_draw_has_other_rows_of_the_same_kind():
    waveform = KNOWN["waveform"]
    first, again, other = (
        load(dataclasses.replace(waveform, name="drawn", draw=draw), DataSettings(source="generated"))
        for draw in (1, 1, 2)
    )
    assert first.checksum == again.checksum != other.checksum
    assert first.X.shape == other.X.shape == (5000, 21)
    assert first.provenance["seed"] == "1"


def test_a_generator_goes_with_its_source():
    with pytest.raises(ConfigError, match="goes with the source 'generated'"):
        DatasetConfig("mine", generator="waveform")
    with pytest.raises(ConfigError, match=r"dataset\.generator=mine: must be one of balance, waveform"):
        DatasetConfig("mine", sources=["generated"], generator="mine")


def test_the_papers_spect_predicts_the_last_column_from_the_diagnosis_and_the_others():
    true, paper = (load(KNOWN[name], DataSettings(source="bundled")) for name in ("spect", "spect_paper"))
    np.testing.assert_array_equal(paper.X[:, 0], true.y)
    np.testing.assert_array_equal(paper.X[:, 1:], true.X[:, :-1])
    np.testing.assert_array_equal(paper.y, true.X[:, -1])
    assert paper.counts() == {"0": 157, "1": 110}
    assert paper.provenance["variant"] == "last_column"


def test_the_papers_mlprove_has_one_indicator_column_per_class():
    config = KNOWN["mlprove"]
    labels = [label for label, count in config.class_counts.items() for _ in range(count)]
    X = np.arange(len(labels) * 51, dtype=float).reshape(-1, 51)
    table = indicators(make_dataset(config, Table(X, labels, "x"), "local", {}))
    assert table.X.shape == (6118, 57)
    np.testing.assert_array_equal(table.X[:, :51], X)
    for row, label in list(zip(table.X, table.labels, strict=True))[::500]:
        assert row[51:].tolist() == [1 if str(k) == label else -1 for k in range(1, 7)]
