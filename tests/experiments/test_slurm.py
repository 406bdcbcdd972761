"""Batch jobs: what submitit needs, and jobs that end early or late."""

import os
import signal
import sys

import pytest
from tests.experiments.conftest import is_alive

from mloml.errors import ConfigError
from mloml.experiments.backends import SlurmBackend


def test_what_is_missing_or_misspelt_is_one_line(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match=r"execution.slurm: .*slurm"):
        SlurmBackend(tmp_path, "slurm", {})
    with pytest.raises(ConfigError, match=r"^execution.slurm: .*invented"):
        SlurmBackend(tmp_path, "local", {"invented": 1, "slurm_partition": None})
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(ConfigError, match=r"pip install 'mloml\[slurm\]'"):
        SlurmBackend(tmp_path)


@pytest.mark.slow
def test_ctrl_c_cancels_the_jobs_of_this_machine(lab):
    lab.plan({"two/1": "hold the lock"})
    process = lab.start('backend="slurm"', 'cluster="local"', 'algorithms=["two"]')
    worker = lab.worker("two/1")
    os.killpg(process.pid, signal.SIGINT)
    code, output = lab.ended(process)
    assert code == 130, output
    assert "1 of 3 cells are stored and safe; to go on: python" in output and "Traceback" not in output
    lab.wait_until(lambda: not is_alive(worker))
