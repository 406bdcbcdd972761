"""The scripts of tables II and III and of the two protocols, run as a person does, on next to nothing."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pandas as pd
import pytest

from mloml.config.paths import repository

SMALL = ["protocol.splits=2", "protocol.scans=1", "protocol.folds=2", "execution.n_jobs=1"]


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a script with overrides; return its exit code and the results folder."""
    root = repository()
    if root is None:
        pytest.skip("the scripts are not part of an installed wheel")

    def run(name: str, *overrides: str) -> tuple[object, Path]:
        script = f"experiments/{name}.py"
        monkeypatch.setattr(sys, "argv", [script, *overrides, f"execution.results={tmp_path}"])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(root / script), run_name="__main__")
        return end.value.code, tmp_path

    return run


@pytest.mark.slow
def test_table2_writes_its_files_and_computes_nothing_twice(run, capsys) -> None:
    chosen = ["datasets=[iris]", "algorithms=[euclidean,kissme]", *SMALL]
    code, results = run("table2", *chosen)
    assert code == 0
    table = pd.read_csv(results / "table2" / "table2.csv")
    assert table["dataset"].tolist() == ["iris"] and list(table.columns[1:3]) == ["Euclidean", "KISSME"]
    assert "in short: Of 2 cells that both tables have," in capsys.readouterr().out
    assert run("table2", *chosen)[0] == 0
    assert "nothing to compute" in capsys.readouterr().out


@pytest.mark.slow
def test_protocols_run_both_and_share_the_cells_of_narrow_data(run, capsys) -> None:
    code, results = run(
        "protocols", "datasets=[iris,spect_paper,spect]", "algorithms=[euclidean,kissme]", *SMALL
    )
    assert code == 0
    assert "12 cells reused" in capsys.readouterr().out  # the clean run finds all cells of the paper's
    assert (results / "protocols" / "protocols.md").is_file()


@pytest.mark.slow
def test_protocols_take_their_size_from_the_protocol_asked_for(run) -> None:
    code, results = run("protocols", "protocol=lite", "datasets=[iris]", "algorithms=[euclidean]")
    assert code == 0
    for side in ("paper", "clean"):
        cells = pd.read_csv(results / "protocols" / side / "cells.csv")
        assert cells["split"].tolist() == [0, 1, 2]


def test_a_misspelt_algorithm_is_one_line(run, capsys) -> None:
    code, _ = run("table2", "algorithms=[euclidaen]")
    error = capsys.readouterr().err
    assert code == 2
    assert error.startswith("error: ") and "euclidean" in error and error.count("\n") == 1


@pytest.mark.slow
def test_seeds_run_the_table_twice_and_the_first_is_table2s(run, capsys) -> None:
    chosen = ["datasets=[iris]", "algorithms=[euclidean,kissme]", *SMALL]
    assert run("table2", *chosen)[0] == 0
    capsys.readouterr()
    code, results = run("seeds", *chosen)
    assert code == 0
    assert "4 cells reused" in capsys.readouterr().out
    first, second = (pd.read_csv(results / "seeds" / side / "cells.csv") for side in ("seed0", "seed1"))
    assert not set(first["key"]) & set(second["key"]) and len(first) == len(second) == 4
    assert "seed 0" in (results / "seeds" / "findings.md").read_text()
