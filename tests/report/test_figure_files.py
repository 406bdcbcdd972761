"""Figures 4, 5 and 6 from results of studies that never ran: files, captions, and what they admit."""

from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mloml.paper.timing.updates import COLUMNS, time_updates
from mloml.config.schema import Algorithm, ExecutionConfig, ProtocolConfig, Study
from mloml.datasets import catalogue
from mloml.experiments.refit import Halves
from mloml.experiments.study import StudyResult
from mloml.report.publish import publish
from mloml.report.recipe import find_recipe

matplotlib.use("Agg")


def result_of(folder: Path, records, missing=None) -> StudyResult:
    sets = catalogue()
    study = Study(
        "fig5",
        [sets["iris"], sets["spect_paper"], sets["pems"]],
        [Algorithm("moml", "MOML", "MOML"), Algorithm("mloml_r_5", "MLOML-r (5 layers)", "MLOML")],
        ProtocolConfig(splits=2),
        ExecutionConfig(results=str(folder)),
        record=("layers",),
    )
    frame = pd.DataFrame({"status": ["ok"] * 8})
    return StudyResult(study, folder, frame, records, pd.DataFrame(), missing or {}, len(records), 0)


def write(name: str, result: StudyResult, *found) -> None:
    publish(find_recipe(name).make([result], *found), result.folder)


@pytest.fixture
def records():
    return [
        {"dataset": dataset, "algorithm": algorithm, "split": split, "error": 0.1,
         "layer_errors": [0.3, 0.2, 0.1] if algorithm == "mloml_r_5" else None}
        for dataset in ("iris", "spect_paper") for algorithm in ("moml", "mloml_r_5") for split in (0, 1)
    ]  # fmt: skip


def test_the_caption_says_what_bands_and_asterisks_mean_and_what_is_missing(records, tmp_path):
    write("fig5", result_of(tmp_path, records, {"pems": "pems is missing: put pems.csv there"}))
    caption = (tmp_path / "fig5.md").read_text(encoding="utf-8")
    assert "Bands are one standard error of the paired difference to Euclidean" in caption
    assert "2 splits" in caption and "1.7 times as wide" in caption  # the square root of 1 + 2
    assert r"spect\*: the last feature was taken for the label" in caption
    assert "Not shown: pems (not available here: see mloml data list)." in caption
    assert "Unfinished" not in caption
    assert len(pd.read_csv(tmp_path / "fig5.csv")) == 2 * (1 + 3)


def test_an_unfinished_study_says_so(records, tmp_path):
    write("fig5", result_of(tmp_path, records[:3]))
    assert "Unfinished: 3 of 8 cells." in (tmp_path / "fig5.md").read_text(encoding="utf-8")


def test_feature_spaces_are_drawn_for_what_is_there(tmp_path):
    rows = np.random.default_rng(0).normal(size=(12, 4))
    spaces = [("input", 0.2), ("layer 1", 0.1)]
    parts = [
        pd.DataFrame(rows[:, :2], columns=["x", "y"]).assign(dataset="iris", space=space, code=[0, 1, 2] * 4)
        for space, _ in spaces
    ]
    about = pd.DataFrame(spaces, columns=["space", "error"])
    about = about.assign(dataset="iris", share_x=0.5, share_y=0.25, gamma=0.01)
    write("fig6", result_of(tmp_path, [], {"pems": "no"}), (pd.concat(parts), about))
    points = pd.read_csv(tmp_path / "fig6.csv")
    assert "iris .200 → .100" in (tmp_path / "findings.md").read_text(encoding="utf-8")
    assert list(points["space"].unique()) == ["input", "layer 1"] and len(points) == 24
    assert (tmp_path / "fig6.pdf").is_file()


def test_update_loops_are_timed_on_the_same_triplets(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.arange(40) % 2
    runs = time_updates(Halves(X, y, X, y, seed=0), n_scans=2, repeats=5)
    assert list(runs.columns) == list(COLUMNS)
    assert runs.groupby("method").size().tolist() == [5, 5, 5]
    assert set(runs["triplets"]) == {runs["triplets"][0]} and (runs["cone_failures"] == 0).all()
    assert (runs["seconds"] > 0).all()
    explicit, framed = (runs[runs["method"] == name]["updates"].unique() for name in ("moml", "moml_frame"))
    np.testing.assert_array_equal(explicit, framed)
    write("fig4", result_of(tmp_path, [], {"pems": "no", "spect_paper": "no"}), runs.assign(dataset="iris"))
    assert "On iris MOML takes" in (tmp_path / "fig4.md").read_text(encoding="utf-8")


def test_the_report_script_takes_the_results_folder(monkeypatch, tmp_path, capsys):
    import runpy
    import sys

    script = str(Path(__file__).parents[2] / "experiments" / "report.py")
    monkeypatch.setattr(sys, "argv", ["report.py", "protocol=lite", f"execution.results={tmp_path}"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(script, run_name="__main__")
    assert (tmp_path / "report" / "index.html").is_file()
    monkeypatch.setattr(sys, "argv", ["report.py", "execution.results=/nowhere"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(script, run_name="__main__")
    assert "no such folder" in capsys.readouterr().err


def test_feature_spaces_are_projections_of_the_chosen_models_layers():
    from mloml.datasets import load
    from mloml.experiments.cell import Cell, run_cell
    from mloml.report.artefacts.fig6 import POINTS, SPACES, project

    config = catalogue()["iris"]
    stack = Algorithm("mloml_r", "MLOML-r", "MLOML", {"gamma": 1e-2, "n_layers": 2})
    study = Study("fig6", [config], [stack], ProtocolConfig(splits=1, scans=1, folds=2))
    data = load(config, study.data)
    record = run_cell(Cell("iris", data.checksum, stack, study.protocol, 0), data)
    none = StudyResult(study, Path(), pd.DataFrame(), [], pd.DataFrame(), {})
    assert [list(frame.columns) for frame in project(none)] == [POINTS, SPACES]
    assert all(frame.empty for frame in project(none))
    points, spaces = project(replace(none, records=[record]))
    assert points.groupby("space", sort=False).size().to_dict() == {"input": 75, "layer 1": 75, "layer 2": 75}
    assert spaces["error"].iloc[-1] == record["error"] and set(spaces["gamma"]) == {1e-2}
    assert ((spaces["share_x"] >= spaces["share_y"]) & (spaces["share_y"] > 0)).all()


def test_a_refitted_model_has_the_error_of_its_cell():
    from mloml.datasets import load
    from mloml.experiments.cell import Cell, run_cell
    from mloml.experiments.refit import layer_outputs, refit

    config = catalogue()["iris"]
    stack = Algorithm("mloml_r", "MLOML-r", "MLOML", {"gamma": None}, {"gamma": [1e-3, 1e-1]})
    protocol = ProtocolConfig(splits=1, scans=2, folds=2)
    study = Study("fig6", [config], [stack], protocol)
    data = load(config, study.data)
    record = run_cell(Cell("iris", data.checksum, stack, protocol, 0, ("layers",)), data)
    outputs = layer_outputs(refit(study, record))
    assert [error for _, error in list(outputs.values())[1:]] == record["layer_errors"]
    assert outputs["layer 3"][1] == record["error"]
