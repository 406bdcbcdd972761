"""A laboratory for runs that go wrong: real worker processes, faults on demand, and counts of what ran."""

import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import psutil
import pytest

HERE = Path(__file__).parent
PATIENCE = 120
"""Seconds that a test waits before it says that something hangs; a busy machine may be slow."""


def load_driver():
    specification = importlib.util.spec_from_file_location("driver", HERE / "driver.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


class Lab:
    """Runs the small study here or in a process of its own, with faults in its workers."""

    cells = [f"{algorithm}/{split}" for algorithm in ("one", "two") for split in range(3)]

    def __init__(self, folder: Path, faults: Path):
        self.folder, self.faults = folder, faults
        self.results = folder / "results"
        self.driver = load_driver()
        for leftover in faults.iterdir():
            leftover.unlink()
        self.plan({})
        self._processes = []

    def plan(self, faults):
        (self.faults / "plan.json").write_text(json.dumps(faults))

    def open_gate(self):
        (self.faults / "open").touch()

    def study(self, **settings):
        return self.driver.small_study(self.results, **settings)

    def run(self, **settings):
        """Run to the end in this process, whose workers are warm; return the result."""
        return self.driver.run_study(self.study(**settings), publish=self.driver.draw_means)

    def start(self, *arguments, without_pgrep=False):
        """Start a run as a process and a group of its own."""

        def heed_ctrl_c():  # also where the tests are a shell's background job, which ignores it
            signal.signal(signal.SIGINT, signal.default_int_handler)

        command = [sys.executable, str(HERE / "driver.py"), str(self.results), *arguments]
        log = (self.folder / f"output-{len(self._processes)}.log").open("w+")
        path = {"PATH": str(Path(sys.executable).parent)} if without_pgrep else {}
        process = subprocess.Popen(
            command,
            env=os.environ | path,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=heed_ctrl_c,
        )
        self._processes.append((process, log))
        return process

    def ended(self, process):
        """Wait for a process of one's own; return its exit code and what was printed."""
        code = process.wait(timeout=PATIENCE)
        log = next(log for other, log in self._processes if other is process)
        log.seek(0)
        return code, log.read()

    def starts(self):
        """Count how often each cell was begun."""
        return Counter(line.split()[1] for line in self._log() if line.startswith("start"))

    def worker(self, cell):
        """Wait until a cell is computed; return the process that does."""
        self.wait_until(lambda: self.starts()[cell])
        return next(
            int(line.split()[2]) for line in reversed(self._log()) if line.startswith(f"start {cell} ")
        )

    def wait_until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "nothing happened"
            time.sleep(0.02)

    def stored(self):
        return sorted(self.results.glob("store/*/*/*.json"))

    def tidy_up(self):
        self.open_gate()
        for process, log in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            log.close()

    def _log(self):
        log = self.faults / "runs.log"
        return log.read_text().splitlines() if log.exists() else []


def is_alive(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def comparable(folder: Path) -> dict[str, bytes]:
    """Return the bytes of a run's files; of cells.csv all but the seconds, which no two runs share."""
    cells = pd.read_csv(io.StringIO((folder / "cells.csv").read_text()), dtype=str, keep_default_na=False)
    others = {name: (folder / name).read_bytes() for name in ("failures.csv", "means.csv")}
    return others | {"cells.csv": cells.drop(columns="seconds").to_csv(index=False).encode()}


@pytest.fixture(scope="session")
def faults(tmp_path_factory):
    """The folder through which tests reach workers; one for all, so that warm workers can be used again."""
    folder = tmp_path_factory.mktemp("faults")
    path = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        for name, value in {"FAULTS": str(folder), "PYTHONPATH": path, "MLOML_DATA": ""}.items():
            patch.setenv(name, value)
        yield folder


@pytest.fixture
def lab(tmp_path, faults):
    found = Lab(tmp_path, faults)
    yield found
    found.tidy_up()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory, faults):
    """The result files of the small study (three splits) when nothing goes wrong, ready to be compared."""
    lab = Lab(tmp_path_factory.mktemp("undisturbed"), faults)
    lab.run()
    return comparable(lab.results / "small")


@pytest.fixture
def assert_undisturbed(undisturbed, lab):
    """Assert that the files in the results folder are, byte for byte, those of an undisturbed run."""
    return lambda: [comparable(lab.results / "small")] == [undisturbed] or pytest.fail("other files")
