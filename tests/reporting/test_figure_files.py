"""Figures 4, 5 and 6 from results of studies that never ran: files, captions, and what they admit."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mloml.config import Algorithm, ExecutionConfig, ProtocolConfig, Study
from mloml.datasets import catalogue
from mloml.reporting.fig4 import write_fig4
from mloml.reporting.fig6 import write_fig6
from mloml.reporting.figure_files import CurveFigure
from mloml.study import StudyResult
from mloml.theory.streams import Halves
from mloml.update_time import COLUMNS, time_updates

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


@pytest.fixture
def records():
    return [
        {"dataset": dataset, "algorithm": algorithm, "split": split, "error": 0.1,
         "layer_errors": [0.3, 0.2, 0.1] if algorithm == "mloml_r_5" else None}
        for dataset in ("iris", "spect_paper") for algorithm in ("moml", "mloml_r_5") for split in (0, 1)
    ]  # fmt: skip


def test_the_caption_says_what_bands_and_asterisks_mean_and_what_is_missing(records, tmp_path):
    figure = CurveFigure("fig5", "Figure 5: layers", "Error of each layer.", against={"mloml_r_5": "moml"})
    figure.write(result_of(tmp_path, records, {"pems": "pems is missing: put pems.csv there"}))
    caption = (tmp_path / "fig5.md").read_text(encoding="utf-8")
    assert "bands one standard error of the mean" in caption and "2 splits" in caption
    assert "spect*: the last feature was taken for the label" in caption
    assert "pems: not available here: see mloml data list." in caption
    assert "Unfinished" not in caption
    assert len(pd.read_csv(tmp_path / "fig5.csv")) == 2 * (1 + 3)


def test_an_unfinished_study_says_so(records, tmp_path):
    CurveFigure("fig5", "Figure 5", "Errors.").write(result_of(tmp_path, records[:3]))
    assert "Unfinished: 3 of 8 cells." in (tmp_path / "fig5.md").read_text(encoding="utf-8")


def test_feature_spaces_are_drawn_for_what_is_there(tmp_path):
    rows = np.random.default_rng(0).normal(size=(12, 4))
    outputs = {"iris": {"input": (rows, 0.2), "layer 1": (2 * rows, 0.1)}}
    write_fig6(result_of(tmp_path, [], {"pems": "no"}), outputs, {"iris": [0, 1, 2] * 4})
    points = pd.read_csv(tmp_path / "fig6.csv")
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
    write_fig4(runs.assign(dataset="iris"), {"iris": "iris", "pems": "pems"}, {"pems": "no"}, tmp_path)
    assert "On iris MOML takes" in (tmp_path / "fig4.md").read_text(encoding="utf-8")


def test_the_report_script_takes_the_results_folder(monkeypatch, tmp_path):
    import runpy
    import sys

    script = str(Path(__file__).parents[2] / "experiments" / "report.py")
    monkeypatch.setattr(sys, "argv", ["report.py", "protocol=lite", f"execution.results={tmp_path}"])
    runpy.run_path(script, run_name="__main__")
    assert (tmp_path / "report" / "index.html").is_file()
    monkeypatch.setattr(sys, "argv", ["report.py", "execution.results=/nowhere"])
    with pytest.raises(SystemExit, match="no such folder"):
        runpy.run_path(script, run_name="__main__")


def test_a_refitted_model_has_the_error_of_its_cell():
    from mloml.datasets import load
    from mloml.evaluation.cell import Cell, run_cell
    from mloml.theory.layers import layer_outputs, refit

    config = catalogue()["iris"]
    stack = Algorithm("mloml_r", "MLOML-r", "MLOML", {"gamma": None}, {"gamma": [1e-3, 1e-1]})
    protocol = ProtocolConfig(splits=1, scans=2, folds=2)
    study = Study("fig6", [config], [stack], protocol)
    data = load(config, study.data)
    record = run_cell(Cell("iris", data.checksum, stack, protocol, 0, ("layers",)), data)
    outputs = layer_outputs(refit(study, record))
    assert [error for _, error in list(outputs.values())[1:]] == record["layer_errors"]
    assert outputs["layer 3"][1] == record["error"]
