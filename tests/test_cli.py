"""The command line as a person uses it: real processes, real output."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from tests.command import mloml

from mloml.cli import help_text, main, sweep_name
from mloml.command_line import Words
from mloml.completion import options
from mloml.config.tree import choices
from mloml.errors import StoreError
from mloml.report.recipe import recipes

ROOT = Path(__file__).parents[1]


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
        (["--config-dir=/nowhere/to/be/found"], "--config-dir: '/nowhere/to/be/found' is no folder"),
        (["dataset=iris,wine"], "must be one value; several make a sweep: mloml -m dataset=iris,wine"),
        (["+foo=1"], "+foo=1: there is no field 'foo' here, only dataset, algorithm, protocol, execution"),
        (["-m", "dataset=iris,wine", "++records=[scans]"], "did you mean 'record'?"),
        (["-m", "dataset=iris", "--cfg", "job"], "-m --cfg: must be one of these, each asks for something"),
        (
            ["protocol.pca=3"],
            "protocol.pca=3: must be a group, not a single value; its fields are fit, threshold, components",
        ),
        (["protocol.pca=null"], "protocol.pca=None: must be a group"),
        (
            ["execution=slurm", "execution.slurm=3"],
            "execution.slurm=3: must be a group, not a single value; such as '{a: 1}'",
        ),
        (
            ["~protocol.splits"],
            "~protocol.splits: no field can be taken away; say what it shall be: protocol.",
        ),
        (["-m", "dataset=iris,wine", "~protocol"], "~protocol: no field can be taken away"),
        (["execution.results="], "execution.results=: must be a folder such as results"),
        (["--foo", "dataset=iris"], "--foo: no such flag, only -m, --config-dir, --cfg, --version and -h"),
        (["--multi", "dataset=iris"], "--multi: no such flag"),
        (
            ["--dataset", "iris"],
            "--dataset: no such flag, only -m, --config-dir, --cfg, --version and -h; did",
        ),
        (["--dataset=iris"], "did you mean dataset=iris?"),
        (["--resolve"], "--resolve: goes with --cfg job only"),
        (["dataset", "iris"], "dataset: a value must follow, dataset=NAME"),
        (["reproduce", "all", "fo=1"], "fo=1: the config has no key 'fo'"),
        (["reproduce", "table2", "table3"], "table3: not of the form key=value\n"),
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


@pytest.mark.parametrize("command", [(), ("-m",), ("reproduce", "table2", "datasets=[iris]")])
def test_results_that_cannot_be_written_are_named_by_their_field(command, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").touch()
    code, _, err = outcome(capfd, *command, "execution.results=mine.csv")
    assert (code, err) == (
        2, "error: execution.results=mine.csv: cannot be written (a part of the path is a file)\n",
    )  # fmt: skip


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
    code, listed, _ = outcome(capfd, "reproduce", "--help")
    assert code == 0
    assert all(f"  {name} " in listed for name in [*recipes(), "all"])
    assert outcome(capfd, "reproduce", "tabel2")[::2] == (
        2, f"error: tabel2: no such artefact; did you mean 'table2'? ({', '.join(recipes())})\n",
    )  # fmt: skip
    code, _, err = outcome(capfd, "reproduce", "table2", "--cfg", "job")
    assert (code, err) == (2, "error: --cfg: no such flag here, only --config-dir FOLDER and --help\n")
    assert outcome(capfd, "reproduce") == (0, listed, "")
    code, out, _ = outcome(capfd, "report", "--help")
    assert code == 0 and out.startswith("mloml report [execution.results=FOLDER]\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "execution.results=nowhere"], "execution.results=nowhere: there is no such folder"),
        (["report", "nowhere"], "nowhere: not of the form key=value"),
        (["report", "execution.result=elsewhere"], "did you mean 'results'?"),
        (["reproduce", "claims", "datasets=[irs]"], "did you mean 'iris'?"),
    ],
)
def test_a_slip_is_answered_where_nothing_is_computed_too(words, message, tmp_path, monkeypatch, capfd):
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(tmp_path)
    code, _, err = outcome(capfd, *words)
    assert code == 2 and message in err and err.count("\n") == 1
    assert not list((tmp_path / "results").iterdir())


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


@pytest.mark.slow
def test_a_sweeps_table_has_its_own_jobs_only_wherever_their_folders_are(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLOML_DATA", "")
    common = ("algorithm=euclidean", "hydra.sweep.dir=s", "hydra.sweep.subdir=${algorithm.name}", *SMALL)
    assert outcome(capfd, "-m", "dataset=iris,wine", *common)[0] == 0
    code, out, err = outcome(capfd, "-m", "dataset=wine,lsvt", *common)
    assert code == 1 and "2 reused" in out
    assert err.startswith("error: job 2 of 2: dataset=lsvt algorithm=euclidean")
    table = pd.read_csv("s/sweep.csv")
    assert table["dataset"].tolist() == ["wine", "lsvt"] and table["splits"].tolist() == [2, 0]
    assert table["error"].isna().tolist() == [False, True]  # not what wine left in the same folder


def test_a_sweep_ends_with_the_first_job_whose_results_cannot_be_written(tmp_path, monkeypatch, capfd):
    def full(*_, one_line, **__):
        raise StoreError("cells.csv: cannot be written (the disk is full)")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mloml.experiments.study.run_study", full)
    code, out, err = outcome(capfd, "-m", "dataset=iris,wine", "algorithm=euclidean", *SMALL)
    assert (code, out) == (1, "")
    assert err.startswith("error: job 1 of 2: dataset=iris algorithm=euclidean")
    assert err.endswith(": cells.csv: cannot be written (the disk is full)\n") and err.count("\n") == 1


def test_a_sweeps_table_that_cannot_be_written_is_an_error(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mloml.experiments.study.run_study", lambda *_, **__: None)
    (tmp_path / "s" / "sweep.csv").mkdir(parents=True)
    code, _, err = outcome(capfd, "-m", "dataset=iris,wine", "hydra.sweep.dir=s", *SMALL)
    assert code == 2
    assert err.startswith("error: s/sweep.csv: cannot be written") and err.count("\n") == 1


def test_a_table_with_a_dash_is_printed_in_ascii_too(tmp_path):
    code = "from mloml.output import run_program; run_program(lambda: print('a – b') or 0)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"a ? b\n", b"")


@pytest.mark.slow
def test_a_refused_run_leaves_the_earlier_one_as_it_was(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert outcome(capfd, "algorithm=euclidean", *SMALL)[0] == 0
    assert outcome(capfd, "algorithm=euclidean", *SMALL, "execution.only=[2]")[0] == 1
    code, out, _ = outcome(capfd, "status")
    assert (code, out) == (0, "results/runs/iris/euclidean: matches the store\n")


def test_words_are_sorted_and_folders_travel_as_one_override(my_configs):
    words = Words.of(["a=1", "--config-dir", str(my_configs / "my"), "-m"])
    assert words.with_folders() == ["a=1", f"hydra.searchpath=[file://{my_configs / 'my'}]"]
