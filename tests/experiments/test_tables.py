"""The scripts of Table II and of what compares several runs, on next to nothing: cells are shared."""

import runpy
import sys

import pandas as pd
import pytest

from mloml.config import repository

SMALL = ["protocol.scans=1", "protocol.folds=2", "execution.n_jobs=1", "algorithms=[euclidean,kissme]"]


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a script with overrides; return its results folder."""
    root = repository()
    if root is None:
        pytest.skip("the scripts are not part of an installed wheel")

    def run(name, *overrides):
        words = [*SMALL, *overrides, f"execution.results={tmp_path}"]
        monkeypatch.setattr(sys, "argv", [f"experiments/{name}.py", *words])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(root / f"experiments/{name}.py"), run_name="__main__")
        assert end.value.code == 0
        (folder,) = tmp_path.glob(f"{name}-*")  # not the plain one, which is for the whole study
        return folder

    return run


@pytest.mark.slow
def test_table2_computes_nothing_twice_and_other_scripts_find_its_cells(run, capsys):
    folder = run("table2", "datasets=[iris]", "protocol.splits=2")
    table = pd.read_csv(folder / "table2.csv")
    assert table["dataset"].tolist() == ["iris"] and list(table.columns[1:3]) == ["Euclidean", "KISSME"]
    capsys.readouterr()
    run("table2", "datasets=[iris]", "protocol.splits=2")
    assert "nothing to compute" in capsys.readouterr().out
    folder = run("seeds", "datasets=[iris]", "protocol.splits=2")
    assert "4 cells reused" in capsys.readouterr().out
    first, second = (pd.read_csv(folder / name / "cells.csv") for name in ("seed0", "seed1"))
    assert not set(first["key"]) & set(second["key"]) and len(first) == len(second) == 4


@pytest.mark.slow
def test_both_protocols_share_the_cells_of_narrow_data_and_the_size_asked_for(run, capsys):
    folder = run("protocols", "protocol=lite", "datasets=[iris]")
    assert "6 cells reused" in capsys.readouterr().out  # the clean run finds all cells of the paper's
    for side in ("paper", "clean"):
        assert set(pd.read_csv(folder / side / "cells.csv")["split"]) == {0, 1, 2}
