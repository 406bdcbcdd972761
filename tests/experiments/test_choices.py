from __future__ import annotations

import pytest

from mloml.experiments.choices import choose_per_dataset, choose_per_split, oracle


def record(split, *errors, stage=None):
    """A record whose grid holds (gamma, validation error, test error)."""
    extra = {} if stage is None else {"stage": stage}
    grid = [{**extra, "params": {"gamma": g}, "cv_error": cv, "test_error": test} for g, cv, test in errors]
    return {"split": split, "grid": grid}


RECORDS = [
    record(0, (0.1, 0.20, 0.31), (0.2, 0.10, 0.32), (0.3, 0.30, 0.33)),
    record(1, (0.1, 0.10, 0.43), (0.2, 0.15, 0.42), (0.3, 0.30, 0.40)),
    record(2, (0.1, 0.20, 0.50), (0.2, 0.20, 0.52), (0.3, 0.21, 0.51)),
]


def test_per_split_takes_the_smallest_validation_error_and_the_first_of_equals():
    assert [(c.split, c.params["gamma"], c.error) for c in choose_per_split(RECORDS)] == [
        (0, 0.2, 0.32),
        (1, 0.1, 0.43),
        (2, 0.1, 0.50),
    ]


def test_per_dataset_takes_one_value_by_mean_validation_error():
    assert [c.error for c in choose_per_dataset(RECORDS)] == [0.32, 0.42, 0.52]


def test_equal_means_go_to_the_smallest_value_whatever_the_rounding():
    records = [
        record(i, (0.1, a, 0.5), (0.2, b, 0.6))
        for i, (a, b) in enumerate([(0.1, 0.3), (0.2, 0.2), (0.3, 0.1)])
    ]
    assert [c.error for c in choose_per_dataset(records)] == [0.5, 0.5, 0.5]


def test_oracle_takes_the_best_test_error_of_each_split_or_one_value_for_all():
    assert [c.error for c in oracle(RECORDS)] == [0.31, 0.40, 0.50]
    assert [c.error for c in oracle(RECORDS, per="dataset")] == [0.31, 0.43, 0.50]
    with pytest.raises(ValueError, match="per='fold'"):
        oracle(RECORDS, per="fold")


def test_nothing_beats_the_oracle_of_each_split():
    for choose in (choose_per_split, choose_per_dataset, lambda r: oracle(r, per="dataset")):
        assert all(a.error >= b.error for a, b in zip(choose(RECORDS), oracle(RECORDS), strict=True))


def test_a_method_without_grid_is_the_same_under_all_three():
    plain = [{"split": 0, "grid": [{"params": {}, "cv_error": None, "test_error": 0.25}]}]
    assert choose_per_split(plain) == choose_per_dataset(plain) == oracle(plain) == [(0, {}, 0.25)]


def test_staged_choices_are_made_in_the_last_stage():
    staged = {
        "split": 0,
        "grid": record(0, (0.1, 0.0, 0.0), stage=1)["grid"] + record(0, (0.2, 0.5, 0.5), stage=2)["grid"],
    }
    assert choose_per_split([staged])[0].error == choose_per_dataset([staged])[0].error == 0.5
    assert oracle([staged])[0].error == 0.5


def test_records_of_different_grids_are_refused():
    with pytest.raises(ValueError, match="different grids"):
        choose_per_dataset([RECORDS[0], record(1, (0.1, 0.1, 0.1))])


def test_no_records_give_no_choices():
    assert choose_per_split([]) == choose_per_dataset([]) == oracle([]) == []
