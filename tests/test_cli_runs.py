"""Whole runs from the command line, in real processes: one run, a sweep, two workers, own data, a wheel."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from tests.command import mloml

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_one_run_writes_its_cells_and_a_second_computes_nothing(tmp_path):
    arguments = ["dataset=iris", "algorithm=kissme", "protocol.splits=3", "execution.n_jobs=1"]
    first = mloml(*arguments, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    cells = pd.read_csv(tmp_path / "results/runs/iris/kissme/cells.csv")
    assert cells["split"].tolist() == [0, 1, 2]
    assert (cells["status"] == "ok").all()
    second = mloml(*arguments, cwd=tmp_path)
    assert second.returncode == 0, second.stderr
    assert "nothing to compute" in second.stdout
    pd.testing.assert_frame_equal(cells, pd.read_csv(tmp_path / "results/runs/iris/kissme/cells.csv"))


@pytest.mark.slow
def test_a_sweep_ends_in_one_table(tmp_path):
    done = mloml(
        *["-m", "dataset=iris,wine", "algorithm=euclidean,kissme", "protocol.splits=2", "execution.n_jobs=1"],
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "results/sweeps").iterdir()
    table = pd.read_csv(folder / "sweep.csv")
    assert table[["dataset", "algorithm"]].to_numpy().tolist() == [
        [dataset, algorithm] for dataset in ("iris", "wine") for algorithm in ("euclidean", "kissme")
    ]
    assert (table["splits"] == 2).all()
    assert table["error"].between(0, 1).all()
    assert (folder / "sweep.md").read_text().count("\n") == 6
    lines = done.stdout.splitlines()
    jobs = [line for line in lines if line.startswith("job ")]
    assert lines[:4] == jobs  # a line each, and no word of what the others stored
    assert jobs[1].startswith("job 2 of 4: dataset=iris algorithm=kissme protocol.splits=2")
    assert jobs[1].endswith(f"mean error {table['error'][1]:.3f}, 2 cells computed, 0 reused")
    assert [line.strip() for line in lines if line.strip() in ("Sweep", "Mean error over the splits")] == [
        "Sweep"
    ]


@pytest.mark.slow
def test_two_workers_give_the_same_numbers_as_one(tmp_path):
    errors = []
    for jobs in (1, 2):
        arguments = ["dataset=wine", "algorithm=kissme", "protocol.splits=4", f"execution.n_jobs={jobs}"]
        done = mloml(*arguments, f"execution.results=r{jobs}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        cells = pd.read_csv(tmp_path / f"r{jobs}/runs/wine/kissme/cells.csv")
        errors.append(cells.drop(columns="seconds"))
    pd.testing.assert_frame_equal(*errors)


@pytest.mark.slow
def test_a_dataset_of_ones_own_needs_no_code(tmp_path):
    from sklearn.datasets import load_iris

    frame = load_iris(as_frame=True).frame
    frame.rename(columns={"target": "kind"}).to_csv(tmp_path / "mine.csv", index=False)
    done = mloml(
        *[
            "dataset=csv",
            "dataset.path=mine.csv",
            "dataset.label=kind",
            "algorithm=euclidean",
            "protocol.splits=2",
        ],
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_an_installed_wheel_finds_its_configs(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "from mloml.config.paths import conf_dir; print(conf_dir())"
    (tmp_path / "empty").mkdir()

    def python(*words):
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path / "empty",
            env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
            capture_output=True,
            text=True,
            check=False,
        )

    assert Path(python("-c", code).stdout.strip()) == tmp_path / "site/mloml/conf"
    done = python("-m", "mloml", "reproduce", "table1", "datasets=[iris]", "data.offline=true")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "empty/results/table1/table1.md").read_text()
    assert "Made by `mloml reproduce table1 'datasets=[iris]' data.offline=true`" in text
