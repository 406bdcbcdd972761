"""Studies with real worker processes, and with cells that fail, die and hang."""

import json
import shlex
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

from mloml.command_line import rerun_command
from mloml.errors import ConfigError, DatasetUnavailableError, StoreError
from mloml.experiments.study import run_study

CELLS = [f"iris/{algorithm}/{split}" for algorithm in ("euclidean", "kissme") for split in range(3)]


def test_a_second_run_computes_nothing_and_says_so(lab, capsys):
    first = run_study(lab.study())
    assert lab.runs() == dict.fromkeys(CELLS, 1)
    assert (first.computed, first.reused) == (6, 0)
    capsys.readouterr()

    second = run_study(lab.study())
    assert lab.runs() == dict.fromkeys(CELLS, 1)
    assert (second.computed, second.reused) == (0, 6)
    assert "nothing to compute: 6 cells reused" in capsys.readouterr().out
    pd.testing.assert_frame_equal(first.frame, second.frame)
    assert list(first.frame["split"]) == [0, 1, 2, 0, 1, 2]
    assert set(first.frame["status"]) == {"ok"}


def test_the_run_tells_what_its_own_tables_say(lab, capsys):
    run_study(lab.study())
    assert "in short" not in capsys.readouterr().out
    run_study(lab.study(), refresh=lambda result: f"{len(result.records)} cells.")
    assert "in short: 6 cells." in capsys.readouterr().out


def test_tables_that_need_all_cells_are_written_only_at_the_end(lab):
    counts = []
    run_study(
        lab.study(refresh=1e-3, n_jobs=1), refresh=lambda r: counts.append(len(r.records)), only_at_end=True
    )
    assert counts == [6]


def test_one_worker_gives_the_files_of_two(lab, assert_undisturbed):
    lab.run(n_jobs=1)
    assert_undisturbed()
    assert len(set(lab.workers("end").values())) == 1


def test_a_failing_cell_costs_that_cell_only(lab):
    lab.plan({"iris/kissme/1": "raise"})
    result = run_study(lab.study())
    assert result.computed == 5
    assert list(result.frame["status"]) == ["ok"] * 4 + ["failed", "ok"]

    (failure,) = pd.read_csv(result.folder / "failures.csv").to_dict("records")
    assert (failure["dataset"], failure["algorithm"], failure["split"]) == ("iris", "kissme", 1)
    assert (failure["error"], failure["message"]) == ("ValueError", "made to fail")
    assert "made to fail" in failure["traceback"]
    assert json.loads(failure["config"])["algorithm"]["learner"] == "KISSME"
    assert set(json.loads(failure["seed"])) == {"split", "folds", "stream"}
    assert failure["command"].endswith("'execution.only=[1]'")

    lab.plan({})
    assert run_study(lab.study()).computed == 1  # errors are never stored
    assert lab.runs() == dict.fromkeys(CELLS, 1)


@pytest.mark.slow
def test_the_rerun_command_runs_just_that_cell(lab):
    study = lab.study(protocol={"scans": 7})
    lab.plan({"iris/kissme/1": "raise"})
    command = run_study(study).failures.loc[0, "command"]
    lab.plan({})
    before = lab.runs()
    words = shlex.split(command)
    assert words[0] == "mloml"
    done = subprocess.run(
        [sys.executable, "-m", "mloml.cli", *words[1:]], cwd=lab.folder, capture_output=True
    )
    assert lab.runs() - before == {"iris/kissme/1": 1}, done.stderr
    assert run_study(study).computed == 0


def test_a_rerun_command_spells_out_what_was_changed(lab):
    study = lab.study(protocol={"scans": 7}, time_limit=2.5)
    cell = next(iter(_cells(study)))
    command = rerun_command(study, cell)
    assert "execution.time_limit=2.5" in command
    assert "protocol=paper" in command
    assert "protocol.scans=7" in command
    assert "protocol.folds" not in command


def test_a_cell_that_kills_its_worker_twice_is_given_up(lab):
    lab.plan({"iris/euclidean/1": "kill"})
    result = run_study(lab.study())
    assert list(result.frame["status"]) == ["ok", "killed", "ok", "ok", "ok", "ok"]
    assert lab.runs("start")["iris/euclidean/1"] == 2
    assert all(count == 1 for count in lab.runs().values())  # nobody else was tried twice


def test_a_worker_killed_once_costs_only_time(lab):
    lab.plan({"iris/euclidean/1": "kill once"})
    result = run_study(lab.study())
    assert set(result.frame["status"]) == {"ok"}
    assert lab.runs() == dict.fromkeys(CELLS, 1)
    assert lab.runs("start")["iris/euclidean/1"] == 2


def test_a_cell_may_have_a_time_limit(lab):
    run_study(lab.study(only=[2]))  # so that the time limit finds everything compiled
    lab.plan({"iris/euclidean/1": "hang"})
    result = run_study(lab.study(time_limit=10.0))
    assert list(result.frame["status"]) == ["ok", "timeout", "ok", "ok", "ok", "ok"]
    assert lab.runs("start")["iris/euclidean/1"] == 1  # no second chance
    assert result.failures.loc[0, "message"] == "took longer than 10 s"


def test_fail_fast_stops_at_the_first_failure(lab):
    lab.plan({"iris/euclidean/0": "raise", "iris/euclidean/1": "gate", "iris/kissme": "gate"})
    result = run_study(lab.study(fail_fast=True))
    assert len(result.failures) == 1
    assert "missing" in set(result.frame["status"])


def test_only_the_splits_asked_for_are_computed_and_the_others_still_shown(lab):
    run_study(lab.study(only=[0, 2]))
    result = run_study(lab.study(only=[1], algorithms=["euclidean"]))
    assert lab.runs() == dict.fromkeys(set(CELLS) - {"iris/kissme/1"}, 1)
    assert list(result.frame["status"]) == ["ok"] * 3


def test_splits_that_do_not_exist_are_refused(lab):
    with pytest.raises(ConfigError, match=r"execution.only=\[7\]: must be splits from 0 to 2"):
        run_study(lab.study(only=[7]))


def test_a_damaged_cell_is_reported_and_computed_again(lab, capsys):
    run_study(lab.study())
    first, second, *_ = lab.stored()
    second.write_bytes(second.read_bytes()[:100])
    first.write_text(first.read_text().replace('"error":0.', '"error":0.9'))
    result = run_study(lab.study())
    output = capsys.readouterr().out
    assert f"damaged: {first} is computed again (its checksum differs)" in output
    assert f"damaged: {second} is computed again" in output
    assert result.computed == 2
    assert lab.runs().total() == 8


def test_stale_cells_are_named_with_the_reason_and_not_used(lab, capsys):
    run_study(lab.study())
    result = run_study(lab.study(protocol={"neighbours": 3}))
    output = capsys.readouterr().out
    expected = (
        "stale: 6 stored cells of iris/euclidean, iris/kissme are not used: protocol.neighbours was 5, is 3"
    )
    assert expected in output
    assert (result.computed, result.reused) == (6, 0)
    assert run_study(lab.study()).reused == 6  # the old ones are still there


def test_missing_data_are_named_in_one_line_and_the_rest_runs(lab, capsys):
    result = run_study(lab.study(datasets=["iris", "lsvt"], algorithms=["euclidean"]))
    assert list(result.missing) == ["lsvt"]
    assert set(result.frame["dataset"]) == {"iris"}
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("missing: ")]
    assert "MLOML_DATA" in line


def test_without_any_data_the_run_ends_in_one_line_and_earlier_files_stay(lab, capsys):
    run_study(lab.study(algorithms=["euclidean"]))
    before = {path: path.read_bytes() for path in lab.results.rglob("*") if path.is_file()}
    capsys.readouterr()
    with pytest.raises(DatasetUnavailableError, match=r"lsvt.*\(and no other of the 2 datasets") as caught:
        run_study(lab.study(datasets=["lsvt", "pems"], algorithms=["euclidean"]))
    assert "\n" not in str(caught.value) and not capsys.readouterr().out
    assert {path: path.read_bytes() for path in lab.results.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(("folds", "most"), [(2, 37), (5, 60)])
def test_there_are_at_most_as_many_neighbours_as_rows_to_take_them_from(lab, folds, most):
    from mloml.datasets import load
    from mloml.experiments.splits import fold_indices, split_indices
    from mloml.experiments.inventory import take_inventory

    study = lab.study(protocol={"neighbours": most, "folds": folds})
    y = load(study.datasets[0]).y
    rows = fold_indices(y[split_indices(y, 0, 0, "iris")[0]], 0, 0, "iris", folds)
    assert most == min(len(fit) for fit, _ in rows)
    assert len(take_inventory(study, print).cells) == 6
    with pytest.raises(
        ConfigError, match=rf"^protocol.neighbours={most + 1}: must be at most {most}, the rows"
    ):
        run_study(lab.study(protocol={"neighbours": most + 1, "folds": folds}))
    assert not (lab.results / "small" / "cells.csv").exists()


def test_tables_are_refreshed_while_the_run_goes_on(lab):
    seen = []

    def draw(result):
        seen.append(list(result.frame["status"]).count("ok"))
        if len(seen) == 1:
            raise RuntimeError("a table that cannot be drawn yet")

    run_study(lab.study(refresh=1e-3, n_jobs=1), refresh=draw)
    assert seen[-1] == 6
    assert seen[0] < 6


def test_refreshing_takes_a_small_share_of_the_run(lab, monkeypatch):
    monkeypatch.setattr("mloml.experiments.run.REFRESH_PAUSE", 1e9)  # so that no second one is due, ever
    seen = []
    run_study(lab.study(refresh=1e-3, n_jobs=1), refresh=lambda result: seen.append(len(result.records)))
    assert len(seen) == 2 and seen[0] < seen[1] == 6


def test_a_folder_that_cannot_be_written_is_found_before_anything_runs(lab):
    lab.results.write_text("a file where the folder should be")
    with pytest.raises(StoreError, match=r"cannot be written .a part of the path is a file.") as caught:
        run_study(lab.study())
    assert "\n" not in str(caught.value)
    assert not lab.runs("start")


def test_a_store_that_fills_up_stops_the_run_and_keeps_what_is_finished(lab):
    lab.plan({"iris/kissme/1": "fill the disk"})  # the fourth to be computed
    with pytest.raises(StoreError, match="3 of 6 cells are stored and safe; to go on:") as caught:
        run_study(lab.study(n_jobs=1))
    assert "\n" not in str(caught.value)
    assert not list(lab.results.rglob("*.tmp"))
    lab.plan({})
    result = run_study(lab.study())
    assert (result.computed, result.reused) == (3, 3)
    assert max(lab.runs().values()) == 2  # only the cell that could not be stored


def test_cells_whose_word_was_not_heard_before_an_interruption_are_counted(lab, monkeypatch, capsys):
    def interrupted(self, outcomes, wanted, board):
        list(outcomes)  # all are stored by now
        raise KeyboardInterrupt

    monkeypatch.setattr("mloml.experiments.run.Run._follow", interrupted)
    with pytest.raises(SystemExit):
        run_study(lab.study(n_jobs=1))
    assert "interrupted: 6 of 6 cells are stored and safe; to go on:" in capsys.readouterr().out
    (cells,) = lab.results.glob("*/cells.csv")
    assert set(pd.read_csv(cells)["status"]) == {"ok"}


def _cells(study):
    from mloml.experiments.cell import Cell

    return [Cell("iris", "0" * 64, algorithm, study.protocol, 1) for algorithm in study.algorithms]


def test_pairs_that_are_left_out_have_no_cells(lab, capsys):
    study = replace(lab.study(), leave_out=({"algorithms": ["kissme"], "datasets": ["iris"]},))
    result = run_study(study)
    assert lab.runs() == dict.fromkeys(CELLS[:3], 1)
    assert set(result.frame["algorithm"]) == {"euclidean"} and result.finished
    assert "KISSME" in capsys.readouterr().out
