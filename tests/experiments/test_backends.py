"""Runs in real processes with real signals: killed, interrupted, held up; and two runs at once."""

import os
import signal
import threading
import time

import pytest
from tests.experiments.conftest import is_alive

from mloml.config.schema import ExecutionConfig
from mloml.experiments.backends import LocalBackend, open_backend

OTHERS = {"dask": {"backend": "dask"}, "slurm": {"backend": "slurm", "cluster": "local"}}


@pytest.mark.slow
def test_killing_the_main_process_loses_nothing_that_was_finished(lab, assert_undisturbed):
    lab.plan({"two/1": "gate"})  # the fourth to be computed
    process = lab.start("n_jobs=1")
    worker = lab.worker("two/1")
    process.kill()
    process.wait()
    assert len(lab.stored()) == 3
    lab.wait_until(lambda: not is_alive(worker))  # nobody goes on for a dead run
    lab.plan({})
    lab.run()
    assert lab.starts() == dict.fromkeys(lab.cells, 1) | {"two/1": 2}
    assert_undisturbed()


@pytest.mark.slow
def test_killing_a_worker_costs_only_time_also_without_pgrep(lab, assert_undisturbed):
    lab.plan({"one/0": "leave a thread", "two/1": "gate"})
    process = lab.start(without_pgrep=True)
    os.kill(lab.worker("two/1"), signal.SIGKILL)
    lab.open_gate()
    code, output = lab.ended(process)  # although a worker's thread would go on for an hour
    assert code == 0, output
    assert_undisturbed()


@pytest.mark.slow
@pytest.mark.parametrize(("times", "without_pgrep"), [(1, False), (100, True)])
def test_ctrl_c_ends_in_order_within_seconds_also_when_it_is_held(lab, times, without_pgrep):
    lab.plan({"two/1": "hold the lock"})  # the fourth to be computed
    process = lab.start("n_jobs=1", without_pgrep=without_pgrep)
    worker, start = lab.worker("two/1"), time.monotonic()
    for _ in range(times):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to everybody
            time.sleep(0.05)
    code, output = lab.ended(process)
    assert time.monotonic() - start < 60
    assert code == 130, output
    assert "3 of 6 cells are stored and safe; to go on: python" in output
    assert "Traceback" not in output and "Warning" not in output, output
    assert not is_alive(worker)
    assert '"state": "interrupted"' in (lab.results / "small" / "manifest.json").read_text()
    assert len(lab.stored()) == 3


def test_deaths_and_a_time_limit_that_holds_while_the_interpreter_is_locked_are_told_apart(lab):
    lab.plan({"one/0": "kill", "two/1": "hold the lock"})
    result = lab.run(time_limit=3.0)
    assert list(result.frame["status"]) == ["killed", "ok", "ok", "ok", "timeout", "ok"]
    assert lab.starts()["one/0"] == 2, "once beside others and once alone"
    failure = result.failures.set_index("status").loc["timeout"]
    assert failure["message"] == "took longer than 3 s"
    assert "faulty.py" in failure["traceback"], "where it was at that moment"


def test_workers_that_die_before_they_begin_are_given_up(lab, monkeypatch):
    import faulty

    monkeypatch.setattr("mloml.experiments.backends.compute", faulty.die)
    monkeypatch.setattr("mloml.experiments.backends.MOST_STARTS", 1)
    assert set(lab.run(only=[0]).failures["message"]) == {"its worker process died before the cell began"}


@pytest.mark.slow
def test_two_runs_share_the_work_and_one_takes_over_what_the_other_let_go_of(lab, assert_undisturbed, capfd):
    lab.plan({"one/0": "gate"})
    other = lab.start("n_jobs=1")
    lab.worker("one/0")

    def kill():
        lab.wait_until(lambda: len(lab.stored()) == 5)  # all but the one that the other run is at
        lab.plan({})
        other.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    lab.run()
    thread.join()
    assert "another run on this folder computes 1 of the cells; waiting for it" in capfd.readouterr().out
    assert lab.starts() == dict.fromkeys(lab.cells, 1) | {"one/0": 2}
    assert_undisturbed()


@pytest.mark.slow
@pytest.mark.parametrize("execution", OTHERS.values(), ids=OTHERS)
def test_every_backend_gives_the_same_tables_and_gives_up_the_same_cells(lab, execution, assert_undisturbed):
    lab.run(only=[1])
    damaged = lab.stored()[0]
    damaged.write_bytes(damaged.read_bytes()[:-9])
    lab.plan({"one/0": "kill", "two/0": "hold the lock", "two/2": "kill once"})
    result = lab.run(**execution, time_limit=3.0)
    assert list(result.frame["status"]) == ["killed", "ok", "ok", "timeout", "ok", "ok"]
    assert result.computed + result.reused == 4
    lab.plan({})
    lab.run()
    assert_undisturbed()


def test_the_config_chooses_the_backend(tmp_path):
    backend = open_backend(ExecutionConfig(n_jobs=3), print)
    assert isinstance(backend, LocalBackend) and backend.n_jobs == 3
