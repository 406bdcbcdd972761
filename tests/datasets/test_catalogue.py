"""The catalogue: complete and consistent."""

from __future__ import annotations

import pytest

from mloml.config.compose import compose_study
from mloml.datasets import catalogue
from mloml.paper import published

KNOWN = catalogue()


def test_all_datasets_of_the_paper_its_two_variants_and_those_beyond_it_are_there():
    beyond = [dataset.name for dataset in compose_study("beyond").datasets]
    assert {*published.table1()["dataset"], "spect_paper", "mlprove_paper", *beyond} == set(KNOWN)
    assert list(KNOWN)[-len(beyond) :] == beyond


@pytest.mark.parametrize("name", KNOWN)
def test_class_counts_sum_to_the_rows(name):
    counts = KNOWN[name].class_counts
    if None not in counts.values():
        assert sum(counts.values()) == KNOWN[name].rows


@pytest.mark.parametrize("name", KNOWN)
def test_every_dataset_states_licence_title_and_where_it_comes_from(name):
    config = KNOWN[name]
    assert config.licence
    assert config.title
    assert config.sources or config.base
