"""Folders named after settings: the same settings find theirs again, others never share one."""

import pytest

from mloml.config.compose import compose_run
from mloml.config.overrides import own_name


def folder(*overrides):
    return compose_run(["dataset=iris", "algorithm=moml", *overrides]).folder.as_posix()


def test_the_usual_settings_have_the_plain_folder_however_they_are_typed():
    plain = "results/runs/iris/moml"
    for words in (
        [],
        ["protocol=paper"],
        ["protocol.splits=30"],
        ["execution.n_jobs=1"],
        ["data.offline=true"],
    ):
        assert folder(*words) == plain
    assert folder("hydra.run.dir=mine", "protocol.splits=2") == "mine"  # somebody wants it there


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["algorithm.gamma=0.1"], ["algorithm.gamma=0.001"]),
        (["protocol=lite"], ["protocol=lite", "protocol.splits=4"]),
        (["algorithm.gamma=0.1"], ["algorithm.gamma=0.1", "record=[scans]"]),
        (["data.source=uci"], ["protocol=clean"]),
    ],
)
def test_other_settings_have_a_folder_of_their_own(first, second):
    names = {folder(), folder(*first), folder(*second)}
    assert len(names) == 3 and all(name.startswith("results/runs/iris/moml") for name in names)
    assert folder(*reversed(first)) == folder(*first, "execution.n_jobs=3")


def test_a_run_on_a_file_is_named_after_it_and_files_of_one_name_do_not_meet():
    words = [
        ["dataset=csv", f"dataset.path={path}", "algorithm=moml"] for path in ("a/mine.csv", "b/mine.csv")
    ]
    one, other = (compose_run(word).folder for word in words)
    assert one.parent.as_posix() == other.parent.as_posix() == "results/runs/mine" and one != other
    named = compose_run([*words[0], "dataset.name=yours"])
    assert named.study.datasets[0].name == named.folder.parent.name == "yours"


def test_a_name_is_short_and_has_no_sign_that_means_something_to_a_shell():
    name = own_name([f"datasets=[{','.join(['iris'] * 30)}]", "+algorithm.x={a: 'b c'}"], {})
    assert name.startswith("algorithm.x-a_b_c-datasets-iris_iris") and len(name) <= 90
    assert {*name.split("-")[3].split("_")} == {"iris"}  # whole words
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert own_name(["execution.n_jobs=1"], {}) == own_name([], {}) != own_name([], {"a": 1})
