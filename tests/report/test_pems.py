"""What was predicted for pems beside results made up for it."""

import pandas as pd

from mloml.config.compose import compose_study
from mloml.report.artefacts import pems
from mloml.report.publish import context_of, publish
from mloml.report.recipe import find_recipe

LOW, HIGH = 0.4770775377, 0.5155611325  # of Euclidean distance


def made(make_result, means, splits=30):
    """Return a result on pems in which each split of a method has the mean given, plus or minus .001."""
    result = make_result(datasets=("pems",), algorithms=tuple(means), splits=splits)
    errors = [means[a] + 0.001 * (-1) ** s for a, s in result.frame[["algorithm", "split"]].to_numpy()]
    result.frame["error"] = errors
    return result


def test_a_result_is_inside_below_or_above_its_interval(make_result, tmp_path):
    result = made(make_result, {"euclidean": LOW + 1e-6, "kissme": 0.9, "moml": 0.3})
    artefact, recipe = pems.build(result), find_recipe("pems")
    both = artefact.tables[0].frame.set_index("algorithm")
    assert both["verdict"][lambda v: v != ""].to_dict() == {
        "euclidean": "holds", "kissme": "higher", "moml": "lower",
    }  # fmt: skip
    assert len(both) == 14 and both["our_mean"].count() == 3
    headline = publish(artefact, recipe, context_of(recipe, [result]), tmp_path)
    assert headline.startswith("1 of 3 ") and "KISSME" in headline and "MOML" in headline
    assert "Euclidean" not in headline and "1 of 3" in (tmp_path / "pems.md").read_text(encoding="utf-8")
    assert pd.read_csv(tmp_path / "pems.csv")["verdict"].count() == 3


def test_the_ends_belong_to_the_interval_and_unfinished_methods_have_no_verdict(make_result):
    for mean, verdict in ((LOW - 1e-6, "lower"), (HIGH - 1e-6, "holds"), (HIGH + 1e-6, "higher")):
        both = pems.build(made(make_result, {"euclidean": mean})).tables[0].frame
        assert both["verdict"].tolist() == [verdict] + 13 * [""]
    result = made(make_result, {"euclidean": 0.5})
    result.frame.loc[3, "status"] = "missing"
    assert set(pems.build(result).tables[0].frame["verdict"]) == {""}


def test_pems_is_run_as_table_2_would_run_it():
    ours, table = compose_study("pems"), compose_study("table2", ["datasets=[pems]"])
    assert (ours.datasets, ours.algorithms, ours.protocol) == (
        table.datasets,
        table.algorithms,
        table.protocol,
    )
