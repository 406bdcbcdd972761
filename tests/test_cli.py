"""The command line as a person uses it."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from mloml import __version__
from mloml.cli import help_text, main
from mloml.config.compose import choices
from mloml.errors import StoreError
from mloml.report.recipe import recipes
from mloml.report.reproduce import main as script

ROOT = Path(__file__).parents[1]
SMALL = ("protocol.splits=2", "protocol.folds=2", "execution.n_jobs=1", "data.offline=true")


def outcome(capfd, *arguments):
    """Run a command line in this process; return its exit code and what it printed."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    printed = capfd.readouterr()
    return end.value.code, printed.out, printed.err


def folder_in(out):
    """Return the folder that a run says it has written."""
    return Path(out.rpartition("results: ")[2].splitlines()[0])


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLOML_DATA", "")
    return tmp_path


@pytest.fixture
def mine(here):
    """A working directory with a folder of configs, laid out like ours, each inheriting from another."""
    (here / "my/algorithm").mkdir(parents=True)
    for name, base in (("mine", "kissme"), ("odd", "mine")):
        text = f"defaults: [{base}, _self_]\nname: {name}\ntitle: {name.title()}\n"
        (here / f"my/algorithm/{name}.yaml").write_text(text)
    return here


def test_help_explains_every_group_and_its_names_and_imports_nothing_heavy():
    text = help_text()
    for group in ("dataset", "algorithm", "protocol", "execution", "data"):
        assert f"\n  {group}: " in text
        assert all(name in text for name in choices(group))
    assert "_base" not in text
    code = (
        "import sys, mloml.cli; mloml.cli.help_text();"
        "print(*{'numba', 'numpy', 'sklearn', 'hydra', 'pandas', 'scipy', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_python_dash_m_is_the_command(tmp_path):
    done = subprocess.run([sys.executable, "-m", "mloml", "-h"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, help_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "dataset=iris,irsi", "algorithm=euclidean"], "did you mean 'iris'?"),
        (["-m", "protocol.splits=3,0", "algorithm=euclidean"], "protocol.splits=0: must be"),
        (["-m", "algorithm.gamma=interval(0,1)"], "algorithm.gamma=interval(0,1): must be values"),
        (
            ["-m", "dataset=iris,wine", "hydra/launcher=joblib"],
            "hydra/launcher=joblib: only hydra.searchpath",
        ),
        (["dataset=csv", "dataset.path=x.csv", "dataset.name=../x"], "dataset.name='../x': must be letters"),
        (["--config-dir=/nowhere"], "--config-dir=/nowhere: must be a folder"),
        (["statu"], "did you mean 'status'?"),
        (["algorithm=mloml"], "did you mean 'mloml_r' or 'mloml_s' or 'mloml_t'?"),
        (["dataset=my/good.csv"], "dataset=csv dataset.path=my/good.csv"),
        (["reproduce", "table2", "datasets=[good.tsv]"], "{use: csv, path: good.tsv}"),
        (["dataset", "iris"], "did you mean 'dataset=NAME'?"),
        (
            ["--config-dir", "/", "reproduce", "table2"],
            "reproduce: neither key=value nor a command, which comes",
        ),
        (["reproduce", "tabel2"], "tabel2: no such artefact; did you mean 'table2'?"),
        (["reproduce", "all", "fo=1"], "fo=1: there is no field 'fo' here"),
        (["reproduce", "table2", "table3"], "table3: not of the form key=value\n"),
        (["reproduce", "claims", "datasets=[irs]"], "did you mean 'iris'?"),
        (["reproduce", "claims", "--cfg", "job"], "--cfg: claims has no config of its own"),
        (["compare", "reference=opml"], "reference=opml: must be one of the algorithms, euclidean, "),
        (["compare", "dataset=iris"], "did you mean 'datasets=[iris]'?"),
        (["reproduce", "table2", "reference=moml"], "there is no field 'reference' here"),
        (["report", "nowhere"], "nowhere: not of the form key=value"),
        (["report", "execution.result=elsewhere"], "did you mean 'results'?"),
        (["report", "execution.results=nowhere"], "execution.results=nowhere: unknown folder"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2_and_leaves_nothing_behind(arguments, message, here, capfd):
    code, _, err = outcome(capfd, *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("error: ") and message in err
    assert not any(here.iterdir())


def test_scripts_end_with_the_message_instead_of_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["table2.py", "algorithms=[euclidean]", "protocol.splits=0"])
    with pytest.raises(SystemExit, match="2"):
        script("table2")
    assert capsys.readouterr().err.startswith("error: protocol.splits=0")


@pytest.mark.parametrize("command", [(), ("-m",), ("reproduce", "table2", "datasets=[iris]")])
def test_results_that_cannot_be_written_are_named_by_their_field(command, here, capfd):
    Path("mine.csv").touch()
    code, _, err = outcome(capfd, *command, "execution.results=mine.csv")
    assert code == 2 and err.startswith("error: execution.results=mine.csv: cannot be written")


def test_a_file_of_ones_own_must_be_named(here, capfd):
    assert outcome(capfd, "dataset=csv")[::2] == (
        1, "error: dataset.path: dataset=csv needs the file to read, dataset.path=FILE\n",
    )  # fmt: skip


@pytest.mark.parametrize(("arguments", "code"), [(["data", "list"], 1), (["--help"], 1), (["status"], 2)])
def test_a_full_disk_behind_standard_output_is_one_line(arguments, code, tmp_path):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "mloml.cli", *arguments]
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr[:7], done.stderr.count(b"\n")) == (code, b"error: ", 1)


@pytest.mark.parametrize(
    ("shell", "message"),
    [
        ("exec {} --help >&-", "standard output is closed"),
        ("mkdir gone; cd gone; rmdir ../gone; exec {} --help", "the working directory was deleted"),
    ],
)
def test_what_a_program_takes_for_granted_may_be_missing(shell, message, tmp_path):
    command = shell.format(f"{sys.executable} -m mloml.cli")
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr.startswith(f"error: {message}")


def test_nothing_is_said_when_nobody_reads_on(tmp_path):
    command = f"({sys.executable} -m mloml.cli data; echo $? >&2) | :"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == "141\n"


def test_a_dash_is_printed_in_ascii_too():
    code = "from mloml.output import run_program; run_program(lambda: print('a – b') or 0)"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"a ? b\n", b"")


@pytest.mark.parametrize("flags", [["--cfg", "job"], ["-c=job"]])
def test_the_composed_config_is_shown_and_nothing_runs(flags, mine, capfd):
    code, out, _ = outcome(capfd, *flags, "--config-dir", "my", "algorithm=odd", "dataset=wine")
    assert code == 0
    assert "name: odd" in out and "learner: KISSME" in out and "name: wine" in out
    code, out, _ = outcome(
        capfd, "reproduce", "protocols", "-cd", "my", *flags, "algorithms=[odd]", "protocol=lite"
    )
    assert code == 0
    assert "\n- odd\n" in out and "\n  splits: 3\n" in out and "\n- mlprove\n" in out
    assert not (mine / "results").exists()


def test_only_completion_needs_hydras_own_program_which_python_314_refuses(here, monkeypatch, capfd):
    add = argparse.ArgumentParser.add_argument

    def strict(self, *words, help=None, **settings):  # as Python 3.14 does
        if help is not None and "%" in help:
            raise ValueError("badly formed help string")
        return add(self, *words, help=help, **settings)

    monkeypatch.setattr(argparse.ArgumentParser, "add_argument", strict)
    assert outcome(capfd, "--cfg", "job")[0] == 0
    code, _, err = outcome(capfd, "-sc", "install=bash")
    assert (code, err.count("\n")) == (2, 1) and err.startswith("error: -sc: Hydra's own program")


def test_the_version_is_that_of_the_package(capfd):
    assert outcome(capfd, "--version")[:2] == (0, f"mloml {__version__}\n")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Hydra 1.3's own program does not run there")
def test_completion_prints_what_may_follow(mine, monkeypatch, capfd):
    line = "mloml --config-dir my algorithm=od"
    monkeypatch.setenv("COMP_LINE", line)
    monkeypatch.setenv("COMP_POINT", str(len(line)))
    assert outcome(capfd, "-sc", "query=bash") == (0, "algorithm=odd\n", "")


def test_reproduce_lists_every_artefact(capfd):
    code, listed, _ = outcome(capfd, "reproduce", "--help")
    assert code == 0 and all(f"  {name} " in listed for name in [*recipes(), "all"])
    assert outcome(capfd, "reproduce") == (0, listed, "")
    for words in (["compare"], ["compare", "-h"]):
        code, out, _ = outcome(capfd, *words)
        assert code == 0 and "\n    mloml compare datasets=[..] algorithms=[..] [reference=NAME]" in out
    code, out, _ = outcome(capfd, "report", "--help")
    assert code == 0 and "\n    mloml report [execution.results=FOLDER]\n" in out


@pytest.mark.slow
def test_one_run_writes_its_cells_and_a_second_computes_nothing(here, capfd):
    load_iris(as_frame=True).frame.rename(columns={"target": "kind"}).to_csv("mine.csv", index=False)
    own = ("dataset=csv", "dataset.path=mine.csv", "dataset.label=kind")
    words = (*own, "algorithm=kissme", "protocol.splits=3", "execution.n_jobs=1")
    code, out, _ = outcome(capfd, *words)
    folder = folder_in(out)
    assert code == 0 and folder.parent == Path("results/runs/mine")
    cells = pd.read_csv(folder / "cells.csv")
    assert cells["split"].tolist() == [0, 1, 2] and (cells["status"] == "ok").all()
    code, out, _ = outcome(capfd, *words)
    assert code == 0 and "nothing to compute" in out and "replaced" not in out
    pd.testing.assert_frame_equal(cells, pd.read_csv(folder / "cells.csv"))
    assert outcome(capfd, *words, "execution.only=[7]")[0] == 1  # refused: the earlier run stays as it was
    assert outcome(capfd, "status")[:2] == (0, f"{folder}: matches the store\n")
    other = folder_in(outcome(capfd, *words, "algorithm.ridge=always")[1])
    assert other != folder and pd.read_csv(other / "cells.csv")["key"].tolist() != cells["key"].tolist()
    pd.testing.assert_frame_equal(cells, pd.read_csv(folder / "cells.csv"))
    out = outcome(capfd, *words, "protocol.seed=1", f"hydra.run.dir={folder}")[1]
    assert f"replaced: {folder} held a run with other protocol\n" in out


@pytest.mark.slow
def test_a_sweep_ends_in_one_table_of_its_own_jobs(mine, capfd):
    words = (
        "-m",
        "-cd",
        "my",
        "dataset=iris,wine",
        "algorithm=choice(odd,mine)",
        "protocol.seed=range(1,2)",
        *SMALL,
    )
    code, out, err = outcome(capfd, *words)
    assert (code, err) == (0, "")
    (folder,) = Path("results/sweeps").iterdir()
    table = pd.read_csv(folder / "sweep.csv")
    pairs = [[dataset, algorithm] for dataset in ("iris", "wine") for algorithm in ("odd", "mine")]
    assert table[["dataset", "algorithm"]].to_numpy().tolist() == pairs
    assert (table["splits"] == 2).all() and table["error"].between(0, 1).all()
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == ["0", "1", "2", "3"]
    assert out.startswith("8/8 cells (100 %), elapsed ")  # of all jobs
    assert {path.suffix for path in folder.glob("sweep.*")} == {".csv", ".md", ".tex", ".png", ".pdf"}
    code, out, err = outcome(
        capfd, "reproduce", "table2", "-cd", "my", "datasets=[iris]", "algorithms=[kissme,mine,odd]", *SMALL
    )
    assert code == 0, err
    shown = pd.read_csv(folder_in(out) / "table2.csv")
    assert shown["Mine"].tolist() == shown["Odd"].tolist() == shown["KISSME"].tolist()


@pytest.mark.slow
def test_a_table_of_ones_own_over_own_data_and_an_own_learner(mine, capfd):
    load_iris(as_frame=True).frame.to_csv("flowers.csv", index=False)
    words = (
        "compare",
        "datasets=[wine,{use: csv, path: flowers.csv}]",
        "algorithms=[odd,euclidean]",
        "-cd",
        "my",
    )
    code, out, err = outcome(capfd, *words, *SMALL, "protocol.full=2", "reference=euclidean")
    assert (code, err) == (0, "")
    folder = folder_in(out)
    numbers = pd.read_csv(folder / "compare.csv").set_index(["dataset", "algorithm"])
    errors = pd.read_csv(folder / "cells.csv").groupby(["dataset", "algorithm"])["error"]
    assert set(numbers.index) == {(d, a) for d in ("wine", "flowers") for a in ("odd", "euclidean")}
    for column, expected in (("mean", errors.mean()), ("std", errors.std())):
        assert numbers[column].to_dict() == pytest.approx(expected.to_dict())
    endings = {".csv", ".md", ".tex", ".png", ".pdf"}
    assert {path.suffix for stem in ("compare", "errors") for path in folder.glob(f"{stem}.*")} == endings
    assert f"label{{tab:{folder.name}}}" in (folder / "compare.tex").read_text()
    assert "iris" not in (folder / "compare.md").read_text().lower()  # not taken for a row of the paper
    again = folder_in(outcome(capfd, *words, *SMALL, "protocol.full=2", "reference=odd")[1])
    assert again != folder and again.parent == folder.parent


@pytest.mark.slow
def test_a_job_that_is_refused_has_a_row_without_an_error_and_the_others_go_on(here, capfd):
    common = ("algorithm=euclidean", "hydra.sweep.dir=s", "hydra.sweep.subdir=${algorithm.name}", *SMALL)
    assert outcome(capfd, "-m", "dataset=iris,wine", *common)[0] == 0
    code, out, err = outcome(capfd, "-m", "dataset=lsvt,wine", *common)
    assert code == 1 and "4/4 cells (100 %)" in out
    assert err.startswith("error: job 1 of 2: dataset=lsvt algorithm=euclidean") and err.count("\n") == 1
    table = pd.read_csv("s/sweep.csv")
    assert table["dataset"].tolist() == ["lsvt", "wine"] and table["splits"].tolist() == [0, 2]
    assert table["error"].isna().tolist() == [True, False]  # not what iris left in the same folder


def test_a_sweep_ends_with_the_first_job_whose_results_cannot_be_written(here, monkeypatch, capfd):
    def full(*_, **__):
        raise StoreError("cells.csv: cannot be written (the disk is full)")

    monkeypatch.setattr("mloml.report.sweep.run_study", full)
    code, out, err = outcome(capfd, "-m", "dataset=iris,wine", "algorithm=euclidean", *SMALL)
    assert (code, out) == (1, "")
    assert err.startswith("error: job 1 of 2: dataset=iris algorithm=euclidean")
    assert err.endswith(": cells.csv: cannot be written (the disk is full)\n") and err.count("\n") == 1


def test_a_sweeps_table_that_cannot_be_written_is_an_error(here, monkeypatch, capfd):
    monkeypatch.setattr("mloml.report.sweep.run_study", lambda *_, **__: None)
    Path("s/sweep.csv").mkdir(parents=True)
    code, _, err = outcome(capfd, "-m", "dataset=iris,wine", "hydra.sweep.dir=s", *SMALL)
    assert code == 2
    assert err.startswith("error: s/sweep.csv: cannot be written") and err.count("\n") == 1
