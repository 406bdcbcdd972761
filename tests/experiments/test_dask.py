"""Dask clusters: addresses that cannot be used, workers that come later, words that are lost."""

import os
import signal
from types import SimpleNamespace

import pytest

from mloml.errors import ConfigError, MlomlError
from mloml.experiments.backends import DaskBackend, outcome_of
from mloml.experiments.job import Job
from mloml.experiments.store import Store


class Echo(DaskBackend):
    """Runs the real tasks' road with tasks that only give their own name back."""

    def _submit(self, job):
        return self._client.submit(str, job.cell.key, key=job.cell.key, pure=False)


def test_a_scheduler_without_workers_is_waited_for_and_the_run_says_so(capsys):
    from distributed import LocalCluster

    with LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster:
        backend = DaskBackend(cluster.scheduler_address)
        assert "the dask scheduler has no workers yet" in capsys.readouterr().out
        backend.close()


@pytest.mark.slow
def test_a_task_whose_word_died_with_its_worker_is_waited_for_again(lab):
    backend = Echo(n_jobs=1)
    jobs = [SimpleNamespace(cell=SimpleNamespace(key=name)) for name in ("first", "second")]
    outcomes = backend.run(jobs)
    told = {next(outcomes)}
    (other,) = {"first", "second"} - told
    state = backend._client.futures[other]
    lab.wait_until(lambda: state.status == "finished")  # and in the queue of those that ended
    (worker,) = backend._client.run(os.getpid).values()
    os.kill(worker, signal.SIGKILL)
    lab.wait_until(lambda: state.status != "finished")
    assert told | set(outcomes) == {"first", "second"}
    backend.close()


def test_a_word_that_is_lost_as_it_is_asked_for_is_a_death_and_no_traceback(tmp_path):
    from distributed import CancelledError, KilledWorker

    def ended(error):
        def result():
            raise error

        return SimpleNamespace(result=result)

    cell = SimpleNamespace(key="0" * 64)
    job = Job(cell, None, None, str(tmp_path), "run")
    death = ended(KilledWorker("task", "worker", 3))
    assert "before the cell began" in outcome_of(death, job).message
    note = Store(tmp_path).claim(cell, "note")
    note.parent.mkdir()
    note.write_text("run\nrun\n")
    assert "died twice" in outcome_of(death, job).message
    with pytest.raises(MlomlError, match="the dask scheduler is gone; what is stored is safe"):
        outcome_of(ended(CancelledError()), job)


@pytest.mark.parametrize("protocol", ["tcp", "ucx", "tls"])
def test_an_address_that_cannot_be_used_is_one_line(monkeypatch, protocol):
    monkeypatch.setattr("mloml.experiments.backends.ANSWER_SECONDS", 1)
    with pytest.raises(ConfigError, match=rf"^execution.address={protocol}://127.0.0.1:1: .+$"):
        DaskBackend(f"{protocol}://127.0.0.1:1")


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ConfigError, match=r"pip install 'mloml\[dask\]'"):
        DaskBackend()
