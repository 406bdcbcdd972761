"""The command line as a person uses it: real processes, real output."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from mloml.cli import help_text
from mloml.config.tree import choices

ROOT = Path(__file__).parents[1]


def mloml(*arguments, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-m", "mloml.cli", *arguments],
        cwd=cwd,
        env=os.environ | {"MLOML_DATA": ""} | environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


def test_help_explains_every_group_and_its_names():
    text = help_text()
    for group in ("dataset", "algorithm", "protocol", "execution"):
        assert f"\n  {group}: " in text
        assert all(name in text for name in choices(group))


def test_help_imports_nothing_heavy():
    code = (
        "import sys, mloml.cli; mloml.cli.help_text();"
        "print(*{'numba', 'numpy', 'sklearn', 'hydra', 'pandas', 'scipy', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["algorithm=nothing"], "algorithm=nothing: not one of"),
        (["protocol.splits=0"], "protocol.splits=0: must be a whole number, at least 1"),
        (["protocol.splits=abc"], "protocol.splits=abc: must be a whole number"),
        (["protocol.split=3"], "did you mean 'splits'?"),
        (["-m", "dataset=iris,irsi", "algorithm=euclidean"], "did you mean 'iris'?"),
        (["-m", "protocol.splits=3,0", "algorithm=euclidean"], "protocol.splits=0: must be"),
        (["statu"], "did you mean 'status'?"),
        (["dataset=csv", "dataset.path=x.csv", "dataset.name=../x"], "dataset.name='../x': must be letters"),
        (
            ["algorithm.name=.."],
            "algorithm.name='..': must be letters, digits, '_', '-', and '.' but not first",
        ),
        (["algorithm.name=a/b"], "algorithm.name='a/b': must be"),
        (["--config-dir=/nowhere/to/be/found"], "'/nowhere/to/be/found' is no folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, tmp_path):
    done = mloml(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir()), "a refused command leaves nothing behind"


@pytest.mark.parametrize(("arguments", "code"), [(["data", "list"], 1), (["--help"], 1), (["status"], 2)])
def test_a_full_disk_behind_standard_output_is_one_line(arguments, code, tmp_path):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mloml.cli", *arguments], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == code
    assert done.stderr.startswith(b"error: ")
    assert done.stderr.count(b"\n") == 1


def test_a_reader_that_has_gone_is_one_line(tmp_path):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "mloml.cli", "--help"]
    done = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert done.returncode == 1
    assert done.stderr == b"error: standard output cannot be written (Broken pipe)\n"


@pytest.mark.parametrize(
    ("shell", "message"),
    [
        ("exec {} --help >&-", "error: standard output is closed; send it to a file or to /dev/null\n"),
        (
            "mkdir gone; cd gone; rmdir ../gone; exec {} --help",
            "error: the working directory was deleted; change to another one\n",
        ),
    ],
)
def test_what_a_program_takes_for_granted_may_be_missing(shell, message, tmp_path):
    command = shell.format(f"{sys.executable} -m mloml.cli")
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode != 0, done.stderr) == (True, message)


def test_python_in_a_config_file_is_one_line(tmp_path):
    (tmp_path / "conf/dataset").mkdir(parents=True)
    (tmp_path / "conf/dataset/mine.yaml").write_text('name: !!python/object/apply:os.system ["touch here"]')
    done = mloml(f"--config-dir={tmp_path}/conf", "dataset=mine", cwd=tmp_path)
    assert done.returncode == 2
    assert "mine.yaml: not plain YAML (line 1: could not determine a constructor for the tag" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "here").exists()


def test_a_file_of_ones_own_must_be_named(tmp_path):
    done = mloml("dataset=csv", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "error: dataset.path: dataset=csv needs the file to read, dataset.path=FILE\n"


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
    code = "from mloml.config import compose, paths; print(paths.conf_dir()); compose.compose_study('table2')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == tmp_path / "site/mloml/conf"
