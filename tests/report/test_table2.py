"""Table II: what becomes of order, of incomplete and of uncounted data sets."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from mloml import paper
from mloml.report.artefacts.table2 import build


def test_the_order_in_which_cells_came_in_does_not_matter(make_result) -> None:
    result = make_result()
    shuffled = replace(
        result, frame=result.frame.sample(frac=1, random_state=1), records=result.records[::-1]
    )
    for first, second in zip(build(result).tables, build(shuffled).tables, strict=True):
        pd.testing.assert_frame_equal(first.frame, second.frame)


def test_a_single_split_is_a_table_that_cannot_be_compared(make_result) -> None:
    artefact = build(make_result(splits=1))
    assert artefact.values["agreement"]["cells"] == 0 and len(artefact.tables[0].frame) > 5


def test_rows_that_are_not_part_of_the_run_and_a_missing_reference_are_known(make_result) -> None:
    values = build(make_result(datasets=("iris", "wine"), algorithms=("euclidean", "moml"))).values
    assert not values["marked"] and values["absent"] == [
        n for n in paper.DATASETS if n not in ("iris", "wine")
    ]


def test_a_study_of_one_true_label_compares_with_euclidean_and_draws_no_ranks(make_result) -> None:
    result = make_result(datasets=("spect",))
    shift = result.frame["algorithm"].map({"oasis": 0.5, "moml": -0.1}).fillna(0.0)
    artefact = build(replace(result, frame=result.frame.assign(error=result.frame["error"] + shift)))
    gains = artefact.values["uncounted"].set_index("algorithm")["gain"]
    assert set(gains.index) == {"lego", "oasis", "slmoml", "moml", "mloml_r"}
    assert gains["oasis"].endswith(" ◦") and gains["moml"].endswith(" •")
    assert artefact.values["ranking"] == {} and artefact.figures == ()
    assert "ranks" not in {table.name for table in artefact.tables}


def test_the_whole_study_around_the_papers_means_agrees_with_the_paper(make_result) -> None:
    names = [paper.published.ACCIDENTS.get(name, name) for name in paper.DATASETS]
    result = make_result(datasets=names, algorithms=tuple(paper.ALGORITHMS.values()), splits=30)
    agreement = build(result).values["agreement"]
    assert agreement["cells"] == 168 and agreement["agrees"] > 150
