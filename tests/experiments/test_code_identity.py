"""Code that is edited while a process that imported it goes on: it refuses to compute, and says "restart"."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import mloml
from mloml.config.paths import conf_dir

HERE = Path(__file__).parent


class Checkout:
    """A copy of the package that can be edited, and processes that import it."""

    def __init__(self, root, lab):
        self.root, self.lab = root, lab
        package = Path(mloml.__file__).parent
        shutil.copytree(package, root / "src" / "mloml", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(conf_dir(), root / "conf")
        path = os.pathsep.join([str(root / "src"), os.environ["PYTHONPATH"]])
        self.environment = os.environ | {"PYTHONPATH": path}
        self.processes = []

    def start(self, *words):
        log = self.root / f"{len(self.processes)}.log"
        with log.open("w") as output:
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, *map(str, words)],
                    stdout=output,
                    stderr=output,
                    env=self.environment,
                    cwd=self.root,
                    start_new_session=True,
                )
            )
        return self.processes[-1], log

    def finish(self, process, log):
        process.wait(timeout=600)
        return process.returncode, log.read_text()

    def edit(self, module, text):
        with (self.root / "src" / "mloml" / module).open("a") as file:
            file.write(text)

    def end_all(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def checkout(tmp_path, lab):
    found = Checkout(tmp_path, lab)
    yield found
    found.end_all()


@pytest.mark.slow
def test_a_dask_worker_that_outlived_an_edit_refuses(checkout, lab):
    _, log = checkout.start(
        "-m", "distributed.cli.dask_scheduler", "--port=0", "--no-dashboard", "--host=127.0.0.1"
    )
    lab.wait_until(lambda: re.search(r"Scheduler at:.*\n", log.read_text()))
    address = re.search(r"Scheduler at:\s+(tcp://\S+)", log.read_text())[1]
    words = ("--nthreads=1", "--no-nanny", "--no-dashboard", "--preload=mloml.experiments.dask")
    _, worker = checkout.start("-m", "distributed.cli.dask_worker", address, *words)
    lab.wait_until(lambda: "Registered to" in worker.read_text())

    checkout.edit("evaluation/preprocessing.py", "\nCHANGED = True\n")
    run = checkout.start(HERE / "driver.py", lab.results, 1, 'backend="dask"', f'address="{address}"')
    code, output = checkout.finish(*run)
    assert code == 1, output
    assert "the code of mloml.experiments.preprocessing was changed after this process imported it" in output
    assert "restart" in output
    assert not lab.stored()
    assert not lab.runs("start")


@pytest.mark.slow
def test_a_sweep_edited_during_its_first_job_refuses_the_second(checkout, lab):
    lab.plan({"iris/euclidean/0": "gate"})
    settings = ("dataset=iris", "algorithm=euclidean", "protocol.splits=1", "protocol.folds=3,4")
    places = (f"execution.results={lab.results}", "execution.n_jobs=1", "data.offline=true")
    sweep = checkout.start("-m", "mloml.cli", "-m", *settings, *places)
    lab.wait_until(lambda: lab.runs("start"))

    checkout.edit("evaluation/knn.py", "\nCHANGED = True\n")
    lab.open_gate()
    code, output = checkout.finish(*sweep)
    assert code == 1, output
    assert "the code of mloml.experiments.knn was changed after this process imported it" in output
    assert "restart" in output
    assert len(lab.stored()) == 1  # of the first job, whose code was all imported before the edit
    assert lab.runs() == {"iris/euclidean/0": 1}
