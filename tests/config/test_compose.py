import sys

import pytest
from omegaconf import OmegaConf

from mloml.command_line import Words
from mloml.config.compose import algorithm, compose_config, compose_study, study_from_config, typed
from mloml.config.schema import ExecutionConfig, ProtocolConfig
from mloml.config.tree import choices, search_path
from mloml.errors import ConfigError
from mloml.report.reproduce import main

KISSME = {"name": "mine", "title": "Mine", "learner": "KISSME"}


def study(*overrides):
    return compose_study("table2", ["datasets=[iris]", "algorithms=[euclidean]", *overrides])


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("protocol.splits=0", "protocol.splits=0: must be a whole number, at least 1"),
        ("protocol.splits=abc", "protocol.splits=abc: must be a whole number"),
        ("protocol.folds=1", "protocol.folds=1: must be a whole number, at least 2"),
        ("protocol.pca.fit=test", "protocol.pca.fit=test: must be 'all' or 'train'"),
        ("protocol.bp_rate=-1", "protocol.bp_rate=-1.0: must be null or a number, at least 0"),
        (
            "protocol.moml_cone=open",
            "protocol.moml_cone=open: must be 'free' or 'split'",
        ),
        ("record=[splits]", "record=['splits']: must be a list of 'layers' and 'scans'"),
        ("datasets=[]", "datasets=[]: must be a list such as '[a,b]' with at least one name"),
        ("datasets=iris", "datasets=iris: must be a list such as '[a,b]' with at least one name"),
        ("algorithms=null", "algorithms=None: must be a list such as '[a,b]' with at least one name"),
        (
            "datasets=[iris,wine,iris]",
            "datasets=[iris,iris]: must be different names; a variant takes one by",
        ),
        ("algorithms=[kissme,{use: kissme, ridge: always}]", "algorithms=[kissme,kissme]: must be different"),
        ("dataset=iris", "dataset=iris: there is no field 'dataset' here, only name, datasets, algorithms"),
        ("+algorithm=[kissme,lego]", "did you mean 'algorithms=[kissme,lego]'?"),
        ("algorithm.n_layers=3", "did you mean 'algorithms'?"),
        ("+foo=1", "+foo=1: there is no field 'foo' here"),
        ("protocol=lite,paper", "must be one value; several make a sweep: mloml -m protocol=lite,paper"),
        ("record=layers", "record=layers: must be a list of 'layers' and 'scans'"),
        ("execution.only=1", "execution.only=1: must be a list such as [1]"),
        ("datasets=[irs]", "did you mean 'iris'?"),
        ("algorithms=[kisme]", "did you mean 'kissme'?"),
        ("algorithms=[{name: x}]", "a variant needs 'use: NAME'"),
        ("algorithms=[{use: kissme, rigde: always}]", "KISSME has no such parameter; did you mean 'ridge'?"),
        ("algorithms=[{use: kissme, ridge: never}]", "kissme.ridge=never"),
    ],
)
def test_bad_values_get_one_line_that_names_key_value_and_what_is_allowed(override, message):
    with pytest.raises(ConfigError) as caught:
        study(override)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_algorithm_lists_the_known_ones():
    with pytest.raises(ConfigError) as caught:
        compose_config("config", ["algorithm=nothing"])
    assert all(name in str(caught.value) for name in choices("algorithm"))


def test_scripts_end_with_the_message_instead_of_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["table2.py", "algorithms=[euclidean]", "protocol.splits=0"])
    with pytest.raises(SystemExit, match="2"):
        main("table2")
    assert capsys.readouterr().err.startswith("error: protocol.splits=0")


def test_every_algorithm_of_the_tree_composes_and_passes_its_learners_constraints():
    for name in choices("algorithm"):
        config = compose_config("config", [f"algorithm={name}"])
        found = study_from_config(config, "run").algorithms[0]
        assert found.name == name


def test_every_dataset_of_the_tree_composes():
    names = sorted(set(choices("dataset")) - {"csv"})
    found = study(f"datasets=[{','.join(names)}]").datasets
    assert [dataset.name for dataset in found] == names


@pytest.mark.parametrize("name", choices("experiment"))
def test_every_experiment_composes(name):
    assert compose_study(name).name == name


def test_a_variant_changes_only_what_it_names():
    plain, wide = compose_study(
        "table2", ["datasets=[iris]", "algorithms=[mloml_r, {use: mloml_r, name: wide, n_layers: 5}]"]
    ).algorithms
    assert wide.name == "wide"
    assert wide.params == plain.params | {"n_layers": 5}


def test_the_bp_rate_follows_the_protocol():
    for protocol, rate in (("paper", 1e-4), ("clean", None)):
        found = compose_study("table2", [f"protocol={protocol}", "algorithms=[mloml_r]"]).algorithms[0]
        assert found.params["rate"] == rate


def test_what_moml_does_at_the_border_of_the_cone_follows_the_protocol():
    for protocol, cone in (("paper", "free"), ("lite", "free"), ("clean", "split")):
        settings = [f"protocol={protocol}", "algorithms=[moml, mloml_r]"]
        single, stack = compose_study("table2", settings).algorithms
        assert single.params["cone"] == cone
        assert "cone" not in stack.params


@pytest.mark.parametrize("name", ["fig5", "fig7"])
def test_figures_of_layers_show_moml_under_the_layers_own_policy_too(name):
    cones = {found.name: found.params.get("cone") for found in compose_study(name).algorithms}
    assert (cones["moml"], cones["moml_split"]) == ("free", "split")


def test_grids_are_ascending_because_ties_go_to_the_smallest_value():
    node = KISSME | {"learner": "MOML", "gamma": None, "grid": {"gamma": [0.1, 0.001]}}
    assert algorithm(OmegaConf.create(node)).grid == {"gamma": [0.001, 0.1]}


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ("os.system", "'os.system' is not a class"),
        ("collections.OrderedDict", "is no scikit-learn transformer: it has no fit, transform, get_params"),
        ("sklearn.svm.SVC", "it has no transform"),
        ("no_such_package.Learner", "cannot be imported (No module named 'no_such_package')"),
        ("sklearn.neighbors.Neighbourhood", "module sklearn.neighbors has no Neighbourhood"),
        ("sklearn.compose.ColumnTransformer", "parameter transformers has no default"),
        ("MOLM", "did you mean 'MOML'?"),
    ],
)
def test_what_is_no_learner_is_refused_in_one_line_before_it_is_called(learner, message):
    with pytest.raises(ConfigError) as caught:
        algorithm(OmegaConf.create(KISSME | {"learner": learner}))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_estimator_from_elsewhere_is_checked_against_its_own_parameters():
    nca = KISSME | {"learner": "sklearn.neighbors.NeighborhoodComponentsAnalysis"}
    found = algorithm(OmegaConf.create(nca | {"max_iter": None, "grid": {"max_iter": [20, 5]}}))
    assert found.grid == {"max_iter": [5, 20]}
    with pytest.raises(ConfigError, match=r"algorithm\.max_iters: .* did you mean 'max_iter'"):
        algorithm(OmegaConf.create(nca | {"max_iters": 3}))
    with pytest.raises(ConfigError, match=r"algorithm\.grid\.max_iter=-1"):
        algorithm(OmegaConf.create(nca | {"max_iter": None, "grid": {"max_iter": [-1]}}))


@pytest.fixture
def folder(tmp_path):
    """A folder of configs of one's own, whose configs say only what differs from the package's."""
    for group, name, text in (
        ("algorithm", "deep", "defaults: [mloml_s, _self_]\nname: deep\ntitle: Deep\nn_layers: 7\n"),
        ("dataset", "flowers", "defaults: [iris, _self_]\nname: flowers\n"),
        ("protocol", "quick", "defaults: [lite, _self_]\nname: quick\nsplits: 2\n"),
    ):
        (tmp_path / group).mkdir()
        (tmp_path / group / f"{name}.yaml").write_text(text)
    return tmp_path


def test_configs_of_ones_own_inherit_and_work_alone_and_in_experiments(folder):
    path = f"hydra.searchpath=[{folder}]"
    one = study_from_config(
        compose_config("config", ["algorithm=deep", "dataset=flowers", "protocol=quick", path]), "run"
    )
    words = ["algorithms=[deep, {use: deep, name: deeper, n_layers: 9}]", "datasets=[flowers]"]
    table = compose_study("table2", [*words, "protocol=quick", path])
    assert one.algorithms[0] == table.algorithms[0]
    assert one.algorithms[0].params["activation"] == "sigmoid"
    assert [found.params["n_layers"] for found in table.algorithms] == [7, 9]
    assert one.datasets == table.datasets
    assert table.datasets[0].rows == 150
    assert (table.protocol.splits, table.protocol.scans) == (2, 2)


@pytest.mark.parametrize("name", ["my conf", "a=b,c", "it's (my) [conf]", "größe"])
def test_a_folder_of_ones_own_may_have_any_name(folder, name):
    place = folder / name
    place.mkdir()
    (folder / "algorithm").rename(place / "algorithm")
    words = Words.of(["--config-dir", str(place), "algorithms=[deep]"]).with_folders()
    assert search_path(words) == [f"file://{place}"]
    assert compose_study("table2", words).algorithms[0].params["n_layers"] == 7


def test_a_slip_in_a_folder_of_ones_own_is_answered_with_its_names(folder):
    with pytest.raises(ConfigError, match="did you mean 'deep'"):
        compose_study("table2", ["algorithms=[dep]", f"hydra.searchpath=[{folder}]"])
    with pytest.raises(ConfigError, match=r"hydra.searchpath: '/no/such' is no folder"):
        compose_study("table2", ["hydra.searchpath=[/no/such]"])


def test_grid_values_are_checked_like_parameters():
    node = KISSME | {"learner": "MOML", "gamma": None, "grid": {"gamma": [-1.0]}}
    with pytest.raises(ConfigError, match=r"algorithm\.grid\.gamma=-1"):
        algorithm(OmegaConf.create(node))


def test_dataclasses_keep_their_defaults_and_convert_types():
    assert typed(ProtocolConfig, {"splits": "7"}, "protocol").splits == 7
    assert typed(ExecutionConfig, {}, "execution") == ExecutionConfig()


@pytest.mark.parametrize("name", ["", ".", "..", ".claims", "a/b", "a b", "ä", "a\n", "x" * 101, None, 3])
def test_names_cannot_leave_their_folder(name):
    from mloml.config.schema import Algorithm, Study
    from mloml.datasets.catalogue import DatasetConfig

    for key, make in (
        ("dataset.name", lambda: DatasetConfig(name=name)),
        ("algorithm.name", lambda: Algorithm(name, "A title", "Euclidean")),
        ("name", lambda: Study(name, [], [])),
    ):
        with pytest.raises(ConfigError, match=rf"^{key}=.*: must be letters, digits"):
            make()


def test_a_dataset_may_be_a_variant_of_another():
    entry = "{use: waveform, name: waveform_1, draw: 1, sources: [generated]}"
    study = compose_study("table2", [f"datasets=[iris,{entry}]", "algorithms=[euclidean]"])
    assert [(config.name, config.draw) for config in study.datasets] == [("iris", None), ("waveform_1", 1)]
    assert study.datasets[1].features == 21
    with pytest.raises(ConfigError, match="a variant needs 'use: NAME', the dataset it starts from"):
        compose_study("table2", ["datasets=[{name: mine}]"])


def test_the_protocol_says_what_online_learners_divide_rows_by():
    for protocol, rows, scale in (("clean", "unit", None), ("standardised", "standardised", "auto")):
        study = compose_study("table2", [f"protocol={protocol}", "algorithms=[opml,lmnn]"])
        assert study.protocol.rows == rows
        assert study.algorithms[0].params["scale"] == scale
        assert "scale" not in study.algorithms[1].params
        assert study.protocol.moml_cone == "split"
    with pytest.raises(ConfigError, match=r"protocol.rows=raw: must be 'unit' or 'standardised'"):
        compose_study("table2", ["protocol.rows=raw"])


def test_an_experiment_may_leave_out_pairs_that_take_too_long():
    study = compose_study("differences", ["leave_out=[{algorithms: [moml], datasets: [iris, wine]}]"])
    assert study.leaves_out("iris", "moml") and study.leaves_out("wine", "moml")
    assert not study.leaves_out("iris", "rdml") and not study.leaves_out("balance", "moml")
    assert compose_study("table2").leave_out == ()
    for wrong in (
        "[{algorithms: [moml]}]",
        "[{algorithms: moml, datasets: [iris]}]",
        "[{a: [], b: []}]",
        "moml",
    ):
        with pytest.raises(ConfigError, match=r"^leave_out=.*: must be"):
            compose_study("differences", [f"leave_out={wrong}"])
