"""Composition: what configs come to, and one line for every mistake."""

import pytest

from mloml.command_line import Words
from mloml.config.compose import (
    algorithm,
    choices,
    compose_config,
    compose_datasets,
    compose_members,
    compose_run,
    compose_study,
    parse,
    search_path,
    show_config,
    single_jobs,
    typed,
)
from mloml.config.schema import ExecutionConfig, ProtocolConfig
from mloml.errors import ConfigError

NCA = "sklearn.neighbors.NeighborhoodComponentsAnalysis"


def study(*overrides):
    return compose_study("table2", ["datasets=[iris]", "algorithms=[euclidean]", *overrides])


def learner(name, **values):
    return algorithm({"name": "mine", "title": "Mine", "learner": name} | values)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("protocol.splits=0", "protocol.splits=0: must be a whole number, at least 1"),
        ("protocol.splits=abc", "protocol.splits=abc: must be a whole number"),
        ("data.offline=abc", "data.offline=abc: must be true or false"),
        ("execution.only=1", "execution.only=1: must be a list such as [1]"),
        ("protocol.pca=3", "protocol.pca=3: must be a group of keys: fit, threshold, components"),
        (
            "protocol=pper",
            "protocol=pper: not one of clean, lite, paper, standardised, untuned; did you mean 'paper'?",
        ),
        ("protocol.split=3", "protocol.split=3: 'protocol' has no key 'split', only name, splits"),
        ("protocol.splits.x=3", "protocol.splits.x=3: 'protocol.splits' has no key 'x'"),
        ("protocol.pca={fit: all, low: 3}", "'protocol.pca' has no key 'low', only fit, threshold"),
        ("+protocol.spits=3", "protocol.spits: no such key; did you mean 'splits'?"),
        ("protocol.bp_rate=${nothing}", "protocol.bp_rate: Interpolation key 'nothing' not found"),
        ("record=[splits]", "record=['splits']: must be a list of 'layers' and 'scans'"),
        ("datasets=iris", "datasets=iris: must be a list such as '[a,b]' with at least one name"),
        ("datasets=[iris,wine,iris]", "datasets=[iris,iris]: must be different names"),
        ("algorithms=[kissme,{use: kissme, ridge: always}]", "algorithms=[kissme,kissme]: must be different"),
        ("datasets=[irs]", "dataset=irs: not one of"),
        ("algorithms=[{name: x}]", "a variant needs 'use: NAME', the algorithm it starts from"),
        ("datasets=[{name: x}]", "a variant needs 'use: NAME', the dataset it starts from"),
        ("algorithms=[{use: kissme, rigde: always}]", "KISSME has no such parameter; did you mean 'ridge'?"),
        ("algorithms=[{use: kissme, random_state: 1}]", "KISSME has no such parameter"),
        ("dataset=iris", "did you mean 'datasets=[iris]'?"),
        ("+algorithm=[kissme,lego]", "did you mean 'algorithms=[kissme,lego]'?"),
        ("experiment=fig5", "there is no field 'experiment' here"),
        ("+foo=1", "+foo=1: there is no field 'foo' here"),
        ("~protocol.splits", "~protocol.splits: no field can be taken away"),
        ("protocol=lite,paper", "must be one value; several make a sweep: mloml -m protocol=lite,paper"),
        ("hydra/launcher=joblib", "hydra/launcher=joblib: only hydra.searchpath"),
        ("hydra.searchpath=[/no/such]", "hydra.searchpath=/no/such: must be a folder"),
        ("hydra.searchpath=mine", "hydra.searchpath=mine: must be a list of folders"),
        ("hydra.searchpath=[pkg://no_such_package]", "path=no_such_package is not available"),
        ("leave_out=moml", "leave_out=moml: must be"),
        (
            "leave_out=[{algorithms: moml, datasets: [iris]}]",
            "must be '[{algorithms: [a,b], datasets: [c]}]'",
        ),
        ("protocol", "protocol: not of the form key=value"),
        ("name=a =b", """text such as this goes in quotes: 'name="a =b"'"""),
    ],
)
def test_a_mistake_is_one_line_that_names_key_value_and_what_is_allowed(override, message):
    with pytest.raises(ConfigError) as caught:
        study(override)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_needs_no_quotes_is_not_told_to_have_them():
    with pytest.raises(ConfigError, match=r"\)$"):
        parse(["datasets=[iris,wine"])


def test_an_unknown_algorithm_lists_the_known_ones_but_not_what_they_share():
    with pytest.raises(ConfigError) as caught:
        compose_run(["algorithm=nothing"])
    assert all(name in str(caught.value) for name in choices("algorithm"))
    assert "_base" not in str(caught.value)


@pytest.mark.parametrize("word", ["~algorithm.decay", "~execution.slurm.mem_gb"])
def test_what_need_not_be_there_can_be_taken_away(word):
    group, *inside, key = word.removeprefix("~").split(".")
    node = compose_config("config", ["execution=slurm", word])[group]
    for part in inside:
        node = node[part]
    assert key not in node and len(node) > 1


def test_every_algorithm_of_the_tree_composes_and_passes_its_learners_constraints():
    names = choices("algorithm")
    assert [found.name for found in study(f"algorithms=[{','.join(names)}]").algorithms] == names
    assert compose_run(["algorithm=opml"]).study.algorithms == study("algorithms=[opml]").algorithms


def test_every_dataset_of_the_tree_composes():
    names = choices("dataset")
    assert [dataset.name for dataset in compose_datasets(names).values()] == names
    assert {"iris", "spect_paper", "csv"} <= set(names)


@pytest.mark.parametrize("name", choices("experiment"))
def test_every_experiment_composes_and_is_no_trial(name):
    found = compose_study(name)
    assert found.name == name and not found.protocol.is_trial


def test_a_variant_changes_only_what_it_names_and_a_grid_key_by_key():
    words = "algorithms=[mloml_r, {use: mloml_r, name: wide, n_layers: 5, grid: {rate: [0.1]}}]"
    plain, wide = study(words).algorithms
    assert (wide.name, wide.title, wide.params) == ("wide", "wide", plain.params | {"n_layers": 5})
    assert wide.grid == plain.grid | {"rate": [0.1]}
    entry = "{use: waveform, name: waveform_1, draw: 1, sources: [generated]}"
    one, other = study(f"datasets=[waveform,{entry}]").datasets
    assert (other.name, other.draw, other.features) == ("waveform_1", 1, one.features)


@pytest.mark.parametrize(
    ("protocol", "rate", "cone", "scale"),
    [
        ("paper", 1e-4, "free", None),
        ("lite", 1e-4, "free", None),
        ("clean", None, "split", None),
        ("standardised", None, "split", "auto"),
    ],
)
def test_the_protocol_sets_what_parameters_refer_to(protocol, rate, cone, scale):
    moml, stack, lmnn = study(f"protocol={protocol}", "algorithms=[moml,mloml_r,lmnn]").algorithms
    assert (stack.params["rate"], moml.params["cone"]) == (rate, cone)
    assert moml.params["scale"] == stack.params["scale"] == scale
    assert "cone" not in stack.params and "scale" not in lmnn.params
    assert compose_run([f"protocol={protocol}", "algorithm=moml"]).study.algorithms == [moml]


def test_grids_are_ascending_because_ties_go_to_the_smallest_value():
    assert learner("MOML", gamma=None, grid={"gamma": [0.1, 0.001]}).grid == {"gamma": [0.001, 0.1]}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"grid": {"gamma": [-1.0]}, "gamma": None}, r"algorithm\.grid\.gamma=-1"),
        ({"grid": {"gamma": []}}, r"algorithm\.grid\.gamma=\[\]: must be a list"),
        ({"gamma": -1.0}, r"algorithm\.gamma=-1\.0: "),
        ({"gama": 1.0}, r"algorithm\.gama: MOML has no such parameter; did you mean 'gamma'"),
        ({"learner": "MOLM"}, r"algorithm\.learner 'MOLM' .*; did you mean 'MOML'\?"),
        ({"learner": None}, r"algorithm\.learner: missing"),
        ({"title": ""}, r"algorithm\.title: missing"),
        ({"learner": NCA, "max_iters": 3}, "did you mean 'max_iter'"),
        ({"learner": NCA, "max_iter": None, "grid": {"max_iter": [-1]}}, r"algorithm\.grid\.max_iter=-1"),
    ],
)
def test_parameters_and_grids_are_checked_by_their_learner(values, message):
    with pytest.raises(ConfigError, match=message):
        algorithm({"name": "mine", "title": "Mine", "learner": "MOML"} | values)


def test_a_learner_may_be_named_by_hydras_target_too():
    ours = {"name": "mine", "title": "Mine", "_target_": "mloml.learners.moml.MOML", "gamma": 0.1}
    assert algorithm(ours) == learner("MOML", gamma=0.1)
    theirs = {"name": "mine", "title": "Mine", "_target_": NCA, "max_iter": 3}
    assert algorithm(theirs) == learner(NCA, max_iter=3)


def test_dataclasses_keep_their_defaults_and_convert_types():
    assert typed(ProtocolConfig, {"splits": "7"}, "protocol").splits == 7
    assert typed(ExecutionConfig, {}, "execution") == ExecutionConfig()


@pytest.fixture
def folder(tmp_path):
    """A folder of configs of one's own, whose configs say only what differs from the package's."""
    for group, name, text in (
        ("algorithm", "deep", "defaults: [mloml_s, _self_]\nname: deep\ntitle: Deep\nn_layers: 7\n"),
        ("dataset", "flowers", "defaults: [iris, _self_]\nname: flowers\n"),
        ("protocol", "quick", "defaults: [lite, _self_]\nname: quick\nsplits: 2\n"),
        (
            "experiment",
            "shown",
            "# @package _global_\ndefaults: [override /protocol: quick]\n"
            "name: shown\ndatasets: [flowers]\nalgorithms: [deep, {use: deep, name: deeper, n_layers: 9}]\n",
        ),
    ):
        (tmp_path / group).mkdir()
        (tmp_path / group / f"{name}.yaml").write_text(text)
    return tmp_path


def test_configs_of_ones_own_inherit_and_work_alone_and_in_experiments(folder):
    path = f"hydra.searchpath=[{folder}]"
    one = compose_run(["algorithm=deep", "dataset=flowers", "protocol=quick", path]).study
    table = compose_study("shown", [path])
    assert one.algorithms[0] == table.algorithms[0]
    assert one.algorithms[0].params["activation"] == "sigmoid"
    assert [found.params["n_layers"] for found in table.algorithms] == [7, 9]
    assert (one.datasets, table.datasets[0].rows) == (table.datasets, 150)
    assert (table.protocol.splits, table.protocol.scans) == (2, 2)
    assert one.folders == table.folders == (f"file://{folder}",)
    with pytest.raises(ConfigError, match="did you mean 'deep'"):
        compose_run(["algorithm=dep", path])


def test_a_path_in_a_config_file_is_relative_to_that_file_and_one_that_is_typed_is_not(folder):
    (folder / "dataset/mine.yaml").write_text("name: mine\npath: rows.csv\n")
    (folder / "dataset/yours.yaml").write_text("defaults: [mine, _self_]\nname: yours\n")
    entry = "{use: csv, path: ../more rows.csv}"
    text = f"# @package _global_\nname: listed\ndatasets: [mine, {entry}]\nalgorithms: [moml]\n"
    (folder / "experiment/listed.yaml").write_text(text)
    path, inside = f"hydra.searchpath=[{folder}]", str(folder / "dataset/rows.csv")
    for name in ("mine", "yours"):
        assert compose_run([f"dataset={name}", path]).study.datasets[0].path == inside
    listed = compose_study("listed", [path]).datasets
    assert [(d.name, d.path) for d in listed] == [
        ("mine", inside), ("more_rows", str(folder / "experiment/../more rows.csv")),
    ]  # fmt: skip
    assert compose_run(["dataset=mine", path, "dataset.path=rows.csv"]).study.datasets[0].path == "rows.csv"
    typed_in = compose_study("listed", [path, "datasets=[{use: csv, path: rows.csv}]"]).datasets
    assert [(d.name, d.path) for d in typed_in] == [("rows", "rows.csv")]


@pytest.mark.parametrize("name", ["a=b, c", "it's (my) [größe]"])
def test_a_folder_of_ones_own_may_have_any_name(folder, name):
    (folder / name).mkdir()
    (folder / "algorithm").rename(folder / name / "algorithm")
    words = Words.of(["--config-dir", str(folder / name), "algorithms=[deep]"]).with_folders()
    assert search_path(words) == [f"file://{folder / name}"]
    assert compose_study("table2", words).algorithms[0].params["n_layers"] == 7


@pytest.mark.parametrize(
    "text", ['name: !!python/object/apply:os.system ["touch here"]', "name: [", "a: b: c"]
)
def test_what_is_not_plain_yaml_is_one_line_with_its_place(folder, text, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "dataset" / "mine.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"mine\.yaml, line \d+: not plain YAML") as caught:
        compose_run(["dataset=mine", f"hydra.searchpath=[{folder}]"])
    assert "\n" not in str(caught.value) and not (folder / "here").exists()


def test_members_are_what_each_alone_would_be():
    both = compose_members("protocol", ["clean", "lite"])
    for name, values in both.items():
        assert typed(ProtocolConfig, values, "protocol") == study(f"protocol={name}").protocol


def test_a_sweep_has_a_job_for_every_combination_in_order():
    jobs = single_jobs(["protocol.splits=1,2", "protocol.seed=5", "protocol=choice(paper,lite)"])
    assert jobs == [
        [f"protocol.splits={n}", "protocol.seed=5", f"protocol={p}"]
        for n in (1, 2)
        for p in ("paper", "lite")
    ]
    names = [name for name in choices("dataset") if name.startswith("i")]
    assert single_jobs(["dataset=glob(i*)"]) == [[f"dataset={name}"] for name in names]
    assert single_jobs(["algorithm.n_layers=range(1,4)", "record=[layers,scans]"]) == [
        [f"algorithm.n_layers={n}", "record=[layers,scans]"] for n in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    "word", ["algorithm.gamma=interval(0,1)", "dataset=glob(zz*)", "protocol.seed=range(3,3)"]
)
def test_a_sweep_over_nothing_is_refused(word):
    with pytest.raises(ConfigError) as caught:
        single_jobs([word])
    assert str(caught.value).startswith(f"{word}: ") and "\n" not in str(caught.value)


def test_results_go_to_the_folder_that_hydra_names():
    assert compose_run(["dataset=wine"]).folder.as_posix() == "results/runs/wine/mloml_r"
    assert compose_run(["hydra.run.dir=${execution.results}/x"]).folder.as_posix() == "results/x"
    run = compose_run(["hydra.sweep.dir=s", "hydra.sweep.subdir=${algorithm.name}-${hydra.job.num}"], 3)
    assert (run.sweep.as_posix(), run.folder.as_posix()) == ("s", "s/mloml_r-3")


def test_a_shown_config_is_what_would_run():
    config = compose_config("config", ["algorithm=moml", "protocol.splits=7"])
    job = show_config(config)
    assert "splits: 7" in job and "cone: ${protocol.moml_cone}" in job and "hydra:" not in job
