import pytest
from omegaconf import OmegaConf

from mloml.compose import algorithm, compose_config, compose_study, study_from_argv, study_from_config, typed
from mloml.config import ExecutionConfig, ProtocolConfig
from mloml.errors import ConfigError
from mloml.overrides import choices

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
        ("record=[splits]", "record=['splits']: must be a list of 'layers' and 'scans'"),
        ("datasets=[]", "datasets=[]: must be a list such as '[a,b]' with at least one name"),
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


def test_scripts_end_with_the_message_instead_of_a_traceback():
    with pytest.raises(SystemExit, match=r"error: protocol\.splits=0"):
        study_from_argv("table2", ["algorithms=[euclidean]", "protocol.splits=0"])


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


def test_grids_are_ascending_because_ties_go_to_the_smallest_value():
    node = KISSME | {"learner": "MOML", "gamma": None, "grid": {"gamma": [0.1, 0.001]}}
    assert algorithm(OmegaConf.create(node)).grid == {"gamma": [0.001, 0.1]}


def test_configs_cannot_name_code_outside_the_package():
    with pytest.raises(ConfigError, match="must be one of the package's own classes"):
        algorithm(OmegaConf.create(KISSME | {"learner": "os.system"}))


def test_grid_values_are_checked_like_parameters():
    node = KISSME | {"learner": "MOML", "gamma": None, "grid": {"gamma": [-1.0]}}
    with pytest.raises(ConfigError, match=r"algorithm\.grid\.gamma=-1"):
        algorithm(OmegaConf.create(node))


def test_dataclasses_keep_their_defaults_and_convert_types():
    assert typed(ProtocolConfig, {"splits": "7"}, "protocol").splits == 7
    assert typed(ExecutionConfig, {}, "execution") == ExecutionConfig()
