"""The catalogue: complete, consistent, quick to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mloml.paper import published
from mloml.config.compose import compose_study
from mloml.datasets import DatasetConfig, DataSettings, catalogue
from mloml.errors import ConfigError

KNOWN = catalogue()


def test_all_datasets_of_the_paper_its_two_variants_and_those_beyond_it_are_there():
    beyond = [dataset.name for dataset in compose_study("beyond").datasets]
    assert {*published.table1()["dataset"], "spect_paper", "mlprove_paper", *beyond} == set(KNOWN)
    assert list(KNOWN)[-len(beyond) :] == beyond


@pytest.mark.parametrize("name", KNOWN)
def test_class_counts_sum_to_the_rows(name):
    counts = KNOWN[name].class_counts
    if None not in counts.values():
        assert sum(counts.values()) == KNOWN[name].rows


@pytest.mark.parametrize("name", KNOWN)
def test_every_dataset_states_licence_title_and_where_it_comes_from(name):
    config = KNOWN[name]
    assert config.licence
    assert config.title
    assert config.sources or config.base


def test_an_unknown_key_is_named_with_a_suggestion():
    with pytest.raises(ConfigError, match="feature: no such key; did you mean 'features'"):
        DatasetConfig.from_mapping({"name": "x", "feature": 3})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sources": ["web"]}, "'web' is none of local"),
        ({"missing": "fill"}, "'fill' is neither error nor drop"),
        ({"original": {"file": "x"}}, "file: no such key; did you mean 'files'"),
    ],
)
def test_a_value_out_of_range_is_named(changes, message):
    with pytest.raises(ConfigError, match=message):
        DatasetConfig(name="x", **changes)


def test_settings_say_what_is_allowed(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match=r"data.source: 'web' is none of auto, uci, local"):
        DataSettings(source="web")
    with pytest.raises(ConfigError, match=r"data.attempts: 0"):
        DataSettings(attempts=0)
    with pytest.raises(ConfigError, match=r"data.dir: '/no/such' is no folder"):
        DataSettings(dir="/no/such").folder()
    monkeypatch.setenv("MLOML_DATA", "/no/such")
    with pytest.raises(ConfigError, match="MLOML_DATA: '/no/such' is no folder"):
        DataSettings().folder()
    assert DataSettings(dir=str(tmp_path)).folder() == tmp_path


def test_the_cache_folder_follows_setting_then_environment_then_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("MLOML_CACHE", raising=False)
    assert DataSettings().cache_folder().name == "mloml"
    monkeypatch.setenv("MLOML_CACHE", str(tmp_path / "environment"))
    assert DataSettings().cache_folder() == tmp_path / "environment"
    assert DataSettings(cache=str(tmp_path / "setting")).cache_folder() == tmp_path / "setting"


def test_the_catalogue_imports_nothing_heavy():
    code = (
        "import sys, mloml.datasets.catalogue; "
        "print(*{'numpy', 'pandas', 'sklearn', 'requests', 'ucimlrepo', 'rich'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
