"""The dataclasses refuse what is out of range, in one line that names the field."""

import pytest

from mloml.config.schema import (
    Algorithm,
    DatasetConfig,
    DataSettings,
    ExecutionConfig,
    PcaConfig,
    ProtocolConfig,
    Study,
)
from mloml.errors import ConfigError


@pytest.mark.parametrize("name", ["", ".", "..", ".claims", "a/b", "a b", "ä", "a\n", "x" * 101, None, 3])
@pytest.mark.parametrize(
    ("key", "make"),
    [
        ("dataset.name", lambda name: DatasetConfig(name=name)),
        ("algorithm.name", lambda name: Algorithm(name, "A title", "Euclidean")),
        ("name", lambda name: Study(name, [], [])),
    ],
)
def test_names_cannot_leave_their_folder(name, key, make):
    with pytest.raises(ConfigError, match=rf"^{key}=.*: must be letters, digits"):
        make(name)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: ProtocolConfig(splits=0), "protocol.splits=0"),
        (lambda: ProtocolConfig(folds=1), "protocol.folds=1"),
        (lambda: ProtocolConfig(seed=-1), "protocol.seed=-1"),
        (lambda: ProtocolConfig(bp_rate=-1.0), "protocol.bp_rate=-1.0"),
        (lambda: ProtocolConfig(moml_cone="open"), "protocol.moml_cone=open"),
        (lambda: ProtocolConfig(rows="raw"), "protocol.rows=raw"),
        (lambda: ProtocolConfig(ties="first"), "protocol.ties=first"),
        (lambda: PcaConfig(fit="test"), "protocol.pca.fit=test"),
        (lambda: PcaConfig(components=0), "protocol.pca.components=0"),
        (lambda: PcaConfig(signs=-1), "protocol.pca.signs=-1"),
        (lambda: ExecutionConfig(backend="cloud"), "execution.backend=cloud"),
        (lambda: ExecutionConfig(cluster="pbs"), "execution.cluster=pbs"),
        (lambda: ExecutionConfig(n_jobs=0), "execution.n_jobs=0"),
        (lambda: ExecutionConfig(results=""), "execution.results="),
        (lambda: ExecutionConfig(time_limit=0.0), "execution.time_limit=0.0"),
        (lambda: ExecutionConfig(only=[3, -1]), r"execution.only=\[3, -1\]"),
        (lambda: DataSettings(source="web"), "data.source=web"),
        (lambda: DataSettings(attempts=0), "data.attempts=0"),
        (lambda: DataSettings(deadline=0.0), "data.deadline=0.0"),
        (lambda: DataSettings(dir="/no/such").folder(), "data.dir=/no/such"),
        (lambda: DatasetConfig("x", sources=["web"]), "dataset.sources=web"),
        (lambda: DatasetConfig("x", missing="keep"), "dataset.missing=keep"),
        (lambda: DatasetConfig("x", sources=["generated"]), "dataset.generator"),
        (lambda: DatasetConfig("x", generator="waveform"), "dataset.generator"),
        (lambda: DatasetConfig("x", sources=["generated"], generator="y"), "dataset.generator=y"),
        (lambda: Study("x", [DatasetConfig("a")] * 2, []), r"datasets=\[a,a\]"),
    ],
)
def test_a_value_out_of_range_is_refused_by_its_field(make, field):
    with pytest.raises(ConfigError, match=f"^{field}:") as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_smallest_allowed_values_pass():
    ProtocolConfig(
        splits=1, scans=1, folds=2, neighbours=1, seed=0, bp_rate=0.0, pca=PcaConfig("train", 1, 1)
    )
    ExecutionConfig(n_jobs=-1, only=[0], time_limit=0.1)


def test_a_dataset_is_printed_by_its_name_unless_it_has_a_title():
    assert (DatasetConfig("x").title, DatasetConfig("x", title="The X").title) == ("x", "The X")


def test_folders_come_from_the_settings_then_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("MLOML_DATA", str(tmp_path))
    monkeypatch.setenv("MLOML_CACHE", str(tmp_path / "cache"))
    assert (DataSettings().folder(), DataSettings().cache_folder()) == (tmp_path, tmp_path / "cache")
    (tmp_path / "own").mkdir()
    own = str(tmp_path / "own")
    assert (DataSettings(dir=own).folder(), DataSettings(cache=own).cache_folder()) == (tmp_path / "own",) * 2
    monkeypatch.delenv("MLOML_DATA")
    assert DataSettings().folder() is None


def test_pairs_are_left_out_only_where_both_are_named():
    study = Study("x", [], [], leave_out=({"algorithms": ["moml"], "datasets": ["iris", "wine"]},))
    assert study.leaves_out("iris", "moml") and study.leaves_out("wine", "moml")
    assert not study.leaves_out("iris", "rdml") and not study.leaves_out("balance", "moml")
