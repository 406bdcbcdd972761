import pytest
from omegaconf import OmegaConf

from mloml.config import overrides
from mloml.errors import ConfigError

BASE = OmegaConf.create({"protocol": {"splits": 30, "pca": {"fit": "all"}}, "record": [], "counts": {}})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["protocol=pper"],
            "protocol=pper: not one of clean, lite, paper, standardised; did you mean 'paper'?",
        ),
        (["protocol.split=3"], "'protocol' has no key 'split', only splits, pca; did you mean 'splits'?"),
        (
            ["protocl.splits=3"],
            "the config has no key 'protocl', only protocol, record, counts; did you mean 'protocol'?",
        ),
        (["protocol.splits.x=3"], "'protocol.splits' is a value, not a group"),
        (
            ["protocol.pca={fit: all, low: 3}"],
            "'protocol.pca' has no key 'low', only fit; +protocol.pca={...} adds keys",
        ),
        (["counts={low: 3}"], "'counts' has no key 'low'; +counts={...} adds keys"),
    ],
)
def test_a_slip_is_answered_with_what_is_known(words, message):
    with pytest.raises(ConfigError) as caught:
        overrides.check(overrides.parse(words), BASE)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_word_without_equals_sign_is_refused_by_name():
    with pytest.raises(ConfigError, match="protocol: not of the form key=value"):
        overrides.parse(["protocol"])


def test_text_that_needs_quotes_is_shown_with_them():
    with pytest.raises(
        ConfigError, match=r"""; text such as this goes in quotes: 'dataset.path="a =b.csv"'$"""
    ):
        overrides.parse(["dataset.path=a =b.csv"])
    with pytest.raises(ConfigError, match=r"\)$"):
        overrides.parse(["datasets=[iris,wine"])


@pytest.mark.parametrize(
    "word", ["protocol.splits=3", "protocol.pca.fit=train", "hydra.sweep.dir=x", "+protocol.new=1"]
)
def test_known_keys_and_additions_pass(word):
    overrides.check(overrides.parse([word]), BASE)


def test_every_value_of_a_sweep_is_seen_once_and_others_stay_first():
    jobs = list(overrides.single_jobs(["protocol.splits=1,2,3", "seed=5", "protocol=paper,lite"]))
    assert jobs == [
        ["protocol.splits=1", "seed=5", "protocol=paper"],
        ["protocol.splits=2", "seed=5", "protocol=paper"],
        ["protocol.splits=3", "seed=5", "protocol=paper"],
        ["protocol.splits=1", "seed=5", "protocol=lite"],
    ]


def test_what_is_added_to_hydras_own_settings_passes():
    overrides.check_one_run(overrides.parse(["+hydra.job.env_set.A=1", "+protocol.new=1"]), overrides.RUN)


@pytest.mark.parametrize(
    "word", ["~protocol.splits", "~protocol.splits=30", "~dataset", "~algorithm", "~record"]
)
def test_a_field_cannot_be_taken_away(word):
    with pytest.raises(ConfigError, match="no field can be taken away") as caught:
        overrides.check_one_run(overrides.parse([word]), overrides.RUN)
    assert str(caught.value).startswith(f"{word}: ")


@pytest.mark.parametrize("word", ["~algorithm.gamma", "~execution.slurm.partition", "~hydra.sweep.dir"])
def test_what_need_not_be_there_can_be_taken_away(word):
    overrides.check_one_run(overrides.parse([word]), overrides.RUN)
