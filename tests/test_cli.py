"""The command line as a person uses it: real processes, real output."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from mloml.cli import help_text, main, sweep_name
from mloml.command_line import Words
from mloml.completion import options
from mloml.config.tree import choices
from mloml.reporting.recipe import recipes

ROOT = Path(__file__).parents[1]


def mloml(*arguments, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-m", "mloml.cli", *arguments],
        cwd=cwd,
        env=os.environ | {"MLOML_DATA": ""} | environment,
        capture_output=True,
        text=True,
        timeout=600,
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


MY_CONFIGS = {
    "algorithm/mine.yaml": "defaults: [kissme, _self_]\nname: mine\ntitle: Mine\n",
    "algorithm/odd.yaml": "defaults: [mine, _self_]\nname: odd\ntitle: Odd\n",
}


@pytest.fixture
def my_configs(tmp_path):
    """A user's own folder of configs, laid out like ours; each inherits from another."""
    for name, text in MY_CONFIGS.items():
        path = tmp_path / "my" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def outcome(capfd, *arguments):
    """Run a command line in this process; return its exit code and what it printed."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    printed = capfd.readouterr()
    return end.value.code, printed.out, printed.err


@pytest.mark.parametrize("flags", [["--cfg", "job"], ["-c", "job"], ["--cfg=job"]])
def test_the_composed_config_is_shown_and_nothing_runs(flags, my_configs, monkeypatch, capfd):
    monkeypatch.chdir(my_configs)
    code, out, _ = outcome(capfd, *flags, "--config-dir", "my", "algorithm=mine", "dataset=wine")
    assert code == 0
    assert "name: mine" in out and "learner: KISSME" in out and "name: wine" in out
    assert not (my_configs / "results").exists()


def test_the_version_is_that_of_the_package(capfd):
    from mloml import __version__

    assert outcome(capfd, "--version")[:2] == (0, f"mloml {__version__}\n")


def test_python_dash_m_is_the_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mloml", "--help"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == help_text()
    assert (
        "mloml reproduce NAME" in done.stdout and "make" not in done.stdout.split("Config groups")[0].split()
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mloml data f", ["fetch"]),
        ("mloml data ", ["list", "fetch", "show"]),
        ("mloml data show iri", ["iris"]),
        ("mloml reproduce tab", ["table1", "table2", "table3"]),
        ("mloml report ", []),
        ("mloml dataset=ir", None),
        ("mloml da", None),
    ],
)
def test_the_shell_completes_commands_and_leaves_overrides_to_hydra(line, expected):
    assert options(line) == expected


def test_completion_prints_no_parse_error(monkeypatch, capfd):
    monkeypatch.setenv("COMP_LINE", "mloml data f")
    monkeypatch.setenv("COMP_POINT", "12")
    assert outcome(capfd, "-sc", "query=bash") == (0, "fetch\n", "")


def test_a_sweeps_folder_is_named_by_whole_words():
    overrides = ["dataset=iris,wine", "algorithm=mloml_r,mloml_t", "algorithm.n_layers=1,3,5,7,9"]
    assert sweep_name(overrides).rsplit("-", 1)[0] == "dataset-iris_wine-algorithm-mloml_r_mloml_t"


def test_reproduce_knows_every_artefact_and_answers_slips_in_one_line(capfd):
    code, out, _ = outcome(capfd, "reproduce", "--help")
    assert code == 0
    assert all(f"  {name} " in out for name in [*recipes(), "all"])
    assert outcome(capfd, "reproduce", "tabel2")[::2] == (
        2, f"error: tabel2: no such artefact; did you mean 'table2'? ({', '.join(recipes())})\n",
    )  # fmt: skip
    code, _, err = outcome(capfd, "reproduce", "table2", "--cfg", "job")
    assert (code, err) == (2, "error: --cfg: no such flag here, only --config-dir FOLDER and --help\n")
    code, _, err = outcome(capfd, "report", "execution.results=nowhere")
    assert code == 2 and err.startswith("error: execution.results=nowhere: there is no such folder")


SMALL = ("protocol.splits=2", "protocol.folds=2", "execution.n_jobs=1", "data.offline=true")


@pytest.mark.slow
def test_a_config_with_defaults_works_alone_in_a_sweep_and_in_table_2(my_configs, monkeypatch, capfd):
    monkeypatch.chdir(my_configs)
    folder = ("--config-dir", "my")
    assert outcome(capfd, *folder, "algorithm=mine", "dataset=iris", *SMALL)[0] == 0
    code, out, err = outcome(capfd, "-m", *folder, "algorithm=mine,odd", "dataset=iris", *SMALL)
    assert code == 0, err
    assert out.count("mean error") == 2
    code, out, err = outcome(
        capfd, "reproduce", "table2", *folder, "datasets=[iris]", "algorithms=[kissme,mine,odd]", *SMALL
    )
    assert code == 0, err
    table = pd.read_csv("results/table2/table2.csv")
    assert table["Mine"].tolist() == table["Odd"].tolist() == table["KISSME"].tolist()


def test_words_are_sorted_and_folders_travel_as_one_override(my_configs):
    words = Words.of(["a=1", "--config-dir", str(my_configs / "my"), "-m"])
    assert words.with_folders() == ["a=1", f"hydra.searchpath=[file://{my_configs / 'my'}]"]
