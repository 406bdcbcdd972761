"""Runs that are killed and interrupted, with real processes and real signals; and two runs at once."""

import os
import signal
import time
from pathlib import Path

import pytest

CELLS = [f"iris/{algorithm}/{split}" for algorithm in ("euclidean", "kissme") for split in range(3)]


@pytest.mark.slow
def test_killing_the_main_process_again_and_again_loses_nothing_that_was_finished(lab, assert_undisturbed):
    moments = ["iris/euclidean/0", "iris/euclidean/2", "iris/kissme/2"]
    for held in moments:
        lab.plan({held: "hold the lock"})  # no thread of the worker could notice anything
        process = lab.start("n_jobs=1")
        lab.wait_until(lambda held=held: lab.runs("start")[held])
        process.kill()
        process.wait()
        assert len(lab.stored()) == len(lab.runs())
        worker = lab.workers()[held]
        lab.wait_until(lambda worker=worker: not is_alive(worker))  # nobody goes on for a dead run

    lab.plan({})
    lab.run()
    assert lab.runs() == dict.fromkeys(CELLS, 1)
    assert lab.runs("start") == dict.fromkeys(CELLS, 1) | dict.fromkeys(moments, 2)
    assert_undisturbed()


@pytest.mark.slow
def test_killing_a_worker_costs_only_time(lab, assert_undisturbed):
    lab.plan({"iris/kissme/0": "gate"})
    process = lab.start()
    lab.wait_until(lambda: lab.runs("start")["iris/kissme/0"])
    os.kill(lab.workers()["iris/kissme/0"], signal.SIGKILL)
    lab.open_gate()
    code, output = lab.ended(process)
    assert code == 0, output
    assert lab.runs() == dict.fromkeys(CELLS, 1)
    assert_undisturbed()


@pytest.mark.slow
def test_ctrl_c_does_not_wait_for_running_cells_and_prints_the_command_that_goes_on(lab, assert_undisturbed):
    lab.plan({"iris/kissme/1": "hold the lock"})  # the fourth to be computed
    process = lab.start("n_jobs=1", own_group=True)
    lab.wait_until(lambda: lab.runs("start")["iris/kissme/1"])
    for _ in range(5):  # as somebody impatient does; a terminal sends it to everybody
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.02)
    code, output = lab.ended(process)
    assert code == 130, output
    assert "interrupted: 3 of 6 cells are stored and safe; to go on: python" in output
    assert "Traceback" not in output
    assert not any(is_alive(worker) for worker in lab.workers().values())
    assert '"state": "interrupted"' in (lab.results / "small" / "manifest.json").read_text()

    lab.plan({})
    lab.run()
    assert lab.runs() == dict.fromkeys(CELLS, 1)
    assert_undisturbed()


@pytest.mark.slow
def test_two_runs_at_once_share_the_work(lab, assert_undisturbed):
    lab.plan({"iris/euclidean": "gate"})
    first = lab.start("n_jobs=1")
    lab.wait_until(lambda: lab.runs("start")["iris/euclidean/0"])
    second = lab.start("n_jobs=1")
    lab.wait_until(lambda: lab.runs("start")["iris/euclidean/1"])
    lab.open_gate()
    for process in (first, second):
        code, output = lab.ended(process)
        assert code == 0, output
    assert lab.runs("start") == dict.fromkeys(CELLS, 1)
    assert_undisturbed()


@pytest.mark.slow
def test_a_run_takes_over_what_another_one_let_go_of(lab, assert_undisturbed):
    lab.plan({"iris/euclidean/0": "gate"})
    first = lab.start("n_jobs=1")
    lab.wait_until(lambda: lab.runs("start")["iris/euclidean/0"])
    second = lab.start("n_jobs=1")
    lab.wait_until(lambda: len(lab.stored()) == 5)  # all but the one the first run is at
    first.kill()
    lab.open_gate()
    code, output = lab.ended(second)
    assert code == 0, output
    assert set(lab.runs()) == set(CELLS)
    assert_undisturbed()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    return state != "Z"
