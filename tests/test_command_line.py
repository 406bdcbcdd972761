"""Command lines: sorted, shown again, and made for one cell."""

import shlex
from types import SimpleNamespace

import pytest

from mloml.command_line import Command, Words, rerun_command
from mloml.config import repository
from mloml.config.compose import compose_run, compose_study
from mloml.errors import ConfigError


def test_a_command_is_shown_as_one_would_type_it():
    assert Command("bin/mloml", ("a=1", "b=[1, 2]")).typed == "mloml a=1 'b=[1, 2]'"
    script = str(repository() / "experiments" / "table2.py")
    words = (
        "protocol=clean",
        "execution.n_jobs=4",
        "+execution.slurm.mem_gb=3",
        "data.dir=x",
        "data.offline=true",
    )
    assert Command(script, words).asked == "python experiments/table2.py protocol=clean data.offline=true"


def test_words_are_sorted_wherever_they_stand_and_folders_travel_as_one_override(tmp_path):
    words = Words.of(["a=1", "--config-dir", str(tmp_path), "-m", "b=2", f"-cd={tmp_path}"], sweeps=True)
    assert (words.overrides, words.multirun, words.cfg) == (["a=1", "b=2"], True, None)
    assert words.with_folders() == [
        "a=1",
        "b=2",
        f'hydra.searchpath=["file://{tmp_path}", "file://{tmp_path}"]',
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--foo", "dataset=iris"], "--foo: no such flag here, only -m, --config-dir FOLDER"),
        (["--multi", "dataset=iris"], "--multi: no such flag here"),
        (["--dataset=iris"], "--dataset=iris: no such flag here, .*; overrides have no dashes"),
        (["--resolve"], "--resolve: goes with --cfg job only"),
        (["--package", "protocol"], "--package: goes with --cfg job only"),
        (["--cfg"], "--cfg: expected one argument"),
        (["--cfg", "jobs"], "--cfg: invalid choice: 'jobs'"),
        (["--config-dir"], "--config-dir: expected one argument"),
        (["-m", "--cfg", "job"], "not allowed with"),
    ],
)
def test_a_wrong_flag_is_one_line(arguments, message):
    with pytest.raises(ConfigError, match=message) as caught:
        Words.of(arguments, sweeps=True)
    assert "\n" not in str(caught.value)


def test_only_runs_have_sweeps():
    with pytest.raises(ConfigError, match=r"^-m: no such flag here, only --config-dir FOLDER"):
        Words.of(["-m", "protocol=lite,clean"])


CHANGED = [
    "protocol.bp_rate=1e-3",
    "execution.results=else where",
    "execution.time_limit=7",
    "data.offline=true",
]
DEEPER = (
    "algorithms=[deep,{use: deep, name: deeper, n_layers: 9, grid: {gamma: [0.1]}, layer_params: {x: 1}}]"
)


@pytest.mark.parametrize(
    ("experiment", "overrides"),
    [
        ("table3", ["protocol=clean"]),
        ("draws", []),
        ("fig8", ["algorithms=[rdml,{use: rdml, name: r, init: identity},opml_multi]"]),
        ("differences", ["algorithms=[{use: kissme, name: k, n_pairs: 100}]", *CHANGED]),
        ("table2", [DEEPER, "hydra.searchpath=[my]"]),
        (
            "table2",
            ["datasets=[{use: csv, name: mine, path: a b.csv, label: class, class_counts: {a: 3, b: null}}]"],
        ),
    ],
)
def test_the_command_of_a_cell_composes_to_that_cell(experiment, overrides, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my/algorithm").mkdir(parents=True)
    (tmp_path / "my/algorithm/deep.yaml").write_text("defaults: [mloml_r, _self_]\nname: deep\ntitle: Deep\n")
    study = compose_study(experiment, overrides)
    for dataset, algorithm in zip(study.datasets[-1:] * 2, study.algorithms[-2:], strict=False):
        cell = SimpleNamespace(
            dataset=dataset.name, algorithm=algorithm, protocol=study.protocol, split=3, record=study.record
        )
        program, *words = shlex.split(rerun_command(study, cell))
        again = compose_run(Words.of(words, sweeps=True).with_folders()).study
        made = again.algorithms[0]
        assert program == "mloml" and again.datasets == [dataset]
        assert (made.name, made.learner, made.params, made.grid) == (
            algorithm.name, algorithm.learner, algorithm.params, algorithm.grid,
        )  # fmt: skip
        assert (again.protocol, again.data, again.record) == (study.protocol, study.data, study.record)
        assert (again.execution.only, again.folders) == ([3], study.folders)
        for key in ("results", "time_limit"):
            assert getattr(again.execution, key) == getattr(study.execution, key)


def test_the_command_of_an_unchanged_cell_names_its_configs_only():
    study = compose_study("table2", ["datasets=[lsvt]", "algorithms=[mloml_t]"])
    cell = SimpleNamespace(
        dataset="lsvt", algorithm=study.algorithms[0], protocol=study.protocol, split=0, record=()
    )
    assert (
        rerun_command(study, cell)
        == "mloml dataset=lsvt algorithm=mloml_t protocol=paper 'execution.only=[0]'"
    )
