"""Dask clusters and batch jobs, with workers that are killed."""

import os
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from mloml.config.compose import compose_study
from mloml.config.schema import ExecutionConfig
from mloml.errors import ConfigError, MlomlError
from mloml.experiments.backends import open_backend
from mloml.experiments.claims import STARTED, claim
from mloml.experiments.dask import DaskBackend, outcome_of
from mloml.experiments.slurm import SlurmBackend
from mloml.experiments.study import run_study
from mloml.experiments.store import Store

CELLS = [f"iris/{algorithm}/{split}" for algorithm in ("euclidean", "kissme") for split in range(3)]


@pytest.fixture
def cluster(lab, tmp_path):
    """A dask scheduler and two workers as processes of their own, as on a real cluster."""
    processes = []

    def start(*command):
        # A file, not a pipe, which a worker that outlives its nanny would hold open; for it the session.
        log = tmp_path / f"dask-{len(processes)}.log"
        with log.open("w") as output:
            python = [sys.executable, "-m", *command]
            processes.append(subprocess.Popen(python, stdout=output, stderr=output, start_new_session=True))
        return log

    log = start("distributed.cli.dask_scheduler", "--port=0", "--no-dashboard", "--host=127.0.0.1")
    lab.wait_until(lambda: re.search(r"Scheduler at:.*\n", log.read_text()))
    address = re.search(r"Scheduler at:\s+(tcp://\S+)", log.read_text())[1]
    for _ in range(2):
        start("distributed.cli.dask_worker", address, "--nthreads=1", "--no-dashboard")
    yield address
    for process in reversed(processes):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow
def test_a_dask_worker_killed_in_the_middle_costs_only_time(lab, cluster, assert_undisturbed):
    lab.plan({"iris/kissme/1": "gate"})
    run = lab.start('backend="dask"', f'address="{cluster}"')
    lab.wait_until(lambda: lab.runs("start")["iris/kissme/1"])
    os.kill(lab.workers()["iris/kissme/1"], signal.SIGKILL)
    lab.open_gate()
    code, output = lab.ended(run)
    assert code == 0, output
    assert lab.runs() == dict.fromkeys(CELLS, 1)
    assert_undisturbed()


@pytest.mark.slow
def test_dask_tells_failures_deaths_and_time_limits_apart(lab):
    run_study(lab.study(only=[2]))  # so that the time limit finds everything compiled
    faults = {"euclidean/0": "leave the generator", "euclidean/1": "kill", "kissme/1": "hold the lock"}
    lab.plan({f"iris/{cell}": fault for cell, fault in faults.items()} | {"iris/kissme/0": "leave a thread"})
    result = run_study(lab.study(backend="dask", time_limit=10.0))
    assert list(result.frame["status"]) == ["failed", "killed", "ok", "ok", "timeout", "ok"]
    assert lab.runs("start")["iris/euclidean/1"] == 2
    assert lab.runs("start")["iris/kissme/1"] == 1


@pytest.mark.slow
def test_a_batch_job_that_dies_is_submitted_again_with_what_is_left_of_it(lab):
    faults = ("leave a thread", "kill", "raise the unspeakable")
    lab.plan({f"iris/kissme/{split}": fault for split, fault in enumerate(faults)})
    result = run_study(lab.study(backend="slurm", cluster="local", algorithms=["kissme"]))
    assert list(result.frame["status"]) == ["ok", "killed", "failed"]
    assert lab.runs("start") == {"iris/kissme/0": 1, "iris/kissme/1": 2, "iris/kissme/2": 1}


class _Echo(DaskBackend):
    """Runs the real tasks' road with tasks that only give their own name back."""

    def _submit(self, job):
        return self._client.submit(str, job.cell.key, key=job.cell.key, pure=False)


@pytest.mark.slow
def test_a_task_whose_word_died_with_its_worker_is_waited_for_again(lab):
    backend = _Echo(n_jobs=1)
    jobs = [SimpleNamespace(cell=SimpleNamespace(key=name)) for name in ("first", "second")]
    outcomes = backend.run(jobs)
    try:
        told = {next(outcomes)}
        (other,) = {"first", "second"} - told
        state = backend._client.futures[other]
        lab.wait_until(lambda: state.status == "finished")  # and in the queue of those that ended
        (worker,) = backend._client.run(os.getpid).values()
        os.kill(worker, signal.SIGKILL)
        lab.wait_until(lambda: state.status != "finished")
        assert told | set(outcomes) == {"first", "second"}
    finally:
        backend.close()


class _Ended:
    """A task that had ended, until its worker died as it was asked: what follows is an error."""

    status = "finished"

    def __init__(self, error):
        self._error = error

    def result(self):
        raise self._error


def test_a_word_that_is_lost_as_it_is_asked_for_is_a_death_and_no_traceback(tmp_path):
    from distributed import CancelledError, KilledWorker

    cell = SimpleNamespace(key="0" * 64)
    job = SimpleNamespace(cell=cell, store=str(tmp_path), run="run", time_limit=None)
    death = _Ended(KilledWorker("task", "worker", 3))
    assert outcome_of(death, job) is None  # submitted again
    for _ in range(2):
        with claim(Store(tmp_path).claim_path(cell), "run") as held:
            held.note(STARTED)
    assert outcome_of(death, job).state == "killed"
    with pytest.raises(MlomlError, match="the dask scheduler is gone; what is stored is safe"):
        outcome_of(_Ended(CancelledError()), job)


def test_an_address_where_no_scheduler_answers_is_one_line(monkeypatch):
    monkeypatch.setattr("mloml.experiments.dask.ANSWER_SECONDS", 1)
    with pytest.raises(ConfigError, match=r"execution.address=tcp://127.0.0.1:1: no dask scheduler answers"):
        DaskBackend("tcp://127.0.0.1:1")


@pytest.mark.parametrize("address", ["ucx://127.0.0.1:1", "tls://127.0.0.1:1"])
def test_an_address_of_a_protocol_that_cannot_be_used_is_one_line(monkeypatch, address):
    monkeypatch.setattr("mloml.experiments.dask.ANSWER_SECONDS", 1)
    with pytest.raises(ConfigError, match=rf"execution.address={address}: cannot be used \(") as caught:
        DaskBackend(address)
    assert "\n" not in str(caught.value)


def test_a_scheduler_without_workers_is_waited_for_and_the_run_says_so():
    # A process of its own: dask's event loops of earlier tests may still be ending in this one.
    code = (
        "from distributed import LocalCluster; from mloml.experiments.dask import DaskBackend\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster:\n"
        "        backend = DaskBackend(cluster.scheduler_address)\n"
        "        print(backend.remark)\n"
        "        backend.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("the dask scheduler has no workers yet; waiting for some"), done.stderr


def test_a_cluster_started_here_takes_no_fixed_port():
    code = (
        "import socket; from mloml.experiments.dask import DaskBackend\n"
        "if __name__ == '__main__':\n"
        "    taken = socket.socket()\n"
        "    try: taken.bind(('', 8787)); taken.listen()\n"
        "    except OSError: pass  # somebody else has it, which is as good\n"
        "    DaskBackend(n_jobs=1).close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_machine_without_slurm_says_so(tmp_path):
    with pytest.raises(ConfigError, match=r"execution.slurm: .*slurm"):
        SlurmBackend(tmp_path, "slurm", {})


@pytest.mark.parametrize(("package", "extra"), [("distributed", "dask"), ("submitit", "slurm")])
def test_a_missing_extra_says_what_to_install(monkeypatch, tmp_path, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=rf"pip install 'mloml\[{extra}\]'"):
        open_backend(ExecutionConfig(backend=extra), tmp_path)


@pytest.mark.parametrize("name", ["local", "dask", "slurm"])
def test_every_execution_config_composes(name):
    overrides = ["datasets=[iris]", "algorithms=[euclidean]", f"execution={name}"]
    assert compose_study("table2", overrides).execution.backend == name
