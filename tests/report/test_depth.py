"""The study of depths: fixed depths from the grids, groups of data sets, and verdicts on made-up errors."""

from types import SimpleNamespace

import numpy as np

from mloml.config.compose import compose_study
from mloml.report.artefacts import depth
from mloml.report.labels import Labels

SETS = [f"set{i:02}" for i in range(10)] + ["glass", "iris"]
SPLITS = 5


def made(gain):
    """A study in which the chosen depth, 2, errs less than one layer by ``gain`` and three err as much."""
    rng, errors, records = np.random.default_rng(0), {"euclidean": {}}, []
    for dataset in SETS:
        errors["euclidean"][dataset] = tuple(0.5 + 0.01 * rng.random(SPLITS))
        for name in depth.AUTO:
            mine = 0.3 + 0.01 * rng.random(SPLITS)
            errors.setdefault(name, {})[dataset] = tuple(mine)
            for split, error in reversed(list(enumerate(mine))):
                tests = {1: error + gain, 2: error, 3: error, 5: error + 0.001 * (-1) ** split}
                entries = [
                    (n, g, 0.3 - (g == 0.1) * 0.1, e + (g != 0.1))
                    for n, e in tests.items()
                    for g in (0.01, 0.1)
                ]
                grid = [
                    {"params": {"n_layers": n, "gamma": g}, "cv_error": c, "test_error": t}
                    for n, g, c, t in entries
                ]
                chosen = {"n_layers": 2 if split else 0, "gamma": 0.1}
                records.append(
                    {"algorithm": name, "dataset": dataset, "split": split, "grid": grid, "chosen": chosen}
                )
    labels = Labels(dict(zip(SETS, SETS, strict=True)), {name: name for name in errors}, SPLITS)
    study = depth.Scaled(SimpleNamespace(records=records), labels, errors, None, None)
    object.__setattr__(study.result, "study", SimpleNamespace(protocol=SimpleNamespace(name="clean")))
    return depth.with_fixed_depths(study)


def test_fixed_depths_are_the_grids_entries_with_the_smallest_validation_error():
    study = made(0.02)
    for name, stack in depth.AUTO.items():
        for dataset in SETS:
            auto, one = (np.array(study.errors[each][dataset]) for each in (name, f"{stack}_1"))
            np.testing.assert_allclose(one - auto, 0.02)
    assert list(study.labels.algorithms)[:4] == ["euclidean", "mloml_r_1", "mloml_r_3", "mloml_r_5"]


def test_errors_with_fixed_depths_are_published_split_by_split():
    study = made(0.02)
    found = depth.fixed_frame(study).set_index(["algorithm", "dataset"])
    assert len(found) == 3 * 3 * len(SETS) and set(found["study"]) == {"clean"}
    np.testing.assert_allclose(
        found.loc[("mloml_s_1", "iris"), [*range(SPLITS)]].astype(float),
        np.array(study.errors["mloml_s_auto"]["iris"]) + 0.02,
    )


def test_the_verdicts_follow_the_errors_in_each_group_of_sets():
    for gain, said in ((0.02, "choosing helps"), (-0.02, "choosing harms")):
        over, _ = depth.carry_out(made(gain))
        for group, count in (("new", 11), ("untouched", 10), ("all", 12)):
            found = depth.answers(over, "depth", group, {})
            assert set(found["sets"]) == {count}
            words = found.set_index(["algorithm", "reference"])["verdict"]
            assert words["mloml_r_auto", "mloml_r_1"] == said
            assert words["mloml_r_auto", "mloml_r_3"] == "no difference is shown"
            assert words["mloml_r_auto", "euclidean"] == "choosing helps"
            assert set(depth.answers(over, "batch", group, {})["sets"]) == {0}


def test_choices_are_shares_of_the_splits():
    choices = depth.choices_frame(made(0.02))
    one = choices[(choices["dataset"] == "iris") & (choices["algorithm"] == "mloml_t")]
    assert one["share"].tolist() == [0.2, 0, 0.8, 0, 0, 0]
    np.testing.assert_allclose(depth.shares_frame(choices)[["0", "2"]], [[0.2, 0.8]] * 3)


def test_the_study_is_that_of_the_rule():
    study = compose_study("depth")
    beyond = {config.name for config in compose_study("beyond").datasets}
    names = {config.name for config in study.datasets}
    assert beyond < names and len(names) == 32 and beyond > depth.TRIAL and study.protocol.splits == 10
    made_of = {algorithm.name: algorithm.params for algorithm in study.algorithms}
    assert all(made_of[name]["n_layers"] == "auto" for name in depth.AUTO)
    assert {pair.algorithm for pair in depth.FAMILIES["batch"]} < set(made_of)
