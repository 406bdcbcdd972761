"""Studies with real worker processes: what is computed, reused, refused and written."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from rich.console import Console

from mloml.errors import ConfigError, DatasetUnavailableError, StoreError
from mloml.experiments.progress import Board
from mloml.experiments.study import Run, make_plan


def test_a_second_run_computes_nothing_and_says_so(lab, capsys):
    first = lab.run()
    assert lab.starts() == dict.fromkeys(lab.cells, 1)
    assert (first.computed, first.reused) == (6, 0)
    assert "in short" not in capsys.readouterr().out
    second = lab.driver.run_study(lab.study(), publish=lambda result: f"{len(result.records)} cells.")
    assert lab.starts() == dict.fromkeys(lab.cells, 1)
    assert (second.computed, second.reused) == (0, 6)
    output = capsys.readouterr().out
    assert "nothing to compute: 6 cells reused" in output and "in short: 6 cells." in output
    pd.testing.assert_frame_equal(first.frame, second.frame)
    assert list(first.frame["split"]) == [0, 1, 2, 0, 1, 2]
    assert set(first.frame["status"]) == {"ok"} and first.finished
    assert json.loads((first.folder / "manifest.json").read_text())["state"] == "complete"


def test_a_failing_cell_costs_that_cell_only(lab):
    lab.plan({"two/1": "raise", "two/2": "raise the unspeakable", "two/0": "interrupt"})
    result = lab.run()
    assert result.computed == 3
    assert list(result.frame["status"]) == ["ok"] * 3 + ["failed"] * 3
    interrupt, failure, unspeakable = pd.read_csv(result.folder / "failures.csv").to_dict("records")
    assert (interrupt["error"], unspeakable["error"]) == ("KeyboardInterrupt", "Unspeakable")
    assert (failure["dataset"], failure["algorithm"], failure["split"]) == ("iris", "two", 1)
    assert (failure["error"], failure["message"]) == ("ValueError", "made to fail")
    assert "made to fail" in failure["traceback"]
    assert json.loads(failure["config"])["algorithm"]["learner"] == "faulty.Faulty"
    assert set(json.loads(failure["seed"])) == {"split", "folds", "stream"}
    assert failure["command"].endswith("'execution.only=[1]'")
    assert json.loads((result.folder / "manifest.json").read_text())["state"] == "incomplete"
    lab.plan({})
    assert lab.run().computed == 3  # errors are never stored


def test_fail_fast_stops_at_the_first_failure(lab):
    lab.plan({"one/0": "raise"} | dict.fromkeys(lab.cells[1:], "gate"))
    result = lab.run(fail_fast=True)
    assert len(result.failures) == 1
    assert "missing" in set(result.frame["status"]) and not result.finished


def test_only_the_splits_asked_for_are_computed_and_the_others_still_shown(lab):
    lab.run(only=[0, 2])
    result = lab.run(only=[1], algorithms=["one"])
    assert lab.starts() == dict.fromkeys(set(lab.cells) - {"two/1"}, 1)
    assert list(result.frame["status"]) == ["ok"] * 3
    with pytest.raises(ConfigError, match=r"execution.only=\[3\]: must be splits from 0 to 2"):
        lab.run(only=[3])


def test_damaged_cells_are_computed_again_and_other_things_in_their_place_fail_alone(
    lab, assert_undisturbed, capsys
):
    lab.run()
    first, cut, swapped, *_, last = lab.stored()
    cut.write_bytes(cut.read_bytes()[:200])
    swapped.write_bytes(last.read_bytes())
    first.unlink()
    first.mkdir()
    result = lab.run()
    output = capsys.readouterr().out
    assert (result.computed, result.reused) == (2, 3)
    assert list(result.failures["error"]) == ["CellFileError"]
    assert f"damaged: {cut} is computed again (" in output
    assert f"damaged: {swapped} is computed again (it holds another cell" in output
    first.rmdir()
    lab.run()
    assert_undisturbed()


def test_studies_that_share_a_board_print_its_progress_only(lab, capsys):
    study = lab.study()
    other = replace(study, protocol=replace(study.protocol, neighbours=3))
    lab.run(only=[0])
    capsys.readouterr()
    with Board(Console(), make_plan(study, print).cells * 2) as board:
        first = lab.driver.run_study(study, board=board)
        second = lab.driver.run_study(other, lab.results / "other", board=board)
    assert (first.computed, first.reused, second.computed) == (4, 2, 6)
    assert capsys.readouterr().out.startswith("12/12 cells (100 %), elapsed")


def test_algorithms_are_compiled_before_the_first_cell_and_counted(lab, monkeypatch):
    told = []
    monkeypatch.setattr(
        Board, "compiling", lambda board, *counts: told.append((*counts, sum(lab.starts().values())))
    )
    lab.run(n_jobs=2)
    assert told == [(0, 2, 0), (1, 2, 0), (2, 2, 0), (2, 2, 0)]  # ready, of how many, cells begun by then


def test_missing_data_are_named_in_one_line_and_the_rest_runs(lab, capsys):
    result = lab.run(datasets=["iris", "lsvt"], algorithms=["one"])
    assert list(result.missing) == ["lsvt"]
    assert set(result.frame["dataset"]) == {"iris"}
    assert len([line for line in capsys.readouterr().out.splitlines() if line.startswith("missing: ")]) == 1
    before = {path: path.read_bytes() for path in lab.results.rglob("*") if path.is_file()}
    with pytest.raises(DatasetUnavailableError, match=r"lsvt.*\(and no other of the 2 datasets") as caught:
        lab.run(datasets=["lsvt", "pems"], algorithms=["one"])
    assert "\n" not in str(caught.value)
    assert {path: path.read_bytes() for path in lab.results.rglob("*") if path.is_file()} == before


def test_a_folder_that_cannot_be_written_is_found_before_anything_runs(lab):
    lab.results.write_text("a file where the folder should be")
    with pytest.raises(StoreError, match=r"cannot be written .a part of the path is a file.") as caught:
        lab.run()
    assert "\n" not in str(caught.value)
    assert not lab.starts()


def test_a_store_that_fills_up_stops_the_run_and_keeps_what_is_finished(lab):
    lab.plan({"two/1": "fill the disk"})  # the fourth to be computed
    with pytest.raises(StoreError, match="3 of 6 cells are stored and safe; to go on:") as caught:
        lab.run(n_jobs=1)
    assert "\n" not in str(caught.value)
    assert not list(lab.results.rglob("*.tmp"))
    assert json.loads((lab.results / "small" / "manifest.json").read_text())["state"] == "interrupted"


def test_cells_whose_word_was_not_heard_before_an_interruption_are_counted(lab, monkeypatch, capsys):
    def interrupted(self, outcomes, wanted):
        list(outcomes)  # all are stored by now
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "_follow", interrupted)
    with pytest.raises(SystemExit) as end:
        lab.run(n_jobs=1)
    assert end.value.code == 130
    assert "interrupted: 6 of 6 cells are stored and safe; to go on:" in capsys.readouterr().out
    assert set(pd.read_csv(lab.results / "small" / "cells.csv")["status"]) == {"ok"}


def test_ctrl_c_before_anything_was_found_is_one_line(lab, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mloml.experiments.study.make_plan", interrupted)
    with pytest.raises(SystemExit):
        lab.run()
    assert "interrupted: nothing was computed yet; to go on:" in capsys.readouterr().out
    assert not (lab.results / "small" / "cells.csv").exists()
