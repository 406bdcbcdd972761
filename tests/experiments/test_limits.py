"""Limits that hold whatever a learner does: time, the end of a run, and what one cell may cost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mloml.experiments.claims import claim, verdict
from mloml.experiments.job import plain_text

SLEEPER = """
import ctypes, sys
from pathlib import Path
from mloml.experiments.claims import STARTED, claim
from mloml.experiments.guard import GUARD, time_limit
with claim(Path(sys.argv[1]), "run") as held:
    held.note(STARTED)
    seconds, parent = (float(word) for word in sys.argv[2:])
    if parent:
        GUARD.end_with(int(parent))
    with time_limit(seconds or None, held):
        print("computing", flush=True)
        ctypes.PyDLL(None).sleep(3600)  # holds the interpreter's lock: no thread of this process runs
"""


def start_sleeper(path, seconds=0.0, parent=0):
    words = [sys.executable, "-c", SLEEPER, str(path), str(seconds), str(parent)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"computing\n"
    return process


def test_a_time_limit_holds_while_the_interpreter_is_locked(tmp_path):
    process = start_sleeper(tmp_path / "cell", seconds=0.3)
    assert process.wait(timeout=300) == -signal.SIGKILL
    assert verdict(tmp_path / "cell", "run") == "timeout"
    process.stdout.close()


def test_a_process_ends_with_its_parent_while_the_interpreter_is_locked(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    process = start_sleeper(tmp_path / "cell", parent=parent.pid)
    parent.kill()  # not waited for: a zombie is gone, too
    assert process.wait(timeout=300) == -signal.SIGKILL
    parent.wait()
    with claim(tmp_path / "cell", "run") as held:
        assert held is not None
    assert verdict(tmp_path / "cell", "run") is None, "one death, and no time limit"
    process.stdout.close()


def test_a_limit_that_is_off_again_kills_nobody(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from mloml.experiments.claims import claim\n"
        "from mloml.experiments.guard import GUARD, time_limit\n"
        "with claim(Path(sys.argv[1]), 'run') as held:\n"
        "    with time_limit(0.5, held): pass\n"
        "    time.sleep(1)\n"
        "    GUARD._process.kill(); GUARD._process.wait()\n"  # as the system may, when memory is short
        "    with time_limit(60, held): print(GUARD._process.poll())\n"
        "    held.remove()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "cell")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr


def test_a_child_that_a_learner_forks_does_not_hold_its_claim(tmp_path):
    code = (
        "import os, sys, time; from pathlib import Path; from mloml.experiments.claims import claim\n"
        "with claim(Path(sys.argv[1]), 'run'):\n"
        "    if os.fork(): os._exit(0)\n"
        "    print(os.getpid(), flush=True); time.sleep(3600)\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "cell")], stdout=subprocess.PIPE)
    child = int(worker.stdout.readline())
    worker.wait()
    with claim(tmp_path / "cell", "run") as held:
        assert held is not None
    os.kill(child, signal.SIGKILL)
    worker.stdout.close()


SLOW_END = """
import time
from mloml.experiments.ending import one_interruption
with one_interruption() as interruption:
    try:
        print("computing", flush=True)
        time.sleep(3600)
    except KeyboardInterrupt:
        interruption.noticed = True
        print("ending", flush=True)
        time.sleep(3600)
"""


def test_an_orderly_end_that_hangs_is_cut_short_by_a_second_ctrl_c():
    def heed():  # also where the tests are a shell's background job, which ignores Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)

    process = subprocess.Popen([sys.executable, "-c", SLOW_END], stdout=subprocess.PIPE, preexec_fn=heed)
    for line in (b"computing\n", b"ending\n"):
        assert process.stdout.readline() == line
        process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) == 130
    process.stdout.close()


@pytest.mark.slow
def test_a_learner_can_do_what_it_likes_and_costs_its_own_cell_only(lab):
    lab.plan(
        {
            "iris/euclidean/0": "leave the generator",
            "iris/euclidean/1": "raise the unspeakable",
            "iris/euclidean/2": "leave a thread",
            "iris/kissme/0": "interrupt",
        }
    )
    code, output = lab.finish("n_jobs=1")  # which ends although a worker's thread would go on for an hour
    assert code == 1, output
    assert "Traceback" not in output
    for line in (
        "failed: iris/euclidean, split 0: GeneratorExit: ",
        "failed: iris/euclidean, split 1: Unspeakable: (its text cannot be printed)",
        "failed: iris/kissme, split 0: KeyboardInterrupt: ",
    ):
        assert line in output
    assert len(lab.stored()) == 3


@pytest.mark.slow
def test_ctrl_c_five_times_in_a_row_ends_batch_jobs_of_this_machine_in_order(lab):
    lab.plan({"iris/kissme/1": "hold the lock"})
    process = lab.start('backend="slurm"', 'cluster="local"', own_group=True)
    lab.wait_until(lambda: lab.runs("start")["iris/kissme/1"])
    for _ in range(5):
        os.killpg(process.pid, signal.SIGINT)  # to everybody, as a terminal does
        time.sleep(0.05)
    code, output = lab.ended(process)
    assert code == 130, output
    assert "Traceback" not in output
    assert "cells are stored and safe; to go on: python" in output
    lab.wait_until(lambda: not any(is_alive(worker) for worker in lab.workers().values()))


def test_a_text_is_cut_and_made_printable():
    assert plain_text(lambda: "x" * 100, 10) == "xxxxx … xxxxx"
    assert plain_text(lambda: "one\ntwo\x00", 50, lines=True) == "one\ntwo?"


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_worker_that_ends_takes_the_process_beside_it_along_and_warns_of_nothing():
    code = (
        "import os; from mloml.experiments.guard import GUARD\n"
        "GUARD.end_with(os.getppid()); print(GUARD._process.pid)"
    )
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True)
    assert "ResourceWarning" not in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
