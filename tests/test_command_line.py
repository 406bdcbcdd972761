"""Command lines: sorted, shown again, and made for one cell."""

import pytest

from mloml.command_line import Command, Words
from mloml.config import repository
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
